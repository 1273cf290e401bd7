"""Engines are really built here, by TensorRT for RTX, through the function that builds them for TensorRT.

Needs the environment of docker/requirements/device-test.txt (`.venv-device`; EVALUATOR_DEVICE_VENV); skips without it.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from evaluator.runtime.session import SessionSource
from tests.device import environment

NO_ENGINE: dict[str, str] = {}
"""Networks that TensorRT does not take, and why: ONNX Runtime runs them, and the run says so. There is none."""

REWRITTEN = {
    "yamnet/model.onnx": ["quantisation in float32"],  # bytes in and out, zero points
    "minilm/model.onnx": ["8-bit constants in float32", "axes of squeezes"],  # words looked up before they are scaled
    "silero_vad/silero_vad.onnx": ["branches that are always taken"],  # on the sampling rate, and on sizes
    "plcmos/plcmos_v2.onnx": ["axes of squeezes"],
}
"""Networks whose engine is built from a rewritten copy."""

APART = {"yamnet": 0.0, "minilm": 1e-5, "silero_vad": 2e-6, "plcmos": 0.0}
"""Largest difference between a rewritten file and the file as it lies, each operator computed as ONNX defines it: that
of float32 sums in another order. YAMNet's bytes are the same bytes.
"""


@pytest.fixture(scope="module")
def report(models: SessionSource, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the builder made of every golden network and of a few that must fail."""
    store = models.path("yamnet", "model.onnx").parents[1]
    found: dict[str, Any] = json.loads(
        environment.run("tests.device.rtx_build", str(store), str(tmp_path_factory.mktemp("nets")))
    )
    return found


def test_every_exported_network_becomes_an_engine_or_is_known_not_to(report: dict[str, Any]) -> None:
    failed = {name: made["error"] for name, made in report["stored"].items() if "error" in made}
    assert failed.keys() == NO_ENGINE.keys()
    for name, reason in NO_ENGINE.items():
        assert reason in failed[name]
    assert all(made["plan"] > 100_000 for made in report["stored"].values() if "plan" in made)


def test_only_what_tensorrt_refuses_is_rewritten(report: dict[str, Any]) -> None:
    rewritten = {name: made["rewrites"] for name, made in report["stored"].items() if made.get("rewrites")}
    assert rewritten == REWRITTEN


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_rewritten_file_computes_what_the_file_computes(report: dict[str, Any], name: str) -> None:
    apart = report["apart"][name]
    assert apart.keys() == {"golden", "drawn"}
    assert max(apart.values()) <= APART[name.split("/")[0]]


def test_a_small_network_is_built_without_a_warning(report: dict[str, Any]) -> None:
    assert report["small"]["right"]["plan"] > 1000
    assert report["small"]["right"]["notes"] == []


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("one input left out", "input b has open dimensions [-1, 1] and no profile"),
        ("an input that is not there", "a profile for z; its inputs are x, b"),
        ("another width", "input x is [-1, 3] in the file, its profile says [1, 4]"),
        ("falling", "the shapes of x must not fall"),
        ("unknown operator", "scaled (Nonsense)"),
        ("no network", "Failed to parse the ONNX model"),
    ],
)
def test_what_cannot_be_built_says_why(report: dict[str, Any], what: str, words: str) -> None:
    assert words in report["small"][what]["error"]
