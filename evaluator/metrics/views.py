"""Picture requests and frame samplings that several metrics share; equal requests are decoded and computed once."""

from __future__ import annotations

from evaluator.schema import Filter, Fit, Sampling, View

TEN_FRAMES = Sampling("equal_indices", (10,))
"""CoVEBench section 2: ten frames from the first to the last, on each clip's own length."""

GRAY_224 = View(TEN_FRAMES, Fit.SQUASH, 224, 224, Filter.AREA, colour="gray")
"""CoVEBench 4.3 and 5.1: gray, area-resized to 224 x 224, aspect ignored."""
