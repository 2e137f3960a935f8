"""Exercise 4.7."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st
from kuiper.expression import evaluate, parse, reverse_polish

INPUT, CONSTANT, ADD, SUB, MUL, NEG, SIN = range(7)
CODES = {"add": ADD, "sub": SUB, "mul": MUL, "neg": NEG, "sin": SIN}
TEXTS = st.recursive(
    st.sampled_from(["@0", "@1", "@2", "2.0", "-0.5"]),
    lambda texts: (
        st.builds("{}({})".format, st.sampled_from(["neg", "sin"]), texts)
        | st.builds("{}({},{})".format, st.sampled_from(["add", "sub", "mul"]), texts, texts)
    ),
    max_leaves=8,
)


def floats(values):
    return np.array(values, np.float32)


def program(*steps):
    """Rows of (code, number); a code alone has the number 0."""
    return np.array([step if isinstance(step, tuple) else (step, 0) for step in steps], np.int32)


NO_CONSTANTS = np.zeros(0, np.float32)
INPUTS = floats([[1, -2, 3], [10, 20, 40]])


def test_fused(impl):
    out = np.zeros(3, np.float32)
    calling(impl.fused, floats([1, -2, 3]), floats([10, 20, 40]), 2, 3, out).fills(out, [36, 48, 138])


def test_fused_with_fractions(impl):
    out = floats([100, 200])
    calling(impl.fused, floats([1, 3]), floats([0.25, 0]), 0.5, -1.5, out).fills(out, [-1.125, -2.25])


@pytest.mark.parametrize("length", [0, 1, 17])
def test_fused_of_length(impl, length):
    x = np.arange(length, dtype=np.float32)
    out = np.full(length, -1, np.float32)
    calling(impl.fused, x, x[::-1].copy(), 3, -2, out).fills(out, (3 * x + x[::-1]) * -2)


def test_fused_with_gaps_in_memory(impl):
    x, y = np.arange(8, dtype=np.float32)[::2], np.arange(12, dtype=np.float32)[::3]
    out = np.zeros(4, np.float32)
    calling(impl.fused, x, y, 10, 2, out).fills(out, [0, 46, 92, 138])


def test_fused_into_its_input(impl):
    calling(fused_over_x, impl, floats([1, -2, 3]), floats([10, 20, 40])).gives(floats([36, 48, 138]))


def fused_over_x(impl, x, y):
    out = x.copy()
    impl.fused(out, y, 2, 3, out)
    return out


def test_fused_into_y(impl):
    calling(fused_over_y, impl, floats([1, -2, 3]), floats([10, 20, 40])).gives(floats([36, 48, 138]))


def fused_over_y(impl, x, y):
    out = y.copy()
    impl.fused(x, out, 2, 3, out)
    return out


def test_fused_in_float32(impl):
    # 16777216 + 1 has no float32 of its own: in double it would be 16777217, three times that 50331651, rounded 50331652.
    out = np.zeros(2, np.float32)
    calling(impl.fused, floats([16777216, 1]), floats([1, 16777216]), 1, 3, out).fills(out, [50331648, 50331648])


@pytest.mark.parametrize(("code", "number"), [(ADD, 0), (SUB, 0), (MUL, 16785408)])
def test_run_in_float32(impl, code, number):
    """16777216 + 1, 16777216 - (-1) and 4097 * 4097, and then: what is left of it if the first is taken away?"""
    x = 4097 if code == MUL else 16777216
    other = {ADD: 1, SUB: -1, MUL: 4097}[code]
    out = np.zeros(2, np.float32)
    steps = program((INPUT, 0), (CONSTANT, 0), code, (CONSTANT, 1), SUB)
    constants = floats([other, number or x])
    calling(impl.run, steps, constants, floats([[x, x]]), out).fills(out, [0, 0])


def test_run_sin_in_float32(impl):
    out = np.zeros(1, np.float32)
    steps = program((INPUT, 0), (CONSTANT, 0), MUL, SIN)
    expected = [np.sin(float(np.float32(0.1) * np.float32(1e6)))]
    calling(impl.run, steps, floats([0.1]), floats([[1e6]]), out).fills(out, expected, tolerance=1e-5)


def test_run_with_nan_and_infinity(impl):
    out = np.zeros(4, np.float32)
    inputs = floats([[np.nan, np.inf, -np.inf, 1]])
    calling(impl.run, program((INPUT, 0), NEG), NO_CONSTANTS, inputs, out).fills(out, [np.nan, -np.inf, np.inf, -1])
    steps = program((INPUT, 0), (CONSTANT, 0), MUL)
    calling(impl.run, steps, floats([0]), inputs, out).fills(out, [np.nan, np.nan, np.nan, 0])


def test_run_an_input(impl):
    out = np.zeros(3, np.float32)
    calling(impl.run, program((INPUT, 1)), NO_CONSTANTS, INPUTS, out).fills(out, [10, 20, 40])


def test_run_a_constant(impl):
    out = floats([7, 7, 7])
    calling(impl.run, program((CONSTANT, 2)), floats([9, 9, -1.5]), INPUTS, out).fills(out, [-1.5, -1.5, -1.5])


def test_run_add(impl):
    out = floats([100, 200, 300])
    calling(impl.run, program((INPUT, 0), (INPUT, 1), ADD), NO_CONSTANTS, INPUTS, out).fills(out, [11, 18, 43])


def test_run_sub_knows_its_arguments_apart(impl):
    out = np.zeros(3, np.float32)
    calling(impl.run, program((INPUT, 1), (INPUT, 0), SUB), NO_CONSTANTS, INPUTS, out).fills(out, [9, 22, 37])


def test_run_mul(impl):
    out = np.zeros(3, np.float32)
    calling(impl.run, program((INPUT, 0), (CONSTANT, 1), MUL), floats([9, 2.5]), INPUTS, out).fills(out, [2.5, -5, 7.5])


def test_run_neg(impl):
    out = np.zeros(3, np.float32)
    calling(impl.run, program((INPUT, 0), NEG), NO_CONSTANTS, INPUTS, out).fills(out, [-1, 2, -3])


def test_run_sin(impl):
    out = np.zeros(3, np.float32)
    expected = [0.84147098, -0.90929743, 0.14112001]
    calling(impl.run, program((INPUT, 0), SIN), NO_CONSTANTS, INPUTS, out).fills(out, expected, tolerance=1e-6)


def test_run_the_worked_example(impl):
    out = np.zeros(3, np.float32)
    steps = program((INPUT, 0), (CONSTANT, 0), MUL, (INPUT, 1), ADD)
    inputs = floats([[1, 2, 3], [10, 20, 30]])
    calling(impl.run, steps, floats([2.5]), inputs, out).fills(out, [12.5, 25, 37.5])


def test_run_changes_only_the_top(impl):
    out = np.zeros(3, np.float32)
    steps = program((INPUT, 1), (CONSTANT, 0), (INPUT, 0), NEG, MUL, SUB)  # sub(@1,mul(5,neg(@0)))
    calling(impl.run, steps, floats([5]), INPUTS, out).fills(out, [15, 10, 55])


def test_run_right_then_left(impl):
    out = np.zeros(3, np.float32)
    steps = program((INPUT, 0), (INPUT, 1), SUB, (INPUT, 1), (CONSTANT, 1), ADD, MUL, NEG)
    calling(impl.run, steps, floats([0, 2]), INPUTS, out).fills(out, [108, 484, 1554])


def test_run_sixteen_deep(impl):
    inputs = np.arange(32, dtype=np.float32).reshape(16, 2) ** 2
    out = np.zeros(2, np.float32)
    steps = program(*[(INPUT, k) for k in range(16)], *[SUB] * 15)  # x0 - (x1 - (x2 - ...))
    calling(impl.run, steps, NO_CONSTANTS, inputs, out).fills(out, alternating(inputs))


def alternating(inputs):
    signs = np.where(np.arange(len(inputs)) % 2 == 0, 1, -1)
    return (signs[:, None] * inputs).sum(axis=0).astype(np.float32)


@pytest.mark.parametrize("length", [0, 1, 17])
def test_run_of_length(impl, length):
    inputs = np.arange(2 * length, dtype=np.float32).reshape(2, length)
    out = np.full(length, -1, np.float32)
    steps = program((INPUT, 0), (INPUT, 0), MUL, (INPUT, 1), SUB)
    calling(impl.run, steps, NO_CONSTANTS, inputs, out).fills(out, inputs[0] * inputs[0] - inputs[1])


def test_run_with_gaps_in_memory(impl):
    inputs = np.arange(24, dtype=np.float32).reshape(4, 6)[::2, ::2]
    out = np.zeros(3, np.float32)
    calling(impl.run, program((INPUT, 1), (INPUT, 0), SUB), NO_CONSTANTS, inputs, out).fills(out, [12, 12, 12])


@pytest.mark.parametrize("row", [0, 1])
def test_run_into_an_input(impl, row):
    steps = program((INPUT, 0), (INPUT, 1), MUL, (INPUT, 0), SUB, (INPUT, 1), ADD)  # x y - x + y
    calling(run_over_an_input, impl, steps, INPUTS, row).gives(floats([19, -18, 157]))


def run_over_an_input(impl, steps, inputs, row):
    memory = inputs.copy()
    impl.run(steps, np.zeros(0, np.float32), memory, memory[row])
    return memory[row]


@given(text=TEXTS)
def test_run_as_the_engine_does(impl, text):
    inputs = floats([[1, -2, 3, 0], [0.5, 4, -1, 0], [2, 2, -3, 1]])
    nodes = [node.label for node in reverse_polish(parse(text))]
    constants = [label for label in nodes if label not in CODES and label[0] != "@"]
    steps, used = [], 0
    for label in nodes:
        if label in CODES:
            steps.append(CODES[label])
        elif label[0] == "@":
            steps.append((INPUT, int(label[1:])))
        else:
            steps.append((CONSTANT, used))
            used += 1
    out = np.zeros(4, np.float32)
    expected = np.broadcast_to(np.asarray(evaluate(text, list(inputs)), np.float32), 4)
    calling(impl.run, program(*steps), floats([float(c) for c in constants]), inputs, out).fills(
        out, expected, tolerance=1e-4
    )


def speed(impl):
    """Not a test: what the report says of the speed when all tests pass.

    Of ``run`` it says nothing: NumPy, which asks once what a step is for all elements, is faster there than one pass.
    The arrays are larger than a cache, so that each pass over memory takes its time.
    """
    from kuiper.machine.stopwatch import best_seconds

    x, y = np.random.default_rng(1).random((2, 8_000_000), np.float32)
    out = np.zeros_like(x)
    return best_seconds(lambda: impl.fused(x, y, 2.0, 3.0, out)), 3 * out.size, "FLOP"
