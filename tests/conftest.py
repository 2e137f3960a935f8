"""What holds for every test: its numbers depend on no other test, and what it keeps is in no user's cache."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.pseudo_language import pseudo_catalogues, pseudo_language  # noqa: F401 (fixtures for all tests)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

with suppress(ImportError):  # WebAssembly's tests do without it
    import hypothesis

    # How long a case takes says nothing where other programs run as well.
    hypothesis.settings.register_profile("any machine", deadline=None)
    hypothesis.settings.load_profile("any machine")

# Tests compare English words, whatever the language of the terminal; those of other languages choose theirs.
os.environ["KUIPER_LANG"] = "en"

beginnings: dict[str, dict[str, Mapping[str, Any]]] = {}  # by module and name, the states once the module was imported


@pytest.fixture(autouse=True)
def _generators_begin_anew(request: pytest.FixtureRequest) -> None:
    """Put the generators of the test's module back to where they stood when it was imported.

    Workers share the tests out by time: without this, a test sees other numbers in every run.
    """
    module = request.module
    generators = {name: value for name, value in vars(module).items() if isinstance(value, np.random.Generator)}
    states = beginnings.setdefault(module.__name__, {})
    for name, generator in generators.items():
        generator.bit_generator.state = states.setdefault(name, generator.bit_generator.state)


@pytest.fixture(autouse=True, scope="session")
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Keep what tests make, one folder for each class that they start, in a cache of their own."""
    cache = tmp_path_factory.mktemp("user_cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KUIPER_CACHE", str(cache))
        yield cache
