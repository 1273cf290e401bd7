"""A judge answers questions about evidence that we sampled. It is untrusted, and so are clips, captions, transcripts.

    types      Question, Part, Answer, Status: the whole vocabulary
    prompts    our own wording, one file per purpose, each with a digest
    render     the chat that a question becomes; hostile text is delimited, never interpolated
    labels     one-token label scoring: probabilities, label mass, margin, near ties
    parse      what a reply means, strictly (answer_schema checks JSON); verdict is what it decided
    keys       which requests are the same
    ledger     every call, content-addressed and hash-chained, of record and blobs; audit looks back, join joins
    session    many questions, answered in order: live, from the ledger, or by replay without a socket
    rejudge    a second look at the grades of several systems, for clear slips only
    route      which endpoint hears and sees what a question needs, or which substitute evidence is allowed
    evidence   frames with times, stills, strips, mel pictures, transcripts, facts: bytes with digests
    client     HTTP to a loopback address or a unix socket, of address, transport, exchange and dialect
    retry      when to ask again and when to give up: seeded jitter, circuit breaker
    handshake  refuses a server that ignores constraints (probes) or answers differently twice (selfcheck)
    launch     vLLM's command line; serve and server start it and stop it with its whole process group
    local      the same answers from transformers in this process
    distill    ledger -> training rows (distill_rows) split by clips; distill_agree and distill_train: the student

Knows schema, media types and errors; never metrics or suites.
"""
