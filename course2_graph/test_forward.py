"""Exercise 2.8."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import kuiper
from kuiper.course import calling, same
from kuiper.language import translate

DATA = Path(__file__).parent / "data"
PARAM = (DATA / "test_linear.pnnx.param").read_text(encoding="utf-8")
BIN = str(DATA / "test_linear.pnnx.bin")

# One operand has two readers, one operator reads two operands, and one reads the same operand twice.
BRANCHES = [
    "pnnx.Input in 0 1 x #x=(2,3)f32",
    "my.Double double 1 1 x a #a=(2,3)f32",
    "my.Square square 1 1 x b #b=(2,3)f32",
    "my.Subtract subtract 2 1 a b c #c=(2,3)f32",
    "my.Subtract nothing 2 1 c c d #d=(2,3)f32",
    "my.Subtract again 2 1 c d e #e=(2,3)f32",
    "pnnx.Output out 1 0 e",
]
SPLIT = [
    "pnnx.Input left 0 1 x #x=(4)f32",
    "pnnx.Input right 0 1 y #y=(2)f32",
    "my.Halves halves 1 2 x p q #p=(2)f32 #q=(2)f32",
    "my.Subtract subtract 2 1 q y r #r=(2)f32",
    "pnnx.Output out 3 0 r p y",
]
X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)


def places_after(impl, lines, name, arrays):
    """The places after one operator has handed on, as lists; and which of them hold the very arrays that were given."""
    from kuiper.course import load_exercise

    graph = load_exercise("2.5").connect([load_exercise("2.1").parse_line(line) for line in lines])
    places = impl.empty_places(graph.operators)
    impl.hand_on(graph.operator(name), arrays, places)
    return {op: [None if array is None else array.tolist() for array in held] for op, held in places.items()}


def places_after_a_change(impl, lines, name, array):
    """The places after one operator has handed on an array whose first number is then changed to 99."""
    from kuiper.course import load_exercise

    graph = load_exercise("2.5").connect([load_exercise("2.1").parse_line(line) for line in lines])
    array, places = array.copy(), impl.empty_places(graph.operators)
    impl.hand_on(graph.operator(name), [array], places)
    array[0, 0] = 99
    return [held.tolist() for slots in places.values() for held in slots if held is not None]


def memory_of(impl, lines):
    """The shapes of the reserved arrays by name, their type, and how many pieces of memory they lie in."""
    from kuiper.course import load_exercise

    graph = load_exercise("2.5").connect([load_exercise("2.1").parse_line(line) for line in lines])
    arrays = impl.reserve(impl.running_order(graph))
    apart = []
    for array in arrays.values():
        if not any(np.shares_memory(array, other) for other in apart):
            apart.append(array)
    return {name: array.shape for name, array in arrays.items()}, {str(a.dtype) for a in arrays.values()}, len(apart)


def runs(impl, lines, batches, order=None, kept=()):
    """The answers of one run for each batch of inputs, all in one memory; what ``kept`` names is read from that memory."""
    from kuiper.course import load_exercise

    def fail(x):
        raise KeyError("no weights")

    layers = {
        "my.Double": lambda x: 2 * x,
        "my.Square": lambda x: x * x,
        "my.Subtract": lambda x, y: x - y,
        "my.Halves": lambda x: (x[: len(x) // 2], x[len(x) // 2 :]),
        "my.Three": lambda x: (x, x, x),
        "my.Row": lambda x: x[:1],
        "my.Same": lambda x: x,
        "my.Fail": fail,
    }
    graph = load_exercise("2.5").connect([load_exercise("2.1").parse_line(line) for line in lines])
    plan = impl.running_order(graph)
    memory = impl.reserve(plan)
    if order:
        plan = [graph.operator(name) for name in order]
    named = {op.name: layers[op.type] for op in graph.operators if op.type in layers}
    answers = [impl.forward(plan, named, memory, inputs) for inputs in batches]
    return [memory[name].copy() for name in kept] if kept else answers


def calls(impl, lines, inputs):
    """The names of the layers in the order of their calls, with the numbers that each was given."""
    from kuiper.course import load_exercise

    log = []
    graph = load_exercise("2.5").connect([load_exercise("2.1").parse_line(line) for line in lines])
    plan = impl.running_order(graph)

    def layer(op):
        def call(*arrays):
            log.append((op.name, [float(array.sum()) for array in arrays]))
            return arrays[0] + 1

        return call

    named = {op.name: layer(op) for op in graph.operators if not op.type.startswith("pnnx.")}
    impl.forward(plan, named, impl.reserve(plan), inputs)
    return log


def cause(impl):
    """The type of the error in a layer that a RuntimeError names as its cause."""
    from kuiper.course import load_exercise

    def fail(x):
        raise KeyError("no weights")

    lines = ["pnnx.Input in 0 1 x #x=(2)f32", "my.Fail broken 1 1 x a #a=(2)f32", "pnnx.Output out 1 0 a"]
    graph = load_exercise("2.5").connect([load_exercise("2.1").parse_line(line) for line in lines])
    plan = impl.running_order(graph)
    try:
        impl.forward(plan, {"broken": fail}, impl.reserve(plan), [np.zeros(2, np.float32)])
    except RuntimeError as error:
        return type(error.__cause__).__name__


def linear(impl, text, bin_path, x):
    """sigmoid(linear(x)) on your own reader, graph, schedule and memory; the two layers are NumPy's."""
    from kuiper.course import load_exercise

    lines = load_exercise("2.1").read_operators(text)
    graph = load_exercise("2.5").connect(lines)
    attrs = {line.name: load_exercise("2.3").read_attributes(bin_path, line.name, line.attrs) for line in lines}
    weight, bias = attrs["linear"]["weight"].data, attrs["linear"]["bias"].data
    layers = {"linear": lambda x: x @ weight.T + bias, "F.sigmoid_0": lambda x: 1 / (1 + np.exp(-x))}
    order = impl.running_order(graph)
    return impl.forward(order, layers, impl.reserve(order), [x])


def test_hand_on_to_all_readers(impl):
    calling(places_after, impl, BRANCHES[:4], "in", [X]).gives(
        {"in": [], "double": [X.tolist()], "square": [X.tolist()], "subtract": [None, None]}
    )


def test_hand_on_into_the_place_of_the_operand(impl):
    calling(places_after, impl, BRANCHES[:4], "square", [X]).gives(
        {"in": [], "double": [None], "square": [None], "subtract": [None, X.tolist()]}
    )


def test_hand_on_into_both_places(impl):
    expected = {"in": [], "double": [None], "square": [None], "subtract": [None, None]}
    expected |= {"nothing": [X.tolist()] * 2, "again": [X.tolist(), None], "out": [None]}
    calling(places_after, impl, BRANCHES, "subtract", [X]).gives(expected)


def test_hand_on_several_outputs(impl):
    p, q = np.array([1, 2], np.float32), np.array([3, 4], np.float32)
    calling(places_after, impl, SPLIT, "halves", [p, q]).gives(
        {"left": [], "right": [], "halves": [None], "subtract": [q.tolist(), None], "out": [None, p.tolist(), None]}
    )


@pytest.mark.parametrize("count", [1, 3])
def test_hand_on_wants_an_array_for_each_output(impl, count):
    calling(places_after, impl, SPLIT, "halves", [np.array([1, 2], np.float32)] * count).raises(ValueError)


def test_hand_on_copies_nothing(impl):
    changed = [[99.0, *X[0, 1:].tolist()], X[1].tolist()]
    calling(places_after_a_change, impl, BRANCHES, "in", X).gives([changed, changed])


def test_reserve_what_is_computed(impl):
    calling(memory_of, impl, SPLIT).gives(({"p": (2,), "q": (2,), "r": (2,)}, {"float32"}, 3))


def test_reserve_shares_memory(impl):
    chain = ["pnnx.Input in 0 1 0 #0=(2,3)f32"]
    chain += [f"my.Double d{i} 1 1 {i} {i + 1} #{i + 1}=(2,3)f32" for i in range(6)]
    chain += ["pnnx.Output out 1 0 6"]
    calling(memory_of, impl, chain).gives(({str(i): (2, 3) for i in range(1, 7)}, {"float32"}, 2))


EARLY_ANSWER = [
    "pnnx.Input in 0 1 0 #0=(2)f32",
    *(f"my.Double d{i} 1 1 {i} {i + 1} #{i + 1}=(2)f32" for i in range(5)),
    "pnnx.Output out 2 0 1 5",
]


def test_reserve_keeps_what_is_returned(impl):
    calling(memory_of, impl, EARLY_ANSWER).gives(({str(i): (2,) for i in range(1, 6)}, {"float32"}, 3))


@pytest.mark.parametrize("shape", ["", "#hidden=(2,?)f32"])
def test_reserve_names_an_operand_without_a_shape(impl, shape):
    lines = ["pnnx.Input in 0 1 x #x=(2)f32", f"my.Double d 1 1 x hidden {shape}", "pnnx.Output out 1 0 hidden"]
    calling(memory_of, impl, lines).raises(ValueError, "hidden")


def test_forward_a_chain(impl):
    chain = ["pnnx.Input in 0 1 x #x=(2,3)f32", "my.Double d 1 1 x y #y=(2,3)f32", "pnnx.Output out 1 0 y"]
    calling(runs, impl, chain, [[X]]).gives([[2 * X]])


def test_forward_keeps_an_early_answer(impl):
    ones, twos = np.full(2, 1, np.float32), np.full(2, 2, np.float32)
    calling(runs, impl, EARLY_ANSWER, [[ones]]).gives([[twos, np.full(2, 32, np.float32)]])


def test_forward_branches(impl):
    calling(runs, impl, BRANCHES, [[X]]).gives([[2 * X - X * X]])


def test_forward_several_inputs_and_outputs(impl):
    x, y = np.array([1, 2, 3, 5], np.float32), np.array([10, 20], np.float32)
    calling(runs, impl, SPLIT, [[x, y]]).gives([[np.array([-7, -15], np.float32), x[:2], y]])


def test_forward_calls_each_layer_once_with_its_inputs(impl):
    one = np.ones((2, 3), np.float32)
    calling(calls, impl, BRANCHES, [one]).gives(
        [
            ("double", [6.0]),
            ("square", [6.0]),
            ("subtract", [12.0, 12.0]),
            ("nothing", [18.0, 18.0]),
            ("again", [18.0, 24.0]),
        ]
    )


def test_forward_answers_stay(impl):
    calling(runs, impl, BRANCHES, [[X], [X + 1]]).gives([[2 * X - X * X], [2 * (X + 1) - (X + 1) * (X + 1)]])


def test_forward_answer_is_no_input(impl):
    lines = ["pnnx.Input in 0 1 x #x=(2)f32", "pnnx.Output out 2 0 x x"]
    calling(answer_after_a_change_of_the_input, impl, lines).gives([[1.0, 2.0], [1.0, 2.0]])


def answer_after_a_change_of_the_input(impl, lines):
    from kuiper.course import load_exercise

    graph = load_exercise("2.5").connect([load_exercise("2.1").parse_line(line) for line in lines])
    x = np.array([1, 2], np.float32)
    answer = impl.forward(graph.operators, {}, {}, [x])
    x[:] = 0
    return [array.tolist() for array in answer]


def test_forward_writes_into_the_memory(impl):
    chain = [
        "pnnx.Input in 0 1 x #x=(2,3)f32",
        "my.Double d 1 1 x y #y=(2,3)f32",
        "my.Same s 1 1 y z #z=(2,3)f32",
        "pnnx.Output out 1 0 z",
    ]
    calling(runs, impl, chain, [[X]], kept=["y", "z"]).gives([2 * X, 2 * X])


def test_forward_leaves_its_inputs(impl):
    x = X.copy()
    calling(runs, impl, BRANCHES, [[x]]).gives([[2 * X - X * X]])
    same(translate("the input after the run"), x, X)


@pytest.mark.parametrize("inputs", [[], [X, X]])
def test_forward_wants_every_input(impl, inputs):
    calling(runs, impl, BRANCHES, [inputs]).raises(ValueError, "input")


def test_forward_names_the_input_of_another_shape(impl):
    lines = ["pnnx.Input photo 0 1 x #x=(2,3)f32", "my.Double d 1 1 x y #y=(2,3)f32", "pnnx.Output out 1 0 y"]
    calling(runs, impl, lines, [[np.zeros((3, 2), np.float32)]]).raises(ValueError, "photo")
    calling(runs, impl, lines, [[np.zeros((1, 3), np.float32)]]).raises(ValueError, "photo")


def test_forward_takes_any_size_where_none_is_given(impl):
    lines = ["pnnx.Input photo 0 1 x #x=(?,3)f32", "my.Double d 1 1 x y #y=(2,3)f32", "pnnx.Output out 1 0 y"]
    calling(runs, impl, lines, [[X]]).gives([[2 * X]])
    calling(runs, impl, [lines[0].partition(" #")[0], *lines[1:]], [[X]]).gives([[2 * X]])


def test_forward_names_the_operator_that_is_not_ready(impl):
    order = ["in", "double", "subtract", "square", "nothing", "again", "out"]
    calling(runs, impl, BRANCHES, [[X]], order).raises(ValueError, "subtract")


def test_forward_names_the_operator_that_fails(impl):
    lines = ["pnnx.Input in 0 1 x #x=(2)f32", "my.Fail broken 1 1 x a #a=(2)f32", "pnnx.Output out 1 0 a"]
    calling(runs, impl, lines, [[np.zeros(2, np.float32)]]).raises(RuntimeError, "broken: ")
    calling(runs, impl, lines, [[np.zeros(2, np.float32)]]).raises(RuntimeError, "no weights")
    calling(cause, impl).gives("KeyError")


@pytest.mark.parametrize("kind", ["my.Row", "my.Three"])
def test_forward_names_the_operator_with_another_result(impl, kind):
    lines = ["pnnx.Input in 0 1 x #x=(2,3)f32", f"{kind} culprit 1 1 x a #a=(2,3)f32", "pnnx.Output out 1 0 a"]
    calling(runs, impl, lines, [[X]]).raises(ValueError, "culprit")


def test_forward_names_the_operator_with_too_few_results(impl):
    lines = [
        "pnnx.Input in 0 1 x #x=(2,3)f32",
        "my.Same culprit 1 2 x a b #a=(2,3)f32 #b=(2,3)f32",
        "pnnx.Output out 2 0 a b",
    ]
    calling(runs, impl, lines, [[X]]).raises(ValueError, "culprit")


def test_forward_of_test_linear(impl):
    x = np.linspace(-2, 2, 32, dtype=np.float32).reshape(1, 32)
    expected = np.asarray(kuiper.load(DATA / "test_linear.pnnx.param", optimize=False)(x))
    calling(linear, impl, PARAM, BIN, x).gives([expected], tolerance=1e-6)
