"""How fast the metric core is: measured on this machine, against its limits and against the usual flow.

    clips       the fixed synthetic set, made once and cached
    workload    which clips go into which manifest
    process     one child process and what it cost
    machine     what ran, and the machine's measured peak
    decoders    what decoding alone costs, per decoder
    sessions    what the networks alone cost, on ready tensors
    core        one run of the whole suite, taken apart: S1, S2, S3, S7
    starts      start and resume: S6, S8
    scale       parallel use, memory, identity: S5, S9, S10
    rival, race the usual flow (one process per metric and case), and ours against it: S4
    board       the figures with their targets
    against     two boards compared, by ratios only
    render      the board for people
    bench       the order of it all

Every figure of the board is a ratio or a count, taken in CPU time: a busy machine makes it noisier, not another figure.
Knows the runner; knows no metric's arithmetic.
"""
