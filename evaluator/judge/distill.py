"""From a ledger to training data for a smaller judge: each answered call is one row, split by clip, media included.

    evaluator distill export judge.jsonl --out rows        rows/{train,held_out}.jsonl, rows/media/, rows/meta.json
    evaluator distill agree teacher.jsonl student.jsonl --rows rows/held_out.jsonl

A row is `{id, task, item, split, labels, prompt, media, completion, teacher}`. `prompt` and `completion` are chats as
TRL reads them; each {"type": "image"} in the prompt is the next entry of `media`. `teacher.p` is P(label) where the
question was scored by labels: enough for a loss on the distribution without asking the teacher again, and absent for
JSON answers. Only answers that are ok become rows. Rows with sound are left out and counted: a student that sees but
does not hear cannot learn from them.

Frames become pictures, each after its time as text, because trainers have no column for frames with times. A student
that is trained like this is served best with the same text in the same places.

The recipe (extra `evaluator[distill]`: trl, datasets, peft, accelerate, beside a torch and a transformers that fit the
machine; `evaluator.judge.distill_train` holds it as a program, and a slow test runs it on a tiny model):

1. Judge a few thousand clips with the teacher; `verify` the ledger; `export`. Look at `meta.json`: a task with one
   answer for nearly everything teaches that answer.
2. Supervised: `trl.SFTTrainer` on prompt + completion with `completion_only_loss`, 1 to 2 epochs. For 8B: LoRA rank 32
   on the language model, vision tower frozen, learning rate 1e-4.
3. On-policy: `trl.DistillationTrainer` on prompt + media with the teacher at hand, `beta` 1 (reverse KL: the student's
   own samples, scored by the teacher), at most 8 new tokens for label tasks. A teacher that gives no probabilities
   ends with step 2.
4. Serve the student in the engine that will serve it later: a checkpoint that one engine writes is not always one that
   another reads. `evaluator judge check` first, then judge the same clips, then `agree` on the held-out rows.
5. Accept a task when kappa with the teacher is at least 0.8 and accuracy against people is within 2 points of the
   teacher's. These bounds are ours, not published ones.

Knows ledgers and rows; trains nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from evaluator.errors import LedgerError, OutputError, UsageError
from evaluator.judge.blobs import Blobs
from evaluator.judge.clips import Clips, held_out
from evaluator.judge.distill_rows import HELD_OUT, TRAIN, row
from evaluator.judge.keys import blob_digests
from evaluator.judge.ledger import MEDIA, Ledger, read_records
from evaluator.judge.record import Call
from evaluator.judge.types import Status
from evaluator.judge.verdict import verdict

SHARE = 0.2
"""Of the clips that are held out by default."""


@dataclass(slots=True)
class Export:
    """What was written: rows and clips per split, how often each answer was given per task, what was left out."""

    rows: Counter[str] = field(default_factory=Counter)
    clips: dict[str, int] = field(default_factory=dict)
    verdicts: defaultdict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    left_out: Counter[str] = field(default_factory=Counter)
    teachers: list[str] = field(default_factory=list)
    trained: bool = True  # False if any answer is from the wiring fixture: it teaches nothing


def export(ledgers: Sequence[Path], out: Path, share: float = SHARE, min_mass: float = 0.0) -> Export:
    """Write the rows of all answered calls, in an order that does not depend on which answer came first.

    Each ledger is read line by line; memory holds digests. `share` of the clips is held out. Label answers with less
    mass than `min_mass` are left out. Raises LedgerError for a damaged ledger or a missing picture, UsageError if one
    side would be empty, OutputError.
    """
    found, groups = Export(), defaultdict[str, set[str]](set)
    clips, places = _survey(ledgers, found)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            files = {split: stack.enter_context(_part(out, split).open("wb")) for split in (TRAIN, HELD_OUT)}
            opened = {path: stack.enter_context(Ledger(path, writable=False)) for path in ledgers}
            for _, key, path in sorted(places.values()):
                call = opened[path].find(key)
                if call is None:
                    raise LedgerError(f"{path}: the file was changed while it was read")
                if why := _left_out(call, min_mass):
                    found.left_out[why] += 1
                    continue
                group = clips.group(call.item)
                split = HELD_OUT if held_out(group, share) else TRAIN
                files[split].write(orjson.dumps(row(call, call.answer, split), option=orjson.OPT_APPEND_NEWLINE))
                _copy_media(call, opened[path].blobs, Blobs(out / MEDIA))
                groups[split].add(group)
                _tally(found, call, split)
        found.clips = {split: len(names) for split, names in sorted(groups.items())}
        _finish(out, found)
    except OSError as error:
        raise OutputError(f"{out}: cannot be written ({error.strerror})") from error
    return found


def _survey(ledgers: Sequence[Path], found: Export) -> tuple[Clips, dict[str, tuple[str, str, Path]]]:
    """Which calls are about the same clip; and, by key, (question, key, ledger) of the last call that was answered."""
    clips, places = Clips(), dict[str, tuple[str, str, Path]]()
    for path in ledgers:
        for record in read_records(path):
            if isinstance(record, Call) and record.answer.status is Status.OK:
                clips.add(record.item, (digest for digest, _ in blob_digests(record.request)))
                found.left_out["asked again later"] += record.keys.key in places
                places[record.keys.key] = (record.keys.question, record.keys.key, path)
    found.left_out += Counter()  # drops zeros
    return clips, places


def _left_out(call: Call, min_mass: float) -> str:
    """Why a call is no row; empty if it is one."""
    if any(mime.startswith("audio/") for _, mime in blob_digests(call.request)):
        return "sound"
    if call.answer.label_mass is not None and call.answer.label_mass < min_mass:
        return "label mass"
    return ""


def _copy_media(call: Call, source: Blobs, target: Blobs) -> None:
    for digest, _ in blob_digests(call.request):
        if not target.path(digest).exists():
            target.put(digest, source.get(digest))


def _tally(found: Export, call: Call, split: str) -> None:
    found.rows[split] += 1
    found.verdicts[call.task][verdict(call.request["answer_schema"], call.answer)] += 1
    found.trained &= call.judge.trained
    teacher = f"{call.judge.engine}, weights {call.judge.model_sha256 or 'unknown'}"
    if teacher not in found.teachers:
        found.teachers.append(teacher)


def _part(out: Path, split: str) -> Path:
    return out / f".{split}.jsonl.part"


def _finish(out: Path, found: Export) -> None:
    """Put whole files in place, or nothing."""
    if empty := [split for split in (TRAIN, HELD_OUT) if not found.rows[split]]:
        for split in (TRAIN, HELD_OUT):
            _part(out, split).unlink()
        clips = sum(found.clips.values())
        raise UsageError(
            f"no rows for {' and '.join(empty)}: {clips} clips were answered; judge more, or split otherwise"
        )
    for split in (TRAIN, HELD_OUT):
        _part(out, split).replace(out / f"{split}.jsonl")
    (out / "meta.json").write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def read_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """The rows of a file that `export` wrote. Raises UsageError for a file of another form."""
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                tree = orjson.loads(line)
                if not isinstance(tree, dict) or "id" not in tree:
                    raise UsageError(f"{path}:{number}: not a row that export wrote")
                yield tree
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: cannot be read as rows ({error})") from error
