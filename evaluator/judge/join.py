"""Join the ledgers of shards: one chain with all their calls, one media folder. Knows ledgers only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluator.judge.blobs import Blobs
from evaluator.judge.keys import blob_digests
from evaluator.judge.ledger import MEDIA, Ledger, read_records
from evaluator.judge.record import Call, Opening, Record
from evaluator.judge.route import common_first
from evaluator.judge.types import JudgeIdentity


def join(parts: Sequence[Path], whole: Path) -> int:
    """Append all records of `parts`, in their order, to the ledger `whole`; returns how many.

    Records keep what they say and get a new place in the chain. Media that a part did not keep are not kept. Where the
    parts ended with different judges (a shard may need fewer), one more opening names them all, for a replay.
    Raises LedgerError for a damaged part (everything before the damage has been taken), OutputError.
    """
    count, opened = 0, ""
    judges: dict[str, JudgeIdentity] = {}
    with Ledger(whole) as ledger:
        for part in parts:
            last: Opening | None = None
            for record in read_records(part):
                ledger.append(record, _media(record, Blobs(part.parent / MEDIA)))
                count += 1
                last = record if isinstance(record, Opening) else last
            if last is not None:
                judges.update(last.judges)
                opened = last.time
        if judges != ledger.judges:
            ledger.append(Opening(common_first(judges), opened))
            count += 1
    return count


def _media(record: Record, blobs: Blobs) -> Iterator[tuple[str, bytes]]:
    if isinstance(record, Call):
        for digest, _ in blob_digests(record.request):
            if blobs.path(digest).is_file():
                yield digest, blobs.get(digest)
