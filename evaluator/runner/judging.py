"""The judge of a run: met before the first question, asked through the ledger, closed at the end.

    --judge-url URL       a server on loopback (vLLM in production)
    --judge-model DIR     a model directory that this run serves by itself for as long as it lasts: with vLLM, or in
                          this process where vLLM is not installed and transformers is (`--judge-engine`)
    --judge-replay FILE   a ledger of an earlier run; no socket is opened

Without any of them there is no judge: judged metrics are skipped as `no_judge` and the run goes on.
Knows the judge package; what the answers are used for is the metrics' business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.errors import UsageError
from evaluator.judge.ledger import Ledger
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import Backend, JudgeIdentity
from evaluator.schema import ModelRef, Tier, digest, to_tree

LEDGER = "judge.jsonl"
SERVER_LOG = "judge-server.log"
CONCURRENCY = 8


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """Which judge a person chose. At most one is given. `engine` says how a model directory is run."""

    url: str | None = None
    model: Path | None = None
    replay: Path | None = None
    tolerance: float = 0.0  # largest change of a probability between repeats that the self-check accepts
    engine: str = "auto"  # auto, vllm, local

    def __post_init__(self) -> None:
        given = [name for name in ("url", "model", "replay") if getattr(self, name)]
        if len(given) > 1:
            raise UsageError("choose one of " + ", ".join(f"--judge-{name}" for name in given))

    @property
    def chosen(self) -> bool:
        """True if there is a judge."""
        return bool(self.url or self.model or self.replay)


NOBODY = JudgeChoice()


@dataclass(frozen=True, slots=True)
class Bench:
    """The judges of a run and what is known of them. Without a session nobody can be asked."""

    session: JudgeSession | None = None
    verdict: Mapping[str, Any] | None = None  # of handshake and self-check, for the run header
    judges: Mapping[str, JudgeIdentity] = field(default_factory=dict)

    def serves(self, model: str = "") -> bool:
        """Whether somebody can be asked whose served name contains `model`."""
        return any(model.lower() in judge.model.lower() for judge in self.judges.values())

    def account(self) -> Mapping[str, Any] | None:
        """How many calls ended how, and the end of the ledger's chain; None without a judge."""
        if self.session is None:
            return None
        ledger = {"records": self.session.ledger.count, "head": self.session.ledger.head}
        return {**dict(sorted(self.session.counts.items())), "ledger": ledger}

    @property
    def model_ref(self) -> ModelRef:
        """The judge as records name it. A wiring fixture says that it is no judge."""
        identity = next(iter(self.judges.values()))
        tier = Tier.REFERENCE if identity.trained else Tier.EMBEDDED
        stands_in_for = "" if identity.trained else "a trained judge (wiring fixture: its answers mean nothing)"
        return ModelRef(identity.model, identity_digest(identity), tier, stands_in_for)


NO_JUDGE = Bench()


def identity_digest(identity: JudgeIdentity) -> str:
    """Digest over everything that tells one judge from another: weights, engine, flags."""
    return digest({**to_tree(identity), "modalities": sorted(identity.modalities)})


@contextmanager
def judging(choice: JudgeChoice, out: Path) -> Iterator[Bench]:
    """The judge for the length of a run. Raises JudgeUnusableError, LedgerError or UsageError."""
    with ExitStack() as stack:
        if choice.replay is not None:
            ledger = stack.enter_context(Ledger(choice.replay, writable=False))
            session = stack.enter_context(JudgeSession({}, ledger, Mode.REPLAY))
            yield Bench(session, {"replay": str(choice.replay)}, session.judges)
        elif choice.chosen:
            from evaluator.judge.handshake import examine  # these imports cost more than a small run

            backend = stack.enter_context(_backend(choice, out))
            verdict = examine(backend, concurrency=CONCURRENCY, tolerance=choice.tolerance)
            verdict.require()
            ledger = stack.enter_context(Ledger(out / LEDGER))
            named: dict[str, Backend] = {"judge": backend}
            session = stack.enter_context(JudgeSession(named, ledger, Mode.CACHE, concurrency=CONCURRENCY))
            yield Bench(session, verdict.tree(), session.judges)
        else:
            yield NO_JUDGE


@contextmanager
def _backend(choice: JudgeChoice, out: Path) -> Iterator[Backend]:
    from evaluator.judge.client import HttpJudge, HttpOptions

    if choice.url is not None:
        with closing(HttpJudge.connect(choice.url, HttpOptions(concurrency=CONCURRENCY))) as judge:
            yield judge
        return
    assert choice.model is not None  # noqa: S101  (one of the two is given)
    if _engine(choice.engine) == "local":
        from evaluator.judge.local import LocalJudge

        with closing(LocalJudge.load(choice.model)) as local:
            yield local
        return
    from evaluator.judge.serve import prepare, serving

    with serving(prepare(choice.model), out / SERVER_LOG) as up:
        yield up.judge


def _engine(wanted: str) -> str:
    """What runs a model directory here. Which one did is in the identity of the judge, so in every key and record."""
    from evaluator.judge.launch import installed
    from evaluator.judge.local_engine import importable

    return "local" if wanted == "auto" and not installed() and importable() else wanted
