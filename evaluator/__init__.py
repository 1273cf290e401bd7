"""evaluator: reproducible, offline scores for generated and edited audio-video."""

__version__ = "0.1.0"
