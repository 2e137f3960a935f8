"""The same bits on every build that fuses: what ``reproducible=True`` promises."""

from __future__ import annotations

import json

import pytest

from kuiper.machine import build
from tests.hashes import STORED, hashes

pytestmark = pytest.mark.skipif(not build.FUSES or build.LANES == 1, reason="no vectors with fused multiply-adds here")


def test_reproducible_models_give_the_stored_bits() -> None:
    stored, found = json.loads(STORED.read_text(encoding="utf-8")), hashes()
    assert {name: digest for name, digest in found.items() if stored.get(name) != digest} == {}
    assert set(stored) - set(found) == set()
