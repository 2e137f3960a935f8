"""The node tests of onnx that passed pass: a sample of them (``make onnx`` runs all)."""

from __future__ import annotations

from onnx import defs

from kuiper.onnx import operators as operators  # fills the table
from kuiper.onnx.table import known_operators
from tests.onnx.conformance import Outcome, collected, light, run
from tests.onnx.page import PAGE, passed_before, reason_of, regressions
from tests.sampling import drawn, seed, words

ONE_IN = 4


def test_what_passed_passes() -> None:
    names = passed_before()
    sample = set(drawn(sorted(names), ONE_IN, seed()))
    outcomes = [run(case) for case in collected() if case.name in sample]
    lost = {one.name: one.reason for one in regressions(outcomes)}
    assert lost == {}, f"drawn by {words()}"
    assert outcomes


def test_light_networks_are_nine_of_which_the_smallest_passes() -> None:
    cases = {case.name: case for case in light()}
    assert len(cases) == 9
    assert set(cases) <= passed_before()
    assert run(cases["light_squeezenet"]).reason == ""


def test_page_has_every_operator() -> None:
    text = PAGE.read_text(encoding="utf-8")
    standard = {schema.name for schema in defs.get_all_schemas() if not schema.domain}
    missing = [name for _, name in known_operators() if f"\n| `{name}` |" not in text]
    assert missing == [], "run: python -m tests.onnx.page"
    assert "left out: unknown" not in text
    assert len([name for name in standard if f"\n| `{name}` |" in text]) >= 0.98 * len(standard)  # of another onnx


def test_regressions_are_tests_that_passed() -> None:
    name = min(passed_before())
    outcomes = [Outcome(name, "Abs", 13, "wrong"), Outcome(name, "Abs", 13, ""), Outcome("new", "Abs", 99, "wrong")]
    assert regressions(outcomes) == outcomes[:1]


def test_reason_of_is_in_words_where_it_is_known() -> None:
    assert reason_of(Outcome("test_a_b", "A", 1, "x | y"), {"test_a": "because"}) == "because"
    assert reason_of(Outcome("test_c", "C", 1, "x | y"), {"test_a": "because"}) == "x \\| y"
