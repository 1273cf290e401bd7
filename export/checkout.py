"""Network definitions that only their authors' repository has: imported from a checkout that the user names.

Nothing of them is part of this project. CHECKOUTS says which recipe needs which repository, and which environment
variable names its folder; without it the recipe is listed as not tried.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from evaluator.errors import PrerequisiteError
from export.sources import importable


@dataclass(frozen=True, slots=True)
class Checkout:
    """A repository and the variable that names a folder with its files."""

    repository: str
    variable: str
    roots: tuple[str, ...] = ("",)  # folders in it that its own imports start from
    stubs: tuple[str, ...] = ()  # modules that it imports and the network does not use

    @property
    def folder(self) -> Path:
        """Its folder. Raises PrerequisiteError."""
        named = os.environ.get(self.variable)
        if not named:
            raise PrerequisiteError(f"needs a checkout of {self.repository}: name its folder in {self.variable}")
        if not Path(named).is_dir():
            raise PrerequisiteError(f"{self.variable}: {named} is no folder with a checkout of {self.repository}")
        return Path(named).resolve()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Let modules of the checkout be imported, by us and by themselves. Nothing of them stays importable.

        Raises PrerequisiteError that says what is missing, of it or beside it.
        """
        from export.torchvision_beside import shown

        with shown(), importable([str(self.folder / root) for root in self.roots], self.stubs):
            try:
                yield
            except ModuleNotFoundError as error:
                raise PrerequisiteError(
                    f"{self.folder}: there is no module {error.name}; is this a checkout of {self.repository}, and is "
                    "what it requires installed?"
                ) from error

    def module(self, name: str) -> ModuleType:
        """Import a module of the checkout. Raises PrerequisiteError, as `opened`."""
        with self.opened():
            return importlib.import_module(name)

    @property
    def lacking(self) -> str:
        """What is asked of the user before its recipe can run; empty if nothing is."""
        try:
            _ = self.folder
        except PrerequisiteError as error:
            return str(error)
        return ""


CHECKOUTS: Mapping[str, Checkout] = {
    "amt_g": Checkout("GitHub MCG-NKU/AMT", "EVALUATOR_CHECKOUT_AMT"),
    "cotracker": Checkout("GitHub facebookresearch/co-tracker", "EVALUATOR_CHECKOUT_COTRACKER"),
    "dover_technical": Checkout("GitHub VQAssessment/DOVER", "EVALUATOR_CHECKOUT_DOVER"),
    "imagebind": Checkout(  # without its readers of media, which want three more libraries
        "GitHub facebookresearch/ImageBind", "EVALUATOR_CHECKOUT_IMAGEBIND", stubs=("imagebind.data",)
    ),
    "synchformer": Checkout(
        "GitHub v-iashin/Synchformer", "EVALUATOR_CHECKOUT_SYNCHFORMER", ("", "model/modules/feat_extractors/visual")
    ),
}
"""Model -> where its architecture is: in no registry package."""
