"""The list of the suite `core`: every card is filled in, and says the truth about its function."""

from __future__ import annotations

import inspect
import pkgutil
import re
from importlib import import_module

import pytest

import evaluator.metrics
from evaluator.metrics.base import Metric
from evaluator.schema import AudioNeed, ClipNeed, ExpertNeed, FramesNeed
from evaluator.suites.core import METRICS

BY_ID = {metric.id: metric for metric in METRICS}
PROTOCOL_SECTION = re.compile(r"(AVE-Compass|CoVEBench|CutCraft) \d+(\.\d+)?")
PUBLICATION = re.compile(r"\(.+; [A-Za-z]+ 20\d\d\)|ITU-R BS\.\d+")


def test_ids_are_unique() -> None:
    assert len(BY_ID) == len(METRICS)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.id)
class TestCard:
    def test_lives_in_the_module_of_its_name(self, metric: Metric) -> None:
        assert import_module(f"evaluator.metrics.{metric.id}").METRIC is metric

    def test_is_filled_in(self, metric: Metric) -> None:
        assert metric.version >= 1
        assert metric.title
        assert metric.summary.endswith(".")

    def test_names_its_paper(self, metric: Metric) -> None:
        assert PROTOCOL_SECTION.search(metric.paper) or PUBLICATION.search(metric.paper), metric.paper

    def test_range_is_ordered(self, metric: Metric) -> None:
        low, high = metric.range
        assert low is not None
        assert high is None or low < high

    def test_needs_are_the_parameters(self, metric: Metric) -> None:
        asked = {"answers"} if metric.judged else set()
        assert set(inspect.signature(metric.compute).parameters) == set(metric.needs) | asked

    def test_needs_name_known_roles(self, metric: Metric) -> None:
        for need in metric.needs.values():
            assert isinstance(need, FramesNeed | AudioNeed | ClipNeed | ExpertNeed)
            roles = need.roles if isinstance(need, ExpertNeed) else (need.role,)
            assert set(roles) <= {"video", "source"}

    def test_is_explained(self, metric: Metric) -> None:
        assert len(metric.compute.__doc__ or "") > 40
        assert len(import_module(metric.compute.__module__).__doc__ or "") > 40


def test_every_metric_module_is_in_the_list() -> None:
    """Holds while `core` is the only suite with modules of its own in `evaluator.metrics`."""
    modules = [
        import_module(f"evaluator.metrics.{one.name}") for one in pkgutil.iter_modules(evaluator.metrics.__path__)
    ]
    assert {module.METRIC.id for module in modules if hasattr(module, "METRIC")} == set(BY_ID)
