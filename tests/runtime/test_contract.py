"""The contract of a network: what counts as honouring it, and how a breach is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from evaluator.errors import ModelCorrupt
from evaluator.runtime.contract import check_contract
from evaluator.runtime.lock import ModelFile, Tensor
from tests.runtime.build import FakeSession

Shape = Sequence[int | str | None]

FILE = ModelFile(
    name="net.onnx",
    how="mounted",
    inputs=(Tensor(name="pixels", dtype="float32", shape=("batch", 3, 224, 224)),),
    outputs=(Tensor(name="embedding", dtype="float32", shape=("batch", 768)),),
)


def check(
    pixels: Shape = ("batch", 3, 224, 224),
    embedding: Shape = ("batch", 768),
    element: str = "tensor(float)",
    name: str = "pixels",
) -> None:
    session = FakeSession({name: (pixels, element)}, {"embedding": (embedding, "tensor(float)")})
    check_contract(session, "dinov2", FILE, "/models/net.onnx")


@pytest.mark.parametrize("pixels", [("batch", 3, 224, 224), (None, 3, 224, 224), ("n", 3, "h", "w")])
def test_free_dimensions_take_every_call(pixels: Shape) -> None:
    check(pixels)


@pytest.mark.parametrize("embedding", [("batch", 768), (None, None), ()])
def test_outputs_may_be_described_loosely(embedding: Shape) -> None:
    check(embedding=embedding)


@pytest.mark.parametrize(
    "pixels", [(1, 3, 224, 224), ("batch", 3, 518, 518), ("batch", 224, 224, 3), ("batch", 3, 224)]
)
def test_a_network_that_refuses_our_calls_is_refused(pixels: Shape) -> None:
    with pytest.raises(ModelCorrupt, match="input pixels: expected shape"):
        check(pixels)


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(ModelCorrupt) as told:
        check(embedding=("batch", 384), element="tensor(float16)", name="x")
    text = str(told.value)
    assert "/models/net.onnx" in text
    assert "input pixels is missing; the file has x" in text
    assert "input x is not expected" in text
    assert "output embedding: expected shape ['batch', 768], found ['batch', 384]" in text


def test_an_element_type_matters() -> None:
    with pytest.raises(ModelCorrupt, match="expected float32, found float16"):
        check(element="tensor(float16)")


@pytest.mark.parametrize("element", ["tensor(float16)", "tensor(float)"])
def test_a_contract_may_leave_the_precision_open(element: str) -> None:
    video = Tensor(name="video", dtype="float16 or float32", shape=("batch", 3))
    file = ModelFile(name="net.onnx", how="mounted", inputs=(video,), outputs=FILE.outputs)
    session = FakeSession({"video": (("batch", 3), element)}, {"embedding": (("batch", 768), "tensor(float)")})
    check_contract(session, "synchformer", file, "/models/net.onnx")


def test_more_outputs_than_asked_for_are_fine() -> None:
    outputs = {"embedding": (("b", 768), "tensor(float)"), "tokens": (("b", 257, 768), "tensor(float)")}
    session = FakeSession({"pixels": (("b", 3, 224, 224), "tensor(float)")}, outputs)
    check_contract(session, "dinov2", FILE, "net.onnx")


def test_a_session_that_knows_only_output_names_is_checked_by_name() -> None:
    session = FakeSession({"pixels": (("b", 3, 224, 224), "tensor(float)")})
    del session.output_types
    with pytest.raises(ModelCorrupt, match="output embedding is missing"):
        check_contract(session, "dinov2", FILE, "net.onnx")
