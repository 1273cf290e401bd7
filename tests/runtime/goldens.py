"""Small inputs that are defined by formulas, one per network, for the values that the model cards quote."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from evaluator.runtime.session import Array, SessionSource

RATE = 16_000


def tone(samples: int, hertz: float = 440.0, level: float = 0.5) -> Array:
    """A sine at 16 kHz, rounded to 16 bit: [1, samples]."""
    wave = level * np.sin(2 * np.pi * hertz * np.arange(samples) / RATE)
    return (np.round(32767 * wave) / 32768).astype(np.float32)[None]


def picture(height: int, width: int, step: float = 9.0) -> Array:
    """Three waves in 0..1: [1, 3, height, width]."""
    y, x = np.mgrid[:height, :width].astype(np.float64)
    planes = [np.sin(x / step) * np.cos(y / 14), np.sin((x + y) / 21), np.cos(x * y / 4000)]
    return (0.5 + 0.5 * np.stack(planes)).astype(np.float32)[None]


def cut() -> dict[str, Array]:
    """100 frames of 27 x 48: one picture for 50 frames, then another."""
    pictures = [(255 * picture(27, 48, step)[0]).astype(np.uint8).transpose(1, 2, 0) for step in (3.0, 17.0)]
    return {"frames": np.stack([pictures[0]] * 50 + [pictures[1]] * 50)[None]}


def silero(wave: Array) -> dict[str, Array]:
    """One step of the voice activity network from its initial state."""
    return {"input": wave, "state": np.zeros((2, 1, 128), np.float32), "sr": np.array(RATE, np.int64)}


def sentence(*tokens: int) -> dict[str, Array]:
    """One text of these tokens."""
    ids = np.array([tokens], np.int64)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}


FEEDS: Mapping[tuple[str, str], Callable[[], dict[str, Array]]] = {
    ("transnetv2", "transnetv2.onnx"): cut,
    ("efficientnet_lite0", "efficientnet_lite0.onnx"): lambda: {"pixels": 2 * picture(224, 224) - 1},
    ("distillmos", "distillmos.onnx"): lambda: {"wave": tone(122_880)},
    ("dnsmos", "sig_bak_ovr.onnx"): lambda: {"input_1": tone(144_160)},
    ("dnsmos", "model_v8.onnx"): lambda: {"input_1": np.zeros((1, 900, 120), np.float32)},
    ("plcmos", "plcmos_v2.onnx"): lambda: {
        "degraded_audio": np.zeros((1, 1, 100, 257), np.float32),
        "rater_embed": np.zeros((1, 64), np.float32),
    },
    ("silero_vad", "silero_vad.onnx"): lambda: silero(tone(576)),
    ("yamnet", "model.onnx"): lambda: {"audio": np.full((1, 1, 96, 64), 144, np.uint8)},
    ("minilm", "model.onnx"): lambda: sentence(101, 1037, 3899, 102),
    ("resemblyzer", "resemblyzer.onnx"): lambda: {
        "mels": np.tile(np.linspace(1, 0, 40, dtype=np.float32), (1, 160, 1))
    },
    ("blazeface", "short_range.onnx"): lambda: {"pixels": 2 * picture(128, 128) - 1},
    ("blazeface", "full_range.onnx"): lambda: {"pixels": 2 * picture(192, 192) - 1},
    ("blazeface", "face_mesh.onnx"): lambda: {"pixels": picture(192, 192)},
    ("blazeface", "pnet.onnx"): lambda: {"pixels": 2 * picture(60, 80) - 1},
    ("blazeface", "rnet.onnx"): lambda: {"pixels": 2 * picture(24, 24) - 1},
    ("blazeface", "onet.onnx"): lambda: {"pixels": 2 * picture(48, 48) - 1},
    ("rife", "rife.onnx"): lambda: {"first": picture(96, 160), "second": np.roll(picture(96, 160), 4, axis=3)},
    ("stlpips", "stlpips.onnx"): lambda: {
        "first": 2 * picture(256, 256) - 1,
        "second": 2 * np.roll(picture(256, 256), 1, axis=3) - 1,
    },
}
"""(model, file) -> one call of the network."""


def answer(models: SessionSource, model: str, file: str) -> dict[str, Array]:
    """What the network says to its golden input."""
    return models.session(model, file).run(FEEDS[model, file]())
