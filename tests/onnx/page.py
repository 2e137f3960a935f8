"""docs/reference/onnx.md: every operator of ONNX, what kuiper does with it, and how many of onnx's own tests pass.

python -m tests.onnx.page            runs all tests, and writes the page and the list of those that pass
python -m tests.onnx.page --check    runs all tests, and fails if one does not pass that did when the page was written
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import onnx
from onnx import defs

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend
from kuiper.onnx import operators as operators  # fills the table
from kuiper.onnx.table import CONTRIB, known_operators
from kuiper.printable import printable
from tests.onnx.conformance import EXCLUDED, LIGHT, Outcome, collected, excluded, light, operator_of, run
from tests.onnx.contrib_case import Case, arguments, model
from tests.onnx.contrib_cases import all_cases
from tests.onnx.test_contrib import difference, outputs_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "onnx.md"
PASSED = Path(__file__).with_name("passed.txt")
"""The names of the tests that passed when the page was written, one a line."""

REASONS = {
    "test_bernoulli": "random numbers: the test wants those of NumPy's generator with its seed",
    "test_attention": "the test rounds to bfloat16 after every step; kuiper computes in float32 and rounds once",
    "test_resize_downsample": "the test places numbers by the size before it is rounded down; kuiper and onnxruntime "
    "by the size of the output",
}
"""Why tests fail, by how their names begin."""

REMARKS = {
    "Bernoulli": "random numbers are kuiper's own, whatever the seed",
    "Constant": "numbers only",
    "DequantizeLinear": "of integers of 2 to 32 bits and float8; per tensor, axis, block",
    "Dropout": "of inference: what comes in goes out",
    "If": "decided while the file is read, if its condition is known; else the body that is asked for runs",
    "Loop": "bodies run as graphs of their own",
    "MatMulNBits": "4 and 8 bits, without g_idx",
    "Multinomial": "random numbers are kuiper's own, whatever the seed",
    "QuantizeLinear": "to integers of 2 to 16 bits and float8; per tensor, axis, block",
    "RandomNormal": "random numbers are kuiper's own, whatever the seed",
    "RandomNormalLike": "random numbers are kuiper's own, whatever the seed",
    "RandomUniform": "random numbers are kuiper's own, whatever the seed",
    "RandomUniformLike": "random numbers are kuiper's own, whatever the seed",
    "Resize": "antialias for linear and cubic",
    "Scan": "bodies run as graphs of their own",
}
"""What is to be known of an operator."""

HEAD = """\
# ONNX operators

What kuiper does with each operator of ONNX, and how many of the tests of the package onnx pass: with the engine
and without, in the tolerance of onnx's own runner, with the element types of the standard. This page is written by
`python -m tests.onnx.page`; `make onnx` runs all tests again. How files are read: [convert.md](../use/convert.md#onnx).

"""


class Row(NamedTuple):
    """One operator."""

    name: str
    how: str
    opsets: str
    tests: str
    remarks: str


def main() -> int:
    """Run all tests, then write or check; 1 if a test does not pass that did."""
    parser = argparse.ArgumentParser(description="Write docs/reference/onnx.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a test does not pass that did")
    options = parser.parse_args()
    os.environ.setdefault("KUIPER_STRICT", "1")
    outcomes = [run(case) for case in [*collected(), *light()] if excluded(case) is None]
    if options.check:
        lost = regressions(outcomes)
        print(*(f"{one.name}: {printable(one.reason[:300])}" for one in lost), sep="\n")
        print(f"{sum(not one.reason for one in outcomes)} passed, {len(lost)} failed")
        return 1 if lost else 0
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(outcomes), encoding="utf-8")
    names = sorted(one.name for one in outcomes if not one.reason)
    PASSED.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    print(f"wrote {PAGE} and {PASSED}: {len(names)} of {len(outcomes)} pass")
    return 0


def passed_before() -> frozenset[str]:
    """The tests that passed when the page was written."""
    return frozenset(PASSED.read_text(encoding="utf-8").split())


def regressions(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """The tests that fail now, and did not."""
    before = passed_before()
    return [one for one in outcomes if one.reason and one.name in before]


def page(outcomes: list[Outcome]) -> str:
    """The whole page."""
    networks = [one for one in outcomes if one.operator == LIGHT]
    outcomes = [one for one in outcomes if one.operator != LIGHT]
    passed = sum(not one.reason for one in outcomes)
    total = f"{passed:,} of {len(outcomes):,} tests of onnx {onnx.__version__} pass: {passed / len(outcomes):.1%}."
    standard = table("operator", standard_rows(outcomes))
    contrib = table("operator", contrib_rows())
    return "\n".join([
        HEAD + total + "\n",
        "## The standard\n",
        "*spelled out*: by others, as the standard defines it. Opsets are those of the tests; files of opset 7 and",
        "newer are read as they are, older ones are brought to 7 by the onnx package.\n",
        standard,
        "## com.microsoft\n",
        "What onnxruntime adds to the standard, as far as exporters and quantisers write it. The tests compare with",
        "stored answers of onnxruntime (`tests/onnx/test_contrib.py`).\n",
        contrib,
        light_networks(networks),
        left_out(),
        failures([*outcomes, *networks]),
    ])  # fmt: skip


def table(first: str, rows: list[Row]) -> str:
    """Rows in Markdown."""
    lines = [f"| {first} | | opsets tested | tests that pass | remarks |", "|---|---|---|---:|---|"]
    lines += [f"| `{row.name}` | {row.how} | {row.opsets} | {row.tests} | {row.remarks} |" for row in rows]
    return "\n".join([*lines, ""])


def standard_rows(outcomes: list[Outcome]) -> list[Row]:
    """The operators of the standard; a test that spells one out by others counts for that one."""
    owners = {case.name: operator_of(case) for case in collected()}
    tests: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        base = one.name.split("_expanded")[0]
        tests[owners.get(base, one.operator)].append(one)
    known = {name for domain, name in known_operators() if not domain}
    schemas = {schema.name: schema for schema in defs.get_all_schemas() if not schema.domain}
    reasons = {name: reason for reason, names in EXCLUDED.items() for name in names}
    rows = []
    for name in sorted({*schemas, *known}):
        schema = schemas.get(name)
        spelled = schema is not None and (schema.has_function or schema.has_context_dependent_function)
        how = "" if name in known else f"left out: {reasons[name]}" if name in reasons else "spelled out"
        how = how if spelled or how != "spelled out" else "left out: unknown"
        rows.append(Row(name, how, opsets(tests[name]), counted(tests[name]), REMARKS.get(name, "")))
    return rows


def contrib_rows() -> list[Row]:
    """The operators of onnxruntime."""
    tests: dict[str, list[Outcome]] = defaultdict(list)
    for case in all_cases():
        tests[case.type].append(Outcome(case.name, case.type, case.opset, contrib_difference(case)))
    names = sorted(name for domain, name in known_operators() if domain == CONTRIB)
    return [Row(name, "", opsets(tests[name]), counted(tests[name]), REMARKS.get(name, "")) for name in names]


def contrib_difference(case: Case) -> str:
    """In what kuiper's outputs of a case are not those of onnxruntime; "" if they are."""
    try:
        got = backend.prepare(model(case)).run(list(arguments(case).values()))
    except KuiperError as error:
        return str(error)
    expected = outputs_of(case)
    found = [difference(case, theirs, np.asarray(ours)) for theirs, ours in zip(expected, got, strict=True)]
    return "; ".join(filter(None, found))


def opsets(outcomes: Iterable[Outcome]) -> str:
    """The operator sets of tests.

    >>> opsets([Outcome("a", "Add", 13, ""), Outcome("b", "Add", 14, ""), Outcome("c", "Add", 7, "")])
    '7, 13, 14'
    """
    return ", ".join(map(str, sorted({one.opset for one in outcomes})))


def counted(outcomes: list[Outcome]) -> str:
    """How many pass.

    >>> counted([Outcome("a", "Add", 13, ""), Outcome("b", "Add", 14, "no")])
    '1 of 2'
    """
    return f"{sum(not one.reason for one in outcomes)} of {len(outcomes)}" if outcomes else "-"


def light_networks(outcomes: list[Outcome]) -> str:
    """The networks that the package has, and how many of them pass."""
    names = ", ".join(f"`{one.name}`" for one in outcomes)
    return "\n".join([
        "## Light networks\n",
        f"{counted(outcomes)} networks of the package (`onnx/backend/test/data/light`) pass. They are of opset",
        f"{opsets(outcomes)}. Their nodes and sizes are those of the real networks, but each weight is filled",
        "with one number, so most outputs are the same for all classes. The package has no inputs for them: these are",
        "a ramp from 0 to 1, as in onnx's own runner.\n",
        f"{names}\n",
    ])  # fmt: skip


def left_out() -> str:
    """What kuiper does not take up."""
    counts = Counter(excluded(case) for case in collected())
    lines = ["## Left out\n", "| | operators | tests |", "|---|---|---:|"]
    for reason, names in EXCLUDED.items():
        lines.append(f"| {reason} | {', '.join(f'`{name}`' for name in sorted(names))} | {counts[reason]} |")
    return "\n".join([*lines, ""])


def failures(outcomes: list[Outcome]) -> str:
    """Every test that fails, with the reason."""
    failed = sorted((one for one in outcomes if one.reason), key=lambda one: one.name)
    lines = ["## Tests that fail\n", "| test | reason |", "|---|---|"]
    lines += [f"| `{one.name}` | {reason_of(one, REASONS)} |" for one in failed]
    return "\n".join([*lines, ""])


def reason_of(outcome: Outcome, reasons: Mapping[str, str]) -> str:
    """Why a test fails: in words, or what the run said."""
    known = [reason for start, reason in reasons.items() if outcome.name.startswith(start)]
    said = printable(outcome.reason[:200]).replace("|", "\\|")
    return known[0] if known else said


if __name__ == "__main__":
    sys.exit(main())
