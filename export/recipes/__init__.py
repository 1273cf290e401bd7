"""One module per model: `build(sources, out) -> list[Parity]`. See `export.recipe`."""
