"""The node tests and light networks of the onnx package, on kuiper: ``python -m tests.onnx.conformance [WORD ...]``.

Each word limits the run to operators of this name, or to one test; ``light`` are the networks. ``--verbose`` prints the
first line of each failure.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import onnx

from kuiper.errors import KuiperError
from kuiper.models.onnx import backend

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

EXCLUDED = {
    "strings": {"StringNormalizer", "StringSplit", "StringConcat", "RegexFullMatch", "TfIdfVectorizer", "LabelEncoder"},
    "sequences": {
        "SequenceInsert",
        "SequenceMap",
        "SequenceAt",
        "SequenceConstruct",
        "SequenceEmpty",
        "SequenceErase",
        "SequenceLength",
        "SplitToSequence",
        "ConcatFromSequence",
        "Optional",
        "OptionalHasElement",
        "OptionalGetElement",
    },
    "training": {"Momentum", "Adagrad", "Adam", "Gradient"},
    "classical ML": {"ArrayFeatureExtractor", "Binarizer", "TreeEnsemble"},
    "pictures in files": {"ImageDecoder"},
}
"""What kuiper does not take up, by reason: operators."""

LIGHT = "light"
"""What a light network is a test of."""


class Outcome(NamedTuple):
    """How a test ended: ``reason`` is "" if it passed."""

    name: str
    operator: str
    opset: int
    reason: str


def cases(words: Iterable[str] = ()) -> Iterator[Any]:
    """The test cases of these operators, or of all that kuiper takes up."""
    wanted = set(words)
    for case in collected():
        if wanted and not wanted & {case.name, operator_of(case)}:
            continue
        if excluded(case) is None:
            yield case
    yield from (case for case in light() if not wanted or wanted & {case.name, LIGHT})


@cache
def collected() -> list[Any]:
    """All test cases of the onnx package."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(collect_testcases(None))


@cache
def light() -> list[Any]:
    """The light networks: well-known ones, whose weights are one number each and whose outputs are in the package.

    Their input is what onnx's own runner makes up, a ramp from 0 to 1.
    """
    from onnx.backend.test.loader import load_model_tests
    from onnx.backend.test.runner import Runner

    package, found = Path(onnx.__file__).parents[1], []
    for case in sorted(load_model_tests(kind="real"), key=lambda case: case.model_name):
        path = package / (case.url or "")
        if not (case.url or "").startswith("onnx/backend/test/data/light/") or not path.is_file():
            continue
        model = onnx.load(path)
        weights = {tensor.name for tensor in model.graph.initializer}
        given = [info for info in model.graph.input if info.name not in weights]
        inputs = [Runner.generate_dummy_data(info, name=case.model_name) for info in given]
        outputs = [
            onnx.load_tensor(path.with_name(f"{path.stem}_output_{place}.pb"))
            for place in range(len(model.graph.output))
        ]
        found.append(replace(case, name=path.stem, model=model, data_sets=[(inputs, outputs)], kind=LIGHT))
    return found


def operator_of(case: Any) -> str:
    """The operator that a test is about; of one that spells it out by others, the name of the test it belongs to."""
    if case.kind == LIGHT:
        return LIGHT
    return operators_of(case)[0] if len(case.model.graph.node) == 1 else case.name.split("_expanded")[0]


def operators_of(case: Any) -> list[str]:
    """The operator types of a test, bodies included."""
    waiting, types = [case.model.graph], []
    while waiting:
        for node in waiting.pop().node:
            types.append(node.op_type)
            waiting += [one.g for one in node.attribute if one.HasField("g")]
    return types


def excluded(case: Any) -> str | None:
    """Why a test is left out, if it is."""
    kinds = set(operators_of(case))
    for reason, types in EXCLUDED.items():
        if kinds & types:
            return reason
    values = [*case.model.graph.input, *case.model.graph.output]
    for info in values:
        if not info.type.HasField("tensor_type"):
            return "sequences"
        if info.type.tensor_type.elem_type == 8:
            return "strings"
    return None


def run(case: Any) -> Outcome:
    """Run one test on kuiper, optimised and readable."""
    opset = max((entry.version for entry in case.model.opset_import if entry.domain in ("", "ai.onnx")), default=0)
    reason = ""
    try:
        for optimize in (True, False):
            for inputs, expected in case.data_sets:
                got = backend.prepare(case.model, optimize=optimize).run(list(map(array_of, inputs)))
                reason = reason or difference(list(map(array_of, expected)), got, case)
    except KuiperError as error:
        reason = str(error)
    except Exception as error:
        reason = f"CRASH {type(error).__name__}: {error}"
    return Outcome(case.name, operator_of(case), opset, reason)


def array_of(value: Any) -> Any:
    """A tensor of a test case, some of which are protobufs, as an array."""
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def difference(expected: Any, got: Any, case: Any) -> str:
    """What the outputs do not have in common with those of onnx, in the tolerance of onnx's own runner."""
    if len(expected) != len(got):
        return f"expected {len(expected)} outputs, got {len(got)}"
    for place, (theirs, ours) in enumerate(zip(expected, got, strict=True)):
        theirs, ours = np.asarray(theirs), np.asarray(ours)
        if theirs.dtype != ours.dtype or theirs.shape != ours.shape:
            return f"output {place}: expected {theirs.dtype} {theirs.shape}, got {ours.dtype} {ours.shape}"
        if theirs.dtype.kind not in "fiubc":
            theirs, ours = theirs.astype(np.float32), ours.astype(np.float32)
        if not np.allclose(theirs, ours, rtol=case.rtol, atol=case.atol, equal_nan=True):
            return f"output {place}: expected {theirs.ravel()[:4]}, got {ours.ravel()[:4]}"
    return ""


def main(arguments: list[str] | None = None) -> int:
    """Run the tests and print how they ended, by operator."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="operators or tests")
    parser.add_argument("--verbose", action="store_true", help="print why each test failed")
    options = parser.parse_args(arguments)
    os.environ.setdefault("KUIPER_STRICT", "1")
    outcomes = [run(case) for case in cases(options.words)]
    by_operator: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_operator[outcome.operator].append(outcome)
    for operator, group in sorted(by_operator.items()):
        failed = [outcome for outcome in group if outcome.reason]
        if failed:
            print(f"{operator}: {len(group) - len(failed)} of {len(group)}")
            if options.verbose:
                for outcome in failed:
                    print(f"    {outcome.name}: {outcome.reason[:200]}")
    passed = sum(not outcome.reason for outcome in outcomes)
    print(f"{passed} of {len(outcomes)} passed ({passed / max(len(outcomes), 1):.1%})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
