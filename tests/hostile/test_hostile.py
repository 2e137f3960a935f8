"""A quick part of ``python -m tests.hostile.sweep``, and all models that were written by hand."""

from __future__ import annotations

import pytest

from tests.hostile.guarded import complaints


@pytest.mark.timeout(300)
def test_a_sample_of_mutated_graphs_ends_in_a_result_or_one_error_alike_on_both_paths() -> None:
    count, wrong = complaints(["--every", "101"])
    assert not wrong
    assert count > 500


@pytest.mark.timeout(300)
def test_hostile_models_end_in_a_result_or_one_error_alike_on_both_paths() -> None:
    count, wrong = complaints(["--written"])
    assert not wrong
    assert count > 300
