"""One module per model: how its published weights become ONNX files."""

import sys

# transformers imports torchvision where it finds it. No network here needs it, and its wheel does not load beside a
# torch of another build; None in this table says that it is not there.
sys.modules.setdefault("torchvision", None)  # type: ignore[arg-type]
