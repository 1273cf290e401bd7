"""Teach the tiny model its skill on a CPU in half a minute. The inputs are made exactly as the in-process judge makes
them, so that what is learnt is what is asked."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import torch

from evaluator.judge.local import LocalJudge, chat_of
from evaluator.judge.local_engine import Engine
from evaluator.judge.types import JudgeIdentity, Question
from tests.judge.tiny.stripes import question, right_label

BATCH = 8
RATE = 3e-3
WARM_UP = 10


def train(model: Any, processor: Any, steps: int, seed: int) -> None:
    """Cross entropy on the answer's token alone, over stills and short clips."""
    engine = Engine(model, processor)
    rng = np.random.default_rng(seed)
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.0)
    model.train()
    for step in range(steps):
        share = min(1.0, (step + 1) / WARM_UP) * (1.0 - step / steps)
        for group in optimiser.param_groups:
            group["lr"] = RATE * share + 1e-5
        loss = sum((_loss(model, engine, *_example(rng)) for _ in range(BATCH)), torch.zeros(())) / BATCH
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 20 == 0:
            print(f"step {step} of {steps}: loss {loss.item():.3f}", file=sys.stderr, flush=True)


def accuracy(model: Any, processor: Any, seed: int, count: int = 60) -> float:
    """Share of right answers to `count` new questions."""
    judge = LocalJudge(Engine(model, processor), JudgeIdentity("tiny", "", "training", trained=False))
    rng = np.random.default_rng((seed, 7))
    examples = [_example(rng) for _ in range(count)]
    return sum(judge.ask(asked).text == right for asked, right in examples) / count


def _example(rng: np.random.Generator) -> tuple[Question, str]:
    red, frames = bool(rng.integers(2)), int(rng.choice([0, 0, 2, 4]))
    return question(int(rng.integers(1 << 30)), red, frames), right_label(red)


def _loss(model: Any, engine: Engine, asked: Question, right: str) -> Any:
    logits = model(**engine.inputs(chat_of(asked)), logits_to_keep=1).logits[0]  # [1, vocabulary]
    return torch.nn.functional.cross_entropy(logits, torch.tensor(engine.token_ids(right)))
