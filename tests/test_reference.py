"""What the reference lists explains itself: parameters, result, errors, and an example that the doctests run."""

from __future__ import annotations

import dataclasses
import inspect
from enum import Enum

import pytest

from tests.reference import Entry, entries

ENTRIES = [entry for entry in entries() if entry.name.startswith("kuiper.")]

# Why the docstrings of these need no sections of their own.
EXPLAINED_ELSEWHERE = {
    "kuiper.course.": "tools of the lectures, each of which is shown at work in one",
    "kuiper.graph.passes.": "all passes have one signature, as the module explains; docs/reference/passes.md has each",
}
LISTED_BY_HAND = {"kuiper.graph.passes.find_passes"}  # not a pass


def is_record(entry: Entry) -> bool:
    """Whether it is a class of fields, which its docstring explains: a dataclass, a named tuple, an enumeration."""
    thing = entry.function
    return inspect.isclass(thing) and (dataclasses.is_dataclass(thing) or issubclass(thing, (tuple, Enum)))


def is_explained_elsewhere(entry: Entry) -> bool:
    return entry.name.startswith(tuple(EXPLAINED_ELSEWHERE)) and entry.name not in LISTED_BY_HAND


HELD = [entry for entry in ENTRIES if not is_record(entry) and not is_explained_elsewhere(entry)]
WITH_PARAMETERS = [entry for entry in HELD if len(entry.parameters) >= 2]


def test_reference_is_read() -> None:
    names = {entry.name for entry in ENTRIES}
    assert {"kuiper.load", "kuiper.graph.RuntimeGraph.plan", "kuiper.tensor.add", "kuiper.models.Detector"} <= names


@pytest.mark.parametrize("entry", WITH_PARAMETERS, ids=lambda entry: entry.name)
def test_functions_explain_parameters_results_and_errors(entry: Entry) -> None:
    wanted = ["Parameters", *(["Returns"] if entry.returns else []), *(["Raises"] if entry.raises else [])]
    assert [section for section in wanted if section not in entry.sections] == []
    assert entry.has_example


@pytest.mark.parametrize("entry", WITH_PARAMETERS, ids=lambda entry: entry.name)
def test_the_section_of_parameters_names_them_all(entry: Entry) -> None:
    assert entry.explained == entry.parameters


@pytest.mark.parametrize("entry", [entry for entry in HELD if entry.raises], ids=lambda entry: entry.name)
def test_functions_that_raise_say_so(entry: Entry) -> None:
    assert "Raises" in entry.sections


def scale(x: list[float], factor: float = 2.0) -> list[float]:
    """The numbers, multiplied.

    Parameters
    ----------
    x : numbers
    factor : what they are
        multiplied by

    Returns
    -------
    As many numbers.

    Raises
    ------
    ValueError
        If there are none.

    Examples
    --------
    >>> scale([1.0])
    [2.0]
    """
    if not x:
        raise ValueError("none")
    return [factor * value for value in x]


def bare(x: list[float], factor: float) -> list[float]:
    """The numbers."""
    if not x:
        raise ValueError("none")
    return x


def test_what_is_missing_is_found() -> None:
    full, empty = Entry("full", scale), Entry("empty", bare)
    assert full.sections == ["Parameters", "Returns", "Raises", "Examples"]
    assert full.parameters == full.explained == ["x", "factor"]
    assert full.has_example
    assert empty.returns
    assert empty.raises
    assert not empty.has_example
    assert empty.sections == empty.explained == []
