"""Network definitions that only their authors' repository has: imported from a checkout that the user names.

Nothing of them is part of this project. A recipe that needs one says which repository, and which environment variable
names its folder; without it the recipe is listed as not tried.
"""

from __future__ import annotations

import importlib
import os
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

    @property
    def folder(self) -> Path:
        """Its folder. Raises PrerequisiteError."""
        named = os.environ.get(self.variable)
        if not named:
            raise PrerequisiteError(f"needs a checkout of {self.repository}: name its folder in {self.variable}")
        if not Path(named).is_dir():
            raise PrerequisiteError(f"{self.variable}: {named} is no folder with a checkout of {self.repository}")
        return Path(named).resolve()

    def module(self, name: str) -> ModuleType:
        """Import a module of the checkout. Raises PrerequisiteError that says what is missing, of it or beside it."""
        with importable([str(self.folder)], []):
            try:
                return importlib.import_module(name)
            except ModuleNotFoundError as error:
                raise PrerequisiteError(
                    f"{self.folder}: {name} cannot be imported without {error.name}; is this a checkout of "
                    f"{self.repository}, and is what it requires installed?"
                ) from error
