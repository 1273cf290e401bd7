"""Stages: CPU time, each second charged once."""

from __future__ import annotations

import contextlib
import time

import pytest

from evaluator.runner.telemetry import Telemetry


def work(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def test_a_stage_inside_another_keeps_its_own_time() -> None:
    telemetry = Telemetry()
    with telemetry.stage("outer"):
        work(0.05)
        for _ in range(2):
            with telemetry.stage("inner"):
                work(0.03)
        with telemetry.stage("outer"):
            work(0.02)
    assert telemetry.seconds["inner"] == pytest.approx(0.06, abs=0.01)
    assert telemetry.seconds["outer"] == pytest.approx(0.07, abs=0.01)


def test_a_stage_that_fails_is_charged_all_the_same() -> None:
    telemetry = Telemetry()
    with contextlib.suppress(ZeroDivisionError), telemetry.stage("outer"), telemetry.stage("inner"):
        work(0.03)
        1 / 0  # noqa: B018
    with telemetry.stage("next"):
        work(0.03)
    assert telemetry.seconds["inner"] == pytest.approx(0.03, abs=0.01)
    assert telemetry.seconds["outer"] < 0.01
    assert telemetry.seconds["next"] == pytest.approx(0.03, abs=0.01)


def test_waiting_costs_nothing() -> None:
    telemetry = Telemetry()
    with telemetry.stage("wait"):
        time.sleep(0.1)
    assert telemetry.seconds["wait"] < 0.02
