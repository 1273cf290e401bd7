"""The experts of one run: each capability is served by the best model that is present, and by the same one throughout.

An expert's module is imported when its capability is first asked for, never before.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Mapping, Sequence

from evaluator.errors import ModelMissing
from evaluator.experts.base import Expert
from evaluator.experts.composed import STAND_INS, Composed
from evaluator.runner.graph import Missing
from evaluator.runtime.store import Store
from evaluator.schema import ModelRef, Tier, digest


class ExpertPool:
    """Capability -> expert, expert id -> expert, expert id -> model. One instance per run, safe for several threads."""

    def __init__(self, store: Store, require_reference: bool = False) -> None:
        self._store = store
        self._require_reference = require_reference
        self._lock = threading.RLock()
        self._served: dict[str, Expert | Missing] = {}
        self._experts: dict[str, Expert] = {}
        self._unavailable: dict[str, str] = {}

    def serve(self, capability: str) -> Expert | Missing:
        """The expert for a capability, or what to mount.

        Raises ModelMissing if an embedded model is not prepared, and with require_reference for a stand-in.
        """
        with self._lock:
            if capability not in self._served:
                self._served[capability] = self._resolve(capability)
            return self._served[capability]

    def by_id(self, expert_id: str) -> Expert:
        """An expert that `serve` gave out."""
        return self._experts[expert_id]

    def model_ref(self, expert_id: str) -> ModelRef:
        """Identity and digest of the model behind an expert; of a composed one, over all models that it is made of."""
        expert = self._experts.get(expert_id)
        if not isinstance(expert, Composed):
            return self._store.model_ref(expert_id)
        parts = {name: self._store.model_ref(name).sha256 for name in expert.weights}
        tier = Tier.EMBEDDED if expert.stands_in_for else Tier.REFERENCE
        return ModelRef(expert_id, digest(parts), tier, expert.stands_in_for)

    @property
    def unavailable(self) -> Mapping[str, str]:
        """Capabilities that were asked for and that nothing serves, with what to mount."""
        return dict(self._unavailable)

    @property
    def used(self) -> list[str]:
        """Ids of the experts that were given out, sorted."""
        return sorted(self._experts)

    def backends(self) -> dict[str, str]:
        """Model file -> execution provider that was obtained, for the sessions that were opened."""
        return self._store.providers()

    def _resolve(self, capability: str) -> Expert | Missing:
        if capability not in self._store.lock.capabilities:
            return self._composed(capability, f"nothing but a stand-in answers {capability}")
        found = self._store.resolve(capability)
        candidates = self._store.lock.answering(capability)
        if found.entry is None and capability in STAND_INS:
            return self._composed(capability, "; ".join(found.reasons))
        if found.entry is None and not any(entry in self._store.lock.embedded for entry in candidates):
            self._unavailable[capability] = "; ".join(found.reasons)
            if asked := [entry.id for entry in candidates if entry.on_request]:
                return Missing("unavailable", f"{asked[0]} is not prepared: python -m export build {asked[0]}")
            wanted = " or ".join(f"{entry.id}/{file.name}" for entry in candidates for file in entry.files)
            return Missing("unavailable", f"no {wanted} is mounted; `evaluator models where` tells what to copy where")
        if self._require_reference and found.entry is not None and found.entry.stand_in:
            found = self._store.resolve(capability, require_reference=True)
        entry = found.require()
        expert: Expert = importlib.import_module(f"evaluator.experts.{entry.id}").EXPERT(self._store)
        self._experts[entry.id] = expert
        return expert

    def _mountable(self, models: Sequence[str]) -> str:
        """Files of reference models among these that nobody mounted, in words; an embedded model is always prepared."""
        rows = [
            f"{name}/{row.name}"
            for name in models
            if self._store.lock[name].tier is Tier.REFERENCE
            for row in self._store.file_statuses(self._store.lock[name], hashed=False)
            if row.state == "missing"
        ]
        return " and ".join(rows)

    def _composed(self, capability: str, why: str) -> Expert | Missing:
        """The expert that is made of other models. Raises ModelMissing for a stand-in where a reference is required."""
        name = STAND_INS[capability]
        expert: Composed = importlib.import_module(f"evaluator.experts.{name}").EXPERT(self._store)
        if absent := self._mountable(expert.weights):
            self._unavailable[capability] = absent
            return Missing("unavailable", f"{absent} is not mounted; `evaluator models where` tells what to copy where")
        if self._require_reference and expert.stands_in_for:
            raise ModelMissing(f"{name} stands in for {expert.stands_in_for}, and a reference model is required; {why}")
        self._experts[name] = expert
        return expert
