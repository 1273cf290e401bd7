"""Bytes are charged to whoever moved them, in the thread that did."""

from __future__ import annotations

import threading

import numpy as np

from evaluator.runner.telemetry import Telemetry
from evaluator.runtime import traffic
from evaluator.runtime.arrays import filled_up, joined, to_host
from evaluator.runtime.traffic import Traffic
from tests.device.accounts import amounts


def test_the_innermost_account_pays() -> None:
    own = Traffic()
    with own.charged("outer"):
        traffic.went_up(5)
        with own.charged("inner"):
            traffic.came_down(7)
            with traffic.on_behalf_of("reader"):
                traffic.came_down(11)
        traffic.came_down(3)
    assert own.facts() == {
        "inner": amounts(bytes_to_host=7),
        "outer": amounts(bytes_to_device=5, bytes_to_host=3),
        "reader": amounts(bytes_to_host=11),
    }


def test_pictures_are_counted_where_they_were_handed_out() -> None:
    own = Traffic()
    with own.charged("reader"):
        traffic.handed_out(3, on_device=True)
        traffic.handed_out(2, on_device=False)
        traffic.handed_out(4, on_device=False)
    assert own.facts() == {"reader": amounts(pictures_on_device=3, pictures_on_host=6)}


def test_nobody_pays_outside_of_an_account_and_threads_have_their_own() -> None:
    own = Traffic()
    traffic.went_up(1)
    with traffic.on_behalf_of("nobody"):
        traffic.went_up(1)
    with own.charged("here"):
        other = threading.Thread(target=traffic.went_up, args=(100,))
        other.start()
        other.join()
    assert own.facts() == {}


def test_many_threads_lose_no_byte() -> None:
    own = Traffic()

    def work() -> None:
        with own.charged("all"):
            for _ in range(500):
                traffic.came_down(2)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert own.facts() == {"all": amounts(bytes_to_host=4000)}


def test_a_stage_of_a_run_is_an_account_and_a_run_on_the_cpu_has_none() -> None:
    telemetry = Telemetry()
    with telemetry.stage("decode"):
        to_host(np.zeros(9))
    assert "traffic" not in telemetry.facts()
    with telemetry.stage("decode"):
        traffic.went_up(9)
    assert telemetry.facts()["traffic"] == {"decode": amounts(bytes_to_device=9)}


def test_on_the_host_batches_are_what_numpy_makes_and_full_ones_are_not_copied() -> None:
    batch = np.random.default_rng(0).integers(0, 256, (3, 2), np.uint8)
    assert to_host(batch) is batch
    assert filled_up(batch, 3) is batch
    padded = np.concatenate([batch, np.zeros((2, 2), np.uint8)])
    assert filled_up(batch, 5).tobytes() == padded.tobytes()
    assert joined([batch[:0], batch, batch[:1]]).tobytes() == np.concatenate([batch, batch[:1]]).tobytes()
    assert joined([batch[:0]]).shape == (0, 2)
