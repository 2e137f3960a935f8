"""A search that ends early: what it gives, and what it lets through."""

from __future__ import annotations

import pytest

from kuiper.graph.declined import Declined, attempted, decline_if, found


def _half(number: int, step: int = 2) -> int:
    decline_if(number % step)
    return number // step


def test_attempted_gives_what_is_found_and_none_if_that_declines() -> None:
    assert (attempted(_half, 6), attempted(_half, 0), attempted(_half, 3), attempted(_half, 3, step=3)) == (
        3,
        0,
        None,
        1,
    )


def test_attempted_lets_errors_through() -> None:
    with pytest.raises(ZeroDivisionError):
        attempted(_half, 1, step=0)


@pytest.mark.parametrize("thing", [0, "", False, []])
def test_found_gives_what_is_there(thing: object) -> None:
    assert found(thing) is thing


def test_found_declines_what_is_not_there() -> None:
    with pytest.raises(Declined):
        found(None)
