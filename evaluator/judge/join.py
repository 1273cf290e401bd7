"""Join the ledgers of shards: one chain with all their calls, one media folder. Knows ledgers only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluator.judge.blobs import Blobs
from evaluator.judge.keys import blob_digests
from evaluator.judge.ledger import MEDIA, Ledger, read_records
from evaluator.judge.record import Call, Record


def join(parts: Sequence[Path], whole: Path) -> int:
    """Append all records of `parts`, in their order, to the ledger `whole`; returns how many.

    Records keep what they say and get a new place in the chain. Media that a part did not keep are not kept. Raises
    LedgerError for a damaged part (everything before the damage has been taken), OutputError.
    """
    count = 0
    with Ledger(whole) as ledger:
        for part in parts:
            for record in read_records(part):
                ledger.append(record, _media(record, Blobs(part.parent / MEDIA)))
                count += 1
    return count


def _media(record: Record, blobs: Blobs) -> Iterator[tuple[str, bytes]]:
    if isinstance(record, Call):
        for digest, _ in blob_digests(record.request):
            if blobs.path(digest).is_file():
                yield digest, blobs.get(digest)
