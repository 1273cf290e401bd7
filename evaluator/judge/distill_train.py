"""Train a student on exported rows: supervised first, then on its own answers as the teacher grades them.

    python -m evaluator.judge.distill_train supervised ROWS STUDENT OUT
    python -m evaluator.judge.distill_train on-policy ROWS STUDENT OUT --teacher TEACHER

ROWS is a folder that `evaluator distill export` wrote, STUDENT and TEACHER are model directories, OUT receives a
checkpoint. Needs the extra `evaluator[distill]`, and torch with transformers for the machine at hand; nothing is
fetched. A recipe, not a service: it shows the settings that matter and leaves schedules and clusters to the trainer's
own documentation. Sources: GKD (Agarwal et al. 2024) for on-policy distillation, LoRA (Hu et al. 2021).
Knows rows and TRL; no torch of its own.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.errors import PrerequisiteError
from evaluator.judge.distill import read_rows
from evaluator.judge.local_engine import libraries

LANGUAGE = r".*language_model.*\.(q|k|v|o|gate|up|down)_proj"
"""Where LoRA sits: attention and MLP of the language model. The vision tower stays as it is."""


WARM_UP = 0.1
"""Share of the steps in which the rate rises to its value; then it falls linearly."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is given. The defaults are for 8B on one GPU with 80 GB; `rank` 0 trains all weights."""

    epochs: float = 1.0
    steps: int = -1  # at most this many, if positive
    batch: int = 8
    rate: float = 1e-4
    rank: int = 32
    new_tokens: int = 8  # of a student's own answer; enough for labels
    dtype: str = "bfloat16"
    cpu: bool = False
    seed: int = 0


def supervised(rows: Path, student: Path, out: Path, settings: Settings) -> None:
    """Learn to write the teacher's answers. Loss on the answer alone. Raises PrerequisiteError without the extra."""
    libraries()
    trl = _library("trl")
    config = trl.SFTConfig(
        **_common(out, settings),
        completion_only_loss=True,
        max_length=None,  # a cut would go through the pictures
        model_init_kwargs={"dtype": settings.dtype},
    )
    trainer = trl.SFTTrainer(
        model=str(student), args=config, train_dataset=_dataset(rows), peft_config=_adapter(settings)
    )
    _train(trainer, out)


def on_policy(rows: Path, student: Path, teacher: Path, out: Path, settings: Settings) -> None:
    """Answer, and move towards what the teacher would have said at each token (reverse KL, `beta` 1)."""
    libraries()
    trl = _library("trl")
    config = trl.DistillationConfig(
        **_common(out, settings),
        max_completion_length=settings.new_tokens,
        beta=1.0,
        temperature=1.0,
        model_init_kwargs={"dtype": settings.dtype},
        teacher_model_init_kwargs={"dtype": settings.dtype},
    )
    trainer = trl.DistillationTrainer(
        model=str(student),
        teacher_model=str(teacher),
        args=config,
        train_dataset=_dataset(rows).remove_columns("completion"),
        peft_config=_adapter(settings),
    )
    _train(trainer, out)


def _common(out: Path, settings: Settings) -> dict[str, Any]:
    return {
        "output_dir": str(out / "trainer"),
        "num_train_epochs": settings.epochs,
        "max_steps": settings.steps,
        "per_device_train_batch_size": settings.batch,
        "learning_rate": settings.rate,
        "warmup_steps": WARM_UP,
        "seed": settings.seed,
        "use_cpu": settings.cpu,
        "bf16": settings.dtype == "bfloat16" and not settings.cpu,
        "gradient_checkpointing": not settings.cpu,
        "save_strategy": "no",
        "report_to": [],
    }


def _dataset(rows: Path) -> Any:
    """Columns `prompt`, `completion` (chats) and `images` (read when needed) of the training rows."""
    datasets = _library("datasets")
    entries = [
        {
            "prompt": row["prompt"],
            "completion": row["completion"],
            "images": [str(rows / entry["path"]) for entry in row["media"]],
        }
        for row in read_rows(rows / "train.jsonl")
    ]
    return datasets.Dataset.from_list(entries).cast_column("images", datasets.List(datasets.Image()))


def _adapter(settings: Settings) -> Any:
    if not settings.rank:
        return None
    return _library("peft").LoraConfig(r=settings.rank, lora_alpha=2 * settings.rank, target_modules=LANGUAGE)


def _train(trainer: Any, out: Path) -> None:
    """Train and write one checkpoint that a server can load: adapters are merged."""
    trainer.train()
    model = trainer.accelerator.unwrap_model(trainer.model)
    if hasattr(model, "merge_and_unload"):
        model = model.merge_and_unload()
    model.save_pretrained(out)
    trainer.processing_class.save_pretrained(out)


def _library(name: str) -> Any:
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise PrerequisiteError(f"{name} cannot be imported ({error}); install the extra evaluator[distill]") from error


def main(arguments: Sequence[str] | None = None) -> None:
    """The two steps as a program."""
    parser = argparse.ArgumentParser(prog="python -m evaluator.judge.distill_train", description=(__doc__ or "")[:106])
    parser.add_argument("step", choices=["supervised", "on-policy"])
    for name in ("rows", "student", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--teacher", type=Path, help="needed for on-policy")
    for name in ("epochs", "steps", "batch", "rate", "rank", "new_tokens", "dtype", "seed"):
        default = getattr(Settings(), name)
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(default), default=default)
    parser.add_argument("--cpu", action="store_true")
    given = vars(parser.parse_args(arguments))
    step, rows, student, out, teacher = (given.pop(name) for name in ("step", "rows", "student", "out", "teacher"))
    if (step == "on-policy") != (teacher is not None):
        parser.error("--teacher belongs to on-policy, and on-policy needs it")
    os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1")
    if step == "supervised":
        supervised(rows, student, out, Settings(**given))
    else:
        on_policy(rows, student, teacher, out, Settings(**given))


if __name__ == "__main__":
    main()
