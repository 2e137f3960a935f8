"""What holds for every test: the numbers that it draws do not depend on the tests that ran before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

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
