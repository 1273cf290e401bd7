"""The judges of a run: each met before the first question, asked through one ledger, closed at the end.

    --judge-url URL           a server on loopback (vLLM in production)
    --judge-model DIR         a model directory that this run serves by itself for as long as it lasts: with vLLM, or in
                              this process where vLLM is not installed and transformers is (`--judge-engine`)
    --judge-for MODEL=WHERE   a judge of its own for what only MODEL may answer, at such a URL or from such a directory;
                              beside a judge for everything else or without one, once per model
    --judge-replay FILE       a ledger of an earlier run, for all judges of that run; no socket is opened

Without any of them there is no judge: judged metrics are skipped as `no_judge` and the run goes on. A judge that is
given and cannot be used ends the run before its work. Knows the judge package; what the answers are used for is the
metrics' business.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from evaluator.errors import UsageError
from evaluator.judge.ledger import Ledger
from evaluator.judge.route import RESERVED, askable
from evaluator.judge.session import JudgeSession, Mode
from evaluator.judge.types import SEES, Backend, JudgeIdentity, Modality
from evaluator.schema import ModelRef, Tier, digest, to_tree

LEDGER = "judge.jsonl"
SERVER_LOG = "judge-server.log"
CONCURRENCY = 8
COMMON = "judge"
"""Endpoint of the judge for everything that is not one model's."""

Shown = Mapping[str, frozenset[Modality]]
"""Model that alone may answer, "" for any judge -> what its questions show."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """A judge that is asked only what `model` alone may answer, at a URL or from a directory."""

    model: str
    url: str | None = None
    folder: Path | None = None

    @classmethod
    def of(cls, model: str, where: str) -> Reserved:
        """From MODEL=WHERE. Raises UsageError for a place that is neither a URL nor a directory called like the model.

        A server says what it serves; a directory says it by its name, for its answers are recorded as that model's.
        """
        if where.startswith(("http:", "https:", "unix:")):
            return cls(model, url=where)
        if Path(where).is_dir() and model.lower() in Path(where).resolve().name.lower():
            return cls(model, folder=Path(where))
        if Path(where).is_dir():
            raise UsageError(f"--judge-for {model}: expected a directory whose name holds {model!r}, found {where!r}")
        raise UsageError(f"--judge-for {model}: expected a URL on loopback or a model directory, found {where!r}")


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """Which judges a person chose: one for all questions at most, and one per model that answers alone."""

    url: str | None = None
    model: Path | None = None
    replay: Path | None = None
    tolerance: float = 0.0  # largest change of a probability between repeats that the self-check accepts
    engine: str = "auto"  # how model directories are run: auto, vllm, local
    reserved: tuple[Reserved, ...] = ()

    def __post_init__(self) -> None:
        given = [name for name in ("url", "model", "replay") if getattr(self, name)]
        if len(given) > 1:
            raise UsageError("choose one of " + ", ".join(f"--judge-{name}" for name in given))
        if self.replay and self.reserved:
            raise UsageError("--judge-replay answers for every judge of its run; leave --judge-for out")
        models = [one.model.lower() for one in self.reserved]
        if len(set(models)) < len(models):
            raise UsageError(f"--judge-for: expected each model once, found {', '.join(models)}")

    @property
    def chosen(self) -> bool:
        """True if there is a judge."""
        return bool(self.url or self.model or self.replay or self.reserved)

    def needed(self, models: Collection[str]) -> JudgeChoice:
        """The judges that are asked, if these models are ("" for any judge): a server is started only for use."""
        if not models or self.replay:
            return self if models else NOBODY
        names = {model.lower(): model for model in models if model}
        own = tuple(replace(one, model=names[one.model.lower()]) for one in self.reserved if one.model.lower() in names)
        if set(models) <= {one.model for one in own}:
            return replace(self, url=None, model=None, reserved=own)
        return replace(self, reserved=own)


NOBODY = JudgeChoice()


@dataclass(frozen=True, slots=True)
class Bench:
    """The judges of a run and what is known of them. Without a session nobody can be asked."""

    session: JudgeSession | None = None
    verdict: Mapping[str, Any] | None = None  # of handshakes and self-checks, for the run header
    judges: Mapping[str, JudgeIdentity] = field(default_factory=dict)

    def askable(self, model: str = "") -> Mapping[str, JudgeIdentity]:
        """The judges that may be asked what only `model` may answer; without a model, what any judge may answer."""
        return askable(self.judges, model)

    def serves(self, model: str = "") -> bool:
        """Whether there is one."""
        return bool(self.askable(model))

    def account(self) -> Mapping[str, Any] | None:
        """How many calls ended how, and the end of the ledger's chain; None without a judge."""
        if self.session is None:
            return None
        ledger = {"records": self.session.ledger.count, "head": self.session.ledger.head}
        return {**dict(sorted(self.session.counts.items())), "ledger": ledger}

    def reference(self, model: str = "") -> ModelRef:
        """The first of them as records name it. A wiring fixture says that it is no judge."""
        identity = next(iter(self.askable(model).values()))
        tier = Tier.REFERENCE if identity.trained else Tier.EMBEDDED
        stands_in_for = "" if identity.trained else "a trained judge (wiring fixture: its answers mean nothing)"
        return ModelRef(identity.model, identity_digest(identity), tier, stands_in_for)

    @property
    def model_ref(self) -> ModelRef:
        """The judge for all questions."""
        return self.reference()


NO_JUDGE = Bench()


def identity_digest(identity: JudgeIdentity) -> str:
    """Digest over everything that tells one judge from another: weights, engine, flags."""
    return digest({**to_tree(identity), "modalities": sorted(identity.modalities)})


@contextmanager
def judging(choice: JudgeChoice, out: Path, shown: Shown = MappingProxyType({})) -> Iterator[Bench]:
    """The judges for the length of a run; `shown` says in what a reserved one is examined.

    Raises JudgeUnusableError, LedgerError or UsageError.
    """
    with ExitStack() as stack:
        if choice.replay is not None:
            ledger = stack.enter_context(Ledger(choice.replay, writable=False))
            session = stack.enter_context(JudgeSession({}, ledger, Mode.REPLAY))
            yield Bench(session, {"replay": str(choice.replay)}, session.judges)
        elif choice.chosen:
            seats = _seats(choice, shown)
            servers = sum(seat.folder is not None for seat in seats)
            met = {seat: stack.enter_context(_met(seat, choice, out, servers)) for seat in seats}
            backends = {seat.endpoint: backend for seat, (backend, _) in met.items()}
            ledger = stack.enter_context(Ledger(out / LEDGER))
            session = stack.enter_context(JudgeSession(backends, ledger, Mode.CACHE, concurrency=CONCURRENCY))
            yield Bench(session, _told({seat.model: verdict for seat, (_, verdict) in met.items()}), session.judges)
        else:
            yield NO_JUDGE


@dataclass(frozen=True, slots=True)
class _Seat:
    """An endpoint and who is to answer there. `model` is empty for the judge for all questions."""

    model: str
    url: str | None
    folder: Path | None
    modalities: frozenset[Modality] = SEES

    @property
    def endpoint(self) -> str:
        return f"{RESERVED}{self.model}" if self.model else COMMON


def _seats(choice: JudgeChoice, shown: Shown) -> list[_Seat]:
    common = [_Seat("", choice.url, choice.model)] if choice.url or choice.model else []
    own = [_Seat(one.model, one.url, one.folder, shown.get(one.model, SEES)) for one in choice.reserved]
    return [*common, *own]


def _told(verdicts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """What the run header says: of the judge for all questions, and of the others under `reserved`, by model."""
    reserved = {model: verdict for model, verdict in verdicts.items() if model}
    return {**verdicts.get("", {}), **({"reserved": reserved} if reserved else {})}


@contextmanager
def _met(seat: _Seat, choice: JudgeChoice, out: Path, servers: int) -> Iterator[tuple[Backend, dict[str, Any]]]:
    """A judge that passed its own examination, and what that found."""
    from evaluator.judge.handshake import examine  # these imports cost more than a small run

    with _backend(seat, choice.engine, out, servers) as backend:
        verdict = examine(backend, concurrency=CONCURRENCY, tolerance=choice.tolerance)
        verdict.require()
        yield backend, verdict.tree()


@contextmanager
def _backend(seat: _Seat, engine: str, out: Path, servers: int) -> Iterator[Backend]:
    from evaluator.judge.client import HttpJudge, HttpOptions

    if seat.url is not None:
        about = HttpOptions(named_like=seat.model, modalities=seat.modalities, concurrency=CONCURRENCY)
        with closing(HttpJudge.connect(seat.url, about)) as judge:
            yield judge
        return
    assert seat.folder is not None  # noqa: S101  (one of the two is given)
    if _engine(engine) == "local":
        from evaluator.judge.local import LocalJudge

        with closing(LocalJudge.load(seat.folder, name=seat.model, modalities=seat.modalities)) as local:
            yield local
        return
    from evaluator.judge.launch import SERVED_NAME
    from evaluator.judge.serve import prepare, serving

    options = prepare(seat.folder, served_name=seat.model or SERVED_NAME, servers=servers)
    with serving(options, out / _log_name(seat), modalities=seat.modalities) as up:
        yield up.judge


def _log_name(seat: _Seat) -> str:
    """judge-server.log, or judge-server-<model>.log; what may not stand in a file's name is left out."""
    suffix = "".join(sign for sign in seat.model if sign.isalnum() or sign in "-_")
    return SERVER_LOG.replace(".log", f"-{suffix}.log") if suffix else SERVER_LOG


def _engine(wanted: str) -> str:
    """What runs a model directory here. Which one did is in the identity of the judge, so in every key and record."""
    from evaluator.judge.launch import installed
    from evaluator.judge.local_engine import importable

    return "local" if wanted == "auto" and not installed() and importable() else wanted
