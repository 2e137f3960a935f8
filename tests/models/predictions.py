"""What workers do in the tests of many pictures. They import this module, so it imports little itself."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.models.predictor import Predictor, Record

if TYPE_CHECKING:
    from kuiper.models.pictures.preprocess import ImageSource

GATE = "KUIPER_TEST_GATE"
"""The environment variable that names a file, without which pictures named after "late" are not done."""


@dataclass(frozen=True)
class Named:
    """A record of every picture without looking at it, and who made it."""

    def __call__(self, path: str) -> Record:
        return {"image": path, "pid": os.getpid()}


@dataclass(frozen=True)
class Deadly:
    """The picture "deadly" ends the process, as long as it has done so fewer than ``lives`` times."""

    log: str
    lives: int

    def __call__(self, path: str) -> Record:
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(f"{path}\n")
        deaths = Path(self.log).read_text(encoding="utf-8").splitlines().count("deadly")
        if path == "deadly" and deaths <= self.lives:
            os._exit(3)
        return {"image": path}


@dataclass(frozen=True)
class Raising:
    """A model that cannot be used."""

    def __call__(self, path: str) -> Record:
        raise LookupError(f"no model for {path}")


class Unborn:
    """Ends the process that it is sent to."""

    def __setstate__(self, state: dict[str, int]) -> None:
        os._exit(4)

    def __getstate__(self) -> dict[str, int]:
        return {"so that": 1}

    def __call__(self, path: str) -> Record:
        return {"image": path}


class GatedPredictor(Predictor):
    """One that waits for the gate to be opened, which is how a test knows what is not done yet."""

    def record(self, source: ImageSource) -> Record:
        while "late" in Path(str(source)).name and not os.path.exists(os.environ[GATE]):
            time.sleep(0.01)
        return super().record(source)
