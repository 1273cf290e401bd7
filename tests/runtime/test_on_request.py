"""Models that ship in a registry package and are prepared only where somebody asks: never missed, never in an image."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.doctor.finding import Level
from evaluator.doctor.models import findings
from evaluator.errors import PrerequisiteError
from evaluator.runner.experts import ExpertPool
from evaluator.runner.graph import Missing
from evaluator.runtime.lock import read_lock
from evaluator.runtime.store import LOCK_FILE, ROOT, Store
from evaluator.suites import suites
from export.__main__ import ON_REQUEST, WEIGHTS
from export.build import packages_of
from export.fetch import read_pins
from tests.runtime.build import entry, lock, store

ASKED = entry("alpha", on_request=True)


@pytest.fixture
def bare(tmp_path: Path) -> Store:
    """The shipped lock over a store in which nothing was prepared."""
    return Store.open(environment={"EVALUATOR_STORE": str(tmp_path), "EVALUATOR_CACHE": str(tmp_path)})


def test_it_is_not_among_what_must_be_there(tmp_path: Path) -> None:
    found = store(tmp_path, ASKED)
    assert found.lock.embedded == ()
    found.require_embedded()


def test_only_a_packaged_model_can_be(tmp_path: Path) -> None:
    for wrong in (entry(tier="reference", on_request=True), entry(files=[], weightless=True, on_request=True)):
        with pytest.raises(PrerequisiteError, match="prepared on request"):
            lock(tmp_path, wrong)


def test_nobody_serves_until_it_is_prepared(tmp_path: Path) -> None:
    pool = ExpertPool(store(tmp_path, ASKED))
    found = pool.serve("seeing")
    assert isinstance(found, Missing)
    assert (found.code, found.message) == ("unavailable", "alpha is not prepared: python -m export build alpha")
    assert "python -m export build alpha" in pool.unavailable["seeing"]


def test_one_that_is_always_prepared_is_a_prerequisite(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match=r"run\.sh setup"):
        ExpertPool(store(tmp_path, entry("alpha"))).serve("seeing")


def test_the_doctor_does_not_miss_it_and_says_what_asks_for_it(bare: Store) -> None:
    asked = {item.id for item in bare.lock.models if item.on_request}
    about = [one for one in findings(bare, ["cutcraft"], require_reference=True) if one.name in asked]
    assert [(one.section, one.level) for one in about] == [("suite cutcraft", Level.NOTE)]
    assert "off unless asked for (data.text_fps" in about[0].found
    assert about[0].remedy == "python -m export build ppocr_v6"


def test_every_one_is_asked_for_by_a_suite_and_by_no_metric_of_its_own(bare: Store) -> None:
    offered = {capability for suite in suites().values() for capability in suite.on_request}
    assert offered == {item.capability for item in bare.lock.models if item.on_request}
    always = {
        getattr(need, "capability", "")
        for suite in suites().values()
        for metric in (*suite.metrics, *(one for own in suite.variants.values() for one in own.values()))
        for need in metric.needs.values()
    }
    assert not offered & always


def test_their_packages_are_pinned_apart() -> None:
    models = read_lock(LOCK_FILE).models
    asked = {pin for item in models if item.on_request for pin in packages_of(item)}
    assert set(read_pins(ON_REQUEST)) == asked
    assert not asked & set(read_pins(WEIGHTS))


def test_no_image_takes_them_along() -> None:
    kept_out = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    for item in read_lock(LOCK_FILE).models:
        assert (f"models/store/{item.id}/" in kept_out) == item.on_request, item.id
