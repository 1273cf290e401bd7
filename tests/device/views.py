"""The views that both device scalers are tried with."""

from __future__ import annotations

from evaluator.schema import Filter, Fit, Sampling, View

VIEWS = {
    "native": View(),
    "short side": View(fit=Fit.SHORT_SIDE, height=48),
    "crop": View(Sampling("linspace", (10,)), Fit.SHORT_SIDE_CROP, height=56, width=48),
    "letterbox": View(Sampling("every", (7,)), Fit.LETTERBOX, height=100, width=100),
    "gray linear": View(Sampling("linspace", (8,)), Fit.SQUASH, 40, 60, Filter.BILINEAR, colour="gray"),
    "slots": View(Sampling("fps", (40.0,)), Fit.SQUASH, 32, 64),
}
