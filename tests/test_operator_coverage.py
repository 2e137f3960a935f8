"""docs/evidence/operator-coverage.md and its summary must be what the stored graphs say."""

from __future__ import annotations

import pytest

from tests.fixtures.route_archives import ROUTES
from tests.operator_coverage import OPERATORS_PAGE, PAGE, Coverage, page, types_of, with_summary

AGAIN = "out of date: python -m tests.operator_coverage"


@pytest.fixture(scope="module")
def coverage() -> Coverage:
    return Coverage()


def test_page_is_current(coverage: Coverage) -> None:
    assert PAGE.read_text(encoding="utf-8") == page(coverage), AGAIN


def test_summary_is_current(coverage: Coverage) -> None:
    text = OPERATORS_PAGE.read_text(encoding="utf-8")
    assert with_summary(text, coverage) == text, AGAIN


def test_every_case_counts_once_by_every_route(coverage: Coverage) -> None:
    for route in ROUTES:
        graphs = [case for case, by in coverage.types if by == route]
        without = [case for case, by in coverage.without if by == route]
        assert sorted(graphs + without) == sorted(coverage.own)


def test_types_of_reads_the_first_word_of_each_operator() -> None:
    assert types_of("7767517\n2 1\npnnx.Input  in 0 1 0\nnn.ReLU  r 1 1 0 1\n") == {"pnnx.Input", "nn.ReLU"}
