"""Integrated loudness of the mono mix, ITU-R BS.1770-4: K-weighting, 400 ms blocks, two gates. A fact.

A stereo meter adds the power of its channels: a clip with equal left and right reads 3.01 LU more there than here.
"""

from __future__ import annotations

import numpy as np

from evaluator.errors import NotApplicable
from evaluator.media.types import F64, Audio
from evaluator.metrics.base import Direction, Metric, Outcome
from evaluator.metrics.biquads import cascade
from evaluator.schema import AudioNeed, AudioView

RATE = 48_000
"""Hz. The standard's filter coefficients hold for this rate only."""

K_WEIGHTING = np.array(
    [
        [1.53512485958697, -2.69169618940638, 1.19839281085285, 1.0, -1.69065929318241, 0.73248077421585],  # head shelf
        [1.0, -2.0, 1.0, 1.0, -1.99004745483398, 0.99007225036621],  # high pass
    ]
)

STEP = RATE // 10  # 100 ms, so that 400 ms blocks overlap by 75 %
STEPS_PER_BLOCK = 4
OFFSET = -0.691  # the shelf's gain at 997 Hz, taken off
ABSOLUTE_GATE = -70.0  # LUFS
RELATIVE_GATE = -10.0  # LU below the mean of what passes the absolute gate


def block_power(samples: F64) -> F64:
    """Mean square of the K-weighted signal [T] (full scale 1) in each whole 400 ms block: [B], empty if too short."""
    steps = len(samples) // STEP
    if steps < STEPS_PER_BLOCK:
        return np.zeros(0)
    weighted = cascade(K_WEIGHTING, samples[: steps * STEP])
    power = np.square(weighted).reshape(steps, STEP).mean(axis=1)
    return np.convolve(power, np.full(STEPS_PER_BLOCK, 1.0 / STEPS_PER_BLOCK), "valid")


def lufs(power: F64) -> F64:
    """Loudness in LUFS of mean squares; minus infinity for silence."""
    with np.errstate(divide="ignore"):
        return OFFSET + 10.0 * np.log10(power)


def compute(sound: Audio) -> Outcome:
    """LUFS, above -70. Raises NotApplicable if no 400 ms block passes the absolute gate (silent or too short)."""
    power = block_power(sound.samples / 32_768.0)
    audible = power[lufs(power) > ABSOLUTE_GATE]
    if not len(audible):
        raise NotApplicable("not_applicable", f"No 400 ms of the sound are louder than {ABSOLUTE_GATE:g} LUFS.")
    gate = lufs(audible.mean(keepdims=True)) + RELATIVE_GATE
    gated = audible[lufs(audible) > gate]
    details = {
        "loudest_block_lufs": float(lufs(power.max(keepdims=True))[0]),
        "relative_gate_lufs": float(gate[0]),
        "blocks": len(power),
        "blocks_gated": len(gated),
    }
    return Outcome(float(lufs(gated.mean(keepdims=True))[0]), details=details)


METRIC = Metric(
    id="loudness",
    version=2,
    title="Loudness",
    summary="Integrated loudness of the mono mix.",
    direction=Direction.NONE,
    range=(ABSOLUTE_GATE, None),
    unit="LUFS",
    paper="ITU-R BS.1770-4, annex 1",
    needs={"sound": AudioNeed(AudioView(RATE))},
    compute=compute,
)
