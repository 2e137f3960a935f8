"""Exercise 2.6."""

from __future__ import annotations

import pytest

from kuiper.course import calling, same
from kuiper.course.properties import given, st
from kuiper.errors import ModelFormatError
from kuiper.language import translate

# A graph is a list of (operator, what it reads), in the order of the file; "split:1" is the second output of split.
CHAIN = [("in", []), ("conv", ["in"]), ("relu", ["conv"]), ("out", ["relu"])]
BRANCHES = [
    ("in", []),
    ("a1", ["in"]),
    ("b1", ["in"]),
    ("a2", ["a1"]),
    ("b2", ["b1"]),
    ("b3", ["b2"]),
    ("add", ["a2", "b3"]),
    ("out", ["add"]),
]
SKIP = [("in", []), ("late", ["in", "c"]), ("a", ["in"]), ("b", ["a"]), ("c", ["b"]), ("out", ["late"])]
TWO_INPUTS = [("x", []), ("y", []), ("a", ["x"]), ("b", ["y"]), ("c", ["b"]), ("add", ["a", "c"]), ("out", ["add"])]
TWICE = [("in", []), ("split", ["in"]), ("cat", ["split", "split:1", "split"]), ("mul", ["cat", "cat"])]
SEPARATE = [("a", []), ("b", ["a"]), ("c", []), ("d", ["c"]), ("alone", [])]
CIRCLES = [
    [("a", ["b"]), ("b", ["a"])],
    [("in", []), ("a", ["in", "c"]), ("b", ["a"]), ("c", ["b"]), ("out", ["c"])],
    [("in", []), ("out", ["in"]), ("a", ["c"]), ("b", ["a"]), ("c", ["b"])],
    [("in", []), ("self", ["in", "self"])],
]


def order(impl, function, nodes):
    """Build the graph, ask for an order, and return it as names."""
    from kuiper.graph.pnnx import DataType
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

    operators = {name: RuntimeOperator("x.Y", name) for name, _ in nodes}
    operands = {}
    for name in dict.fromkeys([*operators, *(read for _, reads in nodes for read in reads)]):
        producer = operators[name.split(":")[0]]
        operands[name] = RuntimeOperand(name, len(operands), None, DataType.F32, producer)
        producer.outputs.append(operands[name])
    for name, reads in nodes:
        operators[name].inputs = [operands[read] for read in reads]
        for read in dict.fromkeys(reads):
            operands[read].consumers.append(operators[name])
    return [op.name for op in getattr(impl, function)(list(operators.values()))]


@pytest.mark.parametrize("function", ["queue_order", "depth_first_order"])
def test_chain(impl, function):
    calling(order, impl, function, CHAIN).gives(["in", "conv", "relu", "out"])


def test_queue_takes_branches_in_turns(impl):
    calling(order, impl, "queue_order", BRANCHES).gives(["in", "a1", "b1", "a2", "b2", "b3", "add", "out"])


def test_depth_first_takes_branches_one_by_one(impl):
    calling(order, impl, "depth_first_order", BRANCHES).gives(["in", "a1", "a2", "b1", "b2", "b3", "add", "out"])


@pytest.mark.parametrize("function", ["queue_order", "depth_first_order"])
def test_operator_waits_for_all_its_inputs(impl, function):
    calling(order, impl, function, SKIP).gives(["in", "a", "b", "c", "late", "out"])


def test_queue_with_two_inputs(impl):
    calling(order, impl, "queue_order", TWO_INPUTS).gives(["x", "y", "a", "b", "c", "add", "out"])


def test_depth_first_with_two_inputs(impl):
    calling(order, impl, "depth_first_order", TWO_INPUTS).gives(["x", "a", "y", "b", "c", "add", "out"])


@pytest.mark.parametrize("function", ["queue_order", "depth_first_order"])
def test_operator_that_reads_twice(impl, function):
    calling(order, impl, function, TWICE).gives(["in", "split", "cat", "mul"])


def test_queue_with_separate_parts(impl):
    calling(order, impl, "queue_order", SEPARATE).gives(["a", "c", "alone", "b", "d"])


def test_depth_first_with_separate_parts(impl):
    calling(order, impl, "depth_first_order", SEPARATE).gives(["a", "b", "c", "d", "alone"])


@pytest.mark.parametrize("function", ["queue_order", "depth_first_order"])
def test_file_in_reverse(impl, function):
    calling(order, impl, function, CHAIN[::-1]).gives(["in", "conv", "relu", "out"])


def test_queue_branches_in_reverse(impl):
    calling(order, impl, "queue_order", BRANCHES[::-1]).gives(["in", "b1", "a1", "b2", "a2", "b3", "add", "out"])


def test_depth_first_branches_in_reverse(impl):
    calling(order, impl, "depth_first_order", BRANCHES[::-1]).gives(["in", "b1", "b2", "b3", "a1", "a2", "add", "out"])


@pytest.mark.parametrize("function", ["queue_order", "depth_first_order"])
def test_nothing(impl, function):
    calling(order, impl, function, []).gives([])


@pytest.mark.parametrize("function", ["queue_order", "depth_first_order"])
@pytest.mark.parametrize("nodes", CIRCLES, ids=["pure", "with ends", "beside", "one"])
def test_circle(impl, function, nodes):
    calling(order, impl, function, nodes).raises(ModelFormatError, "circle")


@pytest.mark.parametrize("function", ["queue_order", "depth_first_order"])
def test_long_chain(impl, function):
    calling(long_chain, impl, function, 3000).gives([str(i) for i in range(3000)])


def long_chain(impl, function, length):
    """The order of a chain of this many operators."""
    from itertools import pairwise

    from kuiper.graph.pnnx import DataType
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

    operators = [RuntimeOperator("x.Y", str(i)) for i in range(length)]
    for op, following in pairwise(operators):
        operand = RuntimeOperand(op.name, 0, None, DataType.F32, op, [following])
        op.outputs, following.inputs = [operand], [operand]
    return [op.name for op in getattr(impl, function)(operators)]


def growth(impl, function, shape, count):
    """The lines of Python that run until the order of this many operators is known, and of four times as many."""
    import sys

    from kuiper.graph.pnnx import DataType
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

    class Name(str):
        """A name that is compared by a line of Python, so that every comparison counts."""

        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            return str.__eq__(self, other)

    class Operator(RuntimeOperator):
        """An operator that is compared by a line of Python, too: ``in`` and ``index`` compare one after the other."""

        __hash__ = RuntimeOperator.__hash__

        def __eq__(self, other):
            return object.__eq__(self, other)

    def reads(shape, i, count):
        """The operators that operator i reads."""
        if shape == "chain":
            return [i - 1] if i else []
        if shape == "ladder":  # from the first to the last there are more ways than atoms in the universe
            return [j for j in (i - 2, i - 1) if j >= 0]
        return [] if i == 0 else [0] if i < count - 1 else list(range(1, i))  # "star": many between two

    def steps(count):
        operators = [Operator("x.Y", Name(f"n{i}")) for i in range(count)]
        for i, op in enumerate(operators):
            op.outputs = [RuntimeOperand(op.name, i, None, DataType.F32, op)]
            for j in reads(shape, i, count):
                op.inputs.append(operators[j].outputs[0])
                operators[j].outputs[0].consumers.append(op)
        most, seen = 20_000 + 2_000 * count, 0

        def watch(frame, event, argument):
            nonlocal seen
            seen += 1
            if seen > most:
                raise RuntimeError(f"no order of {count} operators after {most} steps")
            return watch

        before = sys.gettrace()
        sys.settrace(watch)
        try:
            getattr(impl, function)(operators)
        finally:
            sys.settrace(before)
        return seen

    return steps(count), steps(4 * count)


def in_proportion(few, many):
    """What is said of the steps for a graph, and for one four times as large."""
    if 0 < few <= many < 6 * few:
        return translate("in proportion")
    is_faster = 0 < few <= many < 10 * few
    return translate("faster than in proportion") if is_faster else translate("as its square, or worse")


@pytest.mark.parametrize("shape", ["chain", "ladder", "star"])
@pytest.mark.parametrize("function", ["queue_order", "depth_first_order"])
def test_work_grows_with_the_graph(impl, function, shape):
    few, many = calling(growth, impl, function, shape, 100).answer()
    what = translate("{function} of 100 operators and of 400").format(function=function)
    same(what, in_proportion(few, many), translate("in proportion"))


@pytest.mark.parametrize("function", ["queue_order", "depth_first_order"])
def test_operators_of_one_name(impl, function):
    calling(order_of_twins, impl, function).gives([0, 1, 2, 3])


def order_of_twins(impl, function):
    """Four operators of one name and type in a chain: the places in the file of those that come back."""
    from itertools import pairwise

    from kuiper.graph.pnnx import DataType
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

    operators = [RuntimeOperator("nn.ReLU", "same") for _ in range(4)]
    for op, following in pairwise(operators):
        operand = RuntimeOperand("0", 0, None, DataType.F32, op, [following])
        op.outputs, following.inputs = [operand], [operand]
    places = {id(op): place for place, op in enumerate(operators)}
    return [places[id(op)] for op in getattr(impl, function)(operators)]


@pytest.mark.parametrize("function", ["queue_order", "depth_first_order"])
def test_graph_is_left_as_it_is(impl, function):
    calling(asked_twice, impl, function).gives((["b", "a"], ["a", "b"], ["a", "b"], ["b"], 1))


def asked_twice(impl, function):
    """The list that was given, the order asked for twice, and the edge between a and b afterwards."""
    from kuiper.graph.pnnx import DataType
    from kuiper.graph.runtime_operator import RuntimeOperand, RuntimeOperator

    a, b = RuntimeOperator("x.Y", "a"), RuntimeOperator("x.Y", "b")
    operand = RuntimeOperand("0", 0, None, DataType.F32, a, [b])
    a.outputs, b.inputs = [operand], [operand]
    given = [b, a]
    first, second = getattr(impl, function)(given), getattr(impl, function)(given)
    names = [[op.name for op in ops] for ops in (given, first, second, a.successors)]
    return (*names, len(b.inputs))


def kahn(nodes):
    """Run, again and again, what has become ready first."""
    needed = {name: {read.split(":")[0] for read in reads} for name, reads in nodes}
    done = []
    ready = [name for name, names in needed.items() if not names]
    while ready:
        done.append(ready.pop(0))
        for name, names in needed.items():
            if done[-1] in names and names <= set(done):
                ready.append(name)
    return done


def reverse_post_order(nodes):
    """The textbook's recursion."""
    following = {name: [other for other, reads in nodes if name in reads] for name, _ in nodes}
    finished = []

    def visit(name):
        if name not in finished:
            for other in reversed(following[name]):
                visit(other)
            finished.append(name)

    for name, reads in reversed(nodes):
        if not reads:
            visit(name)
    return finished[::-1]


@given(
    reads=st.lists(st.sets(st.integers(0, 9), max_size=3), min_size=1, max_size=10),
    shuffle=st.randoms(use_true_random=False),
)
def test_any_graph(impl, reads, shuffle):
    nodes = [(f"n{i}", [f"n{j % i}" for j in sorted(numbers)] if i else []) for i, numbers in enumerate(reads)]
    shuffle.shuffle(nodes)
    calling(order, impl, "queue_order", nodes).gives(kahn(nodes))
    calling(order, impl, "depth_first_order", nodes).gives(reverse_post_order(nodes))
