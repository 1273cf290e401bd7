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

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from evaluator.errors import OutputError, UsageError
from evaluator.judge.blobs import Blobs
from evaluator.judge.clips import Clips, held_out
from evaluator.judge.keys import blob_digests
from evaluator.judge.ledger import MEDIA, read_records
from evaluator.judge.record import Call
from evaluator.judge.types import Answer, Status

SPLITS = ("train", "held_out")
HELD_OUT = 0.2


@dataclass(frozen=True, slots=True)
class Export:
    """What was written. `verdicts` are counts per task and answer; `left_out` counts calls by the reason."""

    rows: Mapping[str, int]
    clips: Mapping[str, int]
    verdicts: Mapping[str, Mapping[str, int]]
    left_out: Mapping[str, int]
    teachers: tuple[str, ...]  # engine and weights
    trained: bool  # False if any answer is from the wiring fixture: it teaches nothing


def export(ledgers: Sequence[Path], out: Path, share: float = HELD_OUT, min_mass: float = 0.0) -> Export:
    """Write the rows of all answered calls. Reads each ledger twice, one line at a time.

    `share` of the clips is held out. Calls whose label mass is below `min_mass` are left out. Raises LedgerError for a
    damaged ledger or a missing picture, UsageError if there is nothing to export or one side would be empty.
    """
    clips, last = _survey(ledgers)
    tally = _Tally()
    try:
        out.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            files = {split: stack.enter_context((out / f".{split}.part").open("wb")) for split in SPLITS}
            for source, call, answer in _answered(ledgers):
                if last[call.keys.key] != (source, call.time):
                    continue
                if why := _left_out(call, answer, min_mass):
                    tally.left_out[why] += 1
                    continue
                group = clips.group(call.item)
                split = SPLITS[held_out(group, share)]
                files[split].write(orjson.dumps(_row(call, answer, split), option=orjson.OPT_APPEND_NEWLINE))
                _copy_media(call, Blobs(source.parent / MEDIA), Blobs(out / MEDIA))
                tally.add(call, answer, split, group)
        found = tally.export()
        for split in SPLITS:
            (out / f".{split}.part").replace(out / f"{split}.jsonl")
        (out / "meta.json").write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    except OSError as error:
        raise OutputError(f"{out}: cannot be written ({error.strerror})") from error
    return found
