"""Models as published code writes them, exported here and now by every route, against torch.

Their parts are fixtures already (tests/fixtures/cases/wild.py); these are whole networks, at full depth but few channels,
with what only shows in a whole: what becomes of a batch that the export saw as one image, of sizes that it did not see, of
the memory of results that wait long for their readers.
"""

from __future__ import annotations

import subprocess
import warnings
import zlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pnnx = pytest.importorskip("pnnx")

import kuiper  # noqa: E402
from tests.models import wild  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

    from tests.models.wild import Network

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]
