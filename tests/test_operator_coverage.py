"""The page of operators by route, which the site has."""

from __future__ import annotations

import re

import pytest

from tests.fixtures.route_archives import ROUTES
from tests.operator_coverage import Coverage, page, types_of


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    return Coverage()


def test_page_has_a_row_for_each_type_and_all_reasons(coverage: Coverage) -> None:
    text = page(coverage)
    rows = re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)
    assert set().union(*(types for route in ROUTES for types in coverage.agreeing(route))) <= set(rows)
    assert rows == sorted(set(rows), key=str.lower)
    assert all(f"`{case}`" in text for case, _ in (*coverage.other, *coverage.without))


def test_every_case_counts_once_by_every_route(coverage: Coverage) -> None:
    for route in ROUTES:
        graphs = [case for case, by in coverage.types if by == route]
        without = [case for case, by in coverage.without if by == route]
        assert sorted(graphs + without) == sorted(coverage.own)


def test_types_of_reads_the_first_word_of_each_operator() -> None:
    assert types_of("7767517\n2 1\npnnx.Input  in 0 1 0\nnn.ReLU  r 1 1 0 1\n") == {"pnnx.Input", "nn.ReLU"}
