"""Checks that need torch and transformers; run there by `test_reference_recipes.py`, one line each: name, TAB, ok."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper

import export.recipes
from evaluator.errors import EvaluatorError, ModelCorrupt, PrerequisiteError
from evaluator.experts.spectral import hann, mel_bank
from export.checkout import Checkout
from export.half import in_order
from export.onnx_file import seeded
from export.pretrained import load
from export.sound import Mel, decibels
from tests.export.inside import check, main  # its checks of embedded recipes are not registered twice


def close(found: Any, wanted: Any, tolerance: float) -> None:
    torch.testing.assert_close(torch.as_tensor(found), torch.as_tensor(wanted), rtol=tolerance, atol=tolerance)


class Folder:
    """Sources that are the files of one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def file(self, name: str) -> Path:
        return self.folder / name

    def module(self, package: str, name: str, stubs: Any = ()) -> Any:
        raise NotImplementedError
