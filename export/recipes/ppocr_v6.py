"""PP-OCRv6 small: the networks are copied; this writes the characters that the recogniser carries as metadata.

A file of its own, because what runs a network need not keep its metadata. Needs no torch.
"""

from __future__ import annotations

from pathlib import Path

import onnxruntime as ort

from export.recipe import Parity, Sources

RECOGNISER, ALPHABET = "recogniser.onnx", "characters.txt"
BEYOND = 2
"""Classes that are no line of the list: the blank, which is the first, and the space, which is the last."""


def build(sources: Sources, out: Path) -> list[Parity]:
    """characters.txt, one character per line in the order of the classes; parity: the network has that many classes."""
    network = ort.InferenceSession(str(sources.file(RECOGNISER)), providers=["CPUExecutionProvider"])
    listed = network.get_modelmeta().custom_metadata_map["character"]
    (out / ALPHABET).write_text(listed + "\n", encoding="utf-8")
    classes = network.get_outputs()[0].shape[-1]
    return [Parity(ALPHABET, "classes", float(abs(len(listed.split("\n")) + BEYOND - classes)), 0.0)]
