"""Exercise 2.5."""

from __future__ import annotations

import pytest

from kuiper.course import calling, same
from kuiper.course.properties import given, st
from kuiper.language import translate

SUM = [
    "pnnx.Input in 0 1 a #a=(1,8)f32",
    "nn.Conv2d conv 1 1 a b #b=(1,?)f16",
    "torch.add sum 2 1 a b c $self=a $other=b",
    "pnnx.Output out 1 0 c",
]
CAT = ["pnnx.Input in 0 1 x", "torch.cat cat 3 1 x x x y", "torch.add add 2 1 y x z", "pnnx.Output out 1 0 z"]
SPLIT = [
    "pnnx.Input in 0 1 x",
    "torch.split split 1 3 x p q r",
    "nn.ReLU one 1 1 q s",
    "torch.cat two 2 1 r p t",
    "torch.add three 3 1 p s t u",
    "nn.ReLU four 1 1 p v",
    "pnnx.Output out 2 0 u v",
]


def producers(impl, texts):
    """The producer of each operand."""
    from kuiper.course import load_exercise

    graph = impl.connect([load_exercise("2.1").parse_line(text) for text in texts])
    return {operand.name: operand.producer.name for operand in graph.operands}


def consumers(impl, texts):
    """The consumers of each operand."""
    from kuiper.course import load_exercise

    graph = impl.connect([load_exercise("2.1").parse_line(text) for text in texts])
    return {operand.name: [op.name for op in operand.consumers] for operand in graph.operands}


def operators(impl, texts):
    """Type, name, inputs and outputs of each operator."""
    from kuiper.course import load_exercise

    graph = impl.connect([load_exercise("2.1").parse_line(text) for text in texts])
    return [(op.type, op.name, [o.name for o in op.inputs], [o.name for o in op.outputs]) for op in graph.operators]


def operands(impl, texts):
    """Name, type and shape of each operand, in the order of the graph."""
    from kuiper.course import load_exercise

    graph = impl.connect([load_exercise("2.1").parse_line(text) for text in texts])
    return [(operand.name, operand.type.name, operand.shape) for operand in graph.operands]


def names(impl, function, texts):
    """What a function (successors, predecessors, output_names) says of each operator of the graph."""
    from kuiper.course import load_exercise

    graph = impl.connect([load_exercise("2.1").parse_line(text) for text in texts])
    found = {op.name: getattr(impl, function)(op) for op in graph.operators}
    return found if function == "output_names" else {name: [op.name for op in ops] for name, ops in found.items()}


def test_operators(impl):
    calling(operators, impl, SUM).gives(
        [
            ("pnnx.Input", "in", [], ["a"]),
            ("nn.Conv2d", "conv", ["a"], ["b"]),
            ("torch.add", "sum", ["a", "b"], ["c"]),
            ("pnnx.Output", "out", ["c"], []),
        ]
    )


def test_inputs_and_outputs_in_order(impl):
    calling(operators, impl, SPLIT[:4]).gives(
        [
            ("pnnx.Input", "in", [], ["x"]),
            ("torch.split", "split", ["x"], ["p", "q", "r"]),
            ("nn.ReLU", "one", ["q"], ["s"]),
            ("torch.cat", "two", ["r", "p"], ["t"]),
        ]
    )


def test_producers(impl):
    calling(producers, impl, SUM).gives({"a": "in", "b": "conv", "c": "sum"})


def test_producers_of_several_outputs(impl):
    calling(producers, impl, SPLIT).gives(
        {"x": "in", "p": "split", "q": "split", "r": "split", "s": "one", "t": "two", "u": "three", "v": "four"}
    )


def test_consumers(impl):
    calling(consumers, impl, SUM).gives({"a": ["conv", "sum"], "b": ["sum"], "c": ["out"]})


def test_consumer_that_reads_twice(impl):
    calling(consumers, impl, CAT).gives({"x": ["cat", "add"], "y": ["add"], "z": ["out"]})
    calling(operators, impl, CAT[:2]).gives(
        [("pnnx.Input", "in", [], ["x"]), ("torch.cat", "cat", ["x", "x", "x"], ["y"])]
    )


def test_operand_that_nobody_reads(impl):
    calling(consumers, impl, SPLIT[:3]).gives({"x": ["split"], "p": [], "q": ["one"], "r": [], "s": []})


def test_operands_in_order(impl):
    lines = ["pnnx.Input in 0 1 z", "torch.split split 1 2 z 10 9", "pnnx.Output out 2 0 9 10"]
    calling(operands, impl, lines).gives([("z", "NULL", None), ("10", "NULL", None), ("9", "NULL", None)])


def test_shapes_and_types(impl):
    calling(operands, impl, SUM).gives([("a", "F32", (1, 8)), ("b", "F16", (1, None)), ("c", "NULL", None)])


def test_shape_on_the_line_of_a_consumer(impl):
    lines = ["pnnx.Input in 0 1 a", "nn.ReLU r 1 1 a b #a=(2,3)i64", "pnnx.Output out 1 0 b #b=()bool"]
    calling(operands, impl, lines).gives([("a", "I64", (2, 3)), ("b", "BOOL", ())])


def test_input_names(impl):
    calling(argument_names, impl, SUM).gives([[], [""], ["self", "other"], [""]])


def argument_names(impl, texts):
    from kuiper.course import load_exercise

    graph = impl.connect([load_exercise("2.1").parse_line(text) for text in texts])
    return [op.input_names for op in graph.operators]


def test_params_and_weights_are_left_empty(impl):
    calling(settings, impl, ["x.Y y 0 1 a stride=2 @weight=(3)f32"]).gives([({}, {})])


def settings(impl, texts):
    from kuiper.course import load_exercise

    graph = impl.connect([load_exercise("2.1").parse_line(text) for text in texts])
    return [(op.params, op.attrs) for op in graph.operators]


def test_lines_are_left_as_they_are(impl):
    calling(lines_afterwards, impl, SUM).gives(
        [
            ([], ["a"], [], {"a": "(1,8)f32"}),
            (["a"], ["b"], [""], {"b": "(1,?)f16"}),
            (["a", "b"], ["c"], ["self", "other"], {}),
            (["c"], [], [""], {}),
        ]
    )


def lines_afterwards(impl, texts):
    """Change the graph; the lines that it was made from must not change."""
    from kuiper.course import load_exercise

    lines = [load_exercise("2.1").parse_line(text) for text in texts]
    for op in impl.connect(lines).operators:
        op.inputs.clear()
        op.outputs.clear()
        op.input_names.append("new")
    return [(line.inputs, line.outputs, line.input_names, line.shapes) for line in lines]


def test_producer_and_consumers_share_the_operand(impl):
    ends = [["a"], ["a", "b"], ["a", "b", "c"], ["c"]]
    nodes = [["in", "conv", "sum"], ["conv", "sum"], ["sum", "out"]]
    calling(identities, impl, SUM).gives((ends, nodes))


def identities(impl, texts):
    """The ends of all edges, by the names of the very objects that the graph lists."""
    from kuiper.course import load_exercise

    graph = impl.connect([load_exercise("2.1").parse_line(text) for text in texts])
    names = {id(part): part.name for part in (*graph.operators, *graph.operands)}
    ends = [[names.get(id(end), "another one") for end in (*op.inputs, *op.outputs)] for op in graph.operators]
    nodes = [[names.get(id(op), "another one") for op in (o.producer, *o.consumers)] for o in graph.operands]
    return ends, nodes


def test_each_graph_is_new(impl):
    calling(twice, impl, SUM).gives((4, 4, 3, 3, 2))


def twice(impl, texts):
    from kuiper.course import load_exercise

    lines = [load_exercise("2.1").parse_line(text) for text in texts]
    first, second = impl.connect(lines), impl.connect(lines)
    consumers = len(second.operands[0].consumers)
    return len(first.operators), len(second.operators), len(first.operands), len(second.operands), consumers


def test_no_lines(impl):
    calling(operators, impl, []).gives([])


def test_operators_of_one_name(impl):
    lines = ["pnnx.Input in 0 1 a", "nn.ReLU same 1 1 a b", "nn.ReLU same 1 1 a c", "pnnx.Output out 2 0 b c"]
    calling(consumers, impl, lines).gives({"a": ["same", "same"], "b": ["out"], "c": ["out"]})


@pytest.mark.parametrize(
    "lines",
    [
        ["pnnx.Input in 0 1 a", "nn.ReLU r 1 1 lost b"],
        ["nn.ReLU r 1 1 lost b", "pnnx.Input in 0 1 lost"],
        ["pnnx.Input in 0 1 a", "torch.add r 2 1 a lost lost"],
    ],
)
def test_operand_that_is_not_produced_above(impl, lines):
    calling(operators, impl, lines).raises(ValueError, "lost")


@pytest.mark.parametrize(
    "lines",
    [
        ["pnnx.Input in 0 1 again", "pnnx.Input in2 0 1 again"],
        ["pnnx.Input in 0 1 a", "torch.split s 1 2 a again again"],
        ["pnnx.Input in 0 1 again", "nn.ReLU r 1 1 again again"],
    ],
)
def test_operand_with_two_producers(impl, lines):
    calling(operators, impl, lines).raises(ValueError, "again")


def test_successors(impl):
    calling(names, impl, "successors", SUM).gives({"in": ["conv", "sum"], "conv": ["sum"], "sum": ["out"], "out": []})


def test_successors_of_several_outputs(impl):
    calling(names, impl, "successors", SPLIT).gives(
        {
            "in": ["split"],
            "split": ["two", "three", "four", "one"],
            "one": ["three"],
            "two": ["three"],
            "three": ["out"],
            "four": ["out"],
            "out": [],
        }
    )


def test_predecessors(impl):
    calling(names, impl, "predecessors", SUM).gives({"in": [], "conv": ["in"], "sum": ["in", "conv"], "out": ["sum"]})


def test_predecessors_in_the_order_of_the_inputs(impl):
    calling(names, impl, "predecessors", SPLIT).gives(
        {
            "in": [],
            "split": ["in"],
            "one": ["split"],
            "two": ["split"],
            "three": ["split", "one", "two"],
            "four": ["split"],
            "out": ["three", "four"],
        }
    )
    calling(names, impl, "predecessors", CAT).gives({"in": [], "cat": ["in"], "add": ["cat", "in"], "out": ["add"]})


def test_output_names(impl):
    calling(names, impl, "output_names", SUM).gives({"in": ["conv", "sum"], "conv": ["sum"], "sum": ["out"], "out": []})
    calling(names, impl, "output_names", CAT).gives({"in": ["cat", "add"], "cat": ["add"], "add": ["out"], "out": []})


def test_neighbours_are_operators_of_the_graph(impl):
    calling(same_objects, impl, SUM).gives([["conv", "sum"], ["sum", "in"], ["out", "in", "conv"], ["sum"]])


def same_objects(impl, texts):
    """Neighbours, by the names of the very objects that the graph lists."""
    from kuiper.course import load_exercise

    graph = impl.connect([load_exercise("2.1").parse_line(text) for text in texts])
    names = {id(op): op.name for op in graph.operators}
    near = [[*impl.successors(op), *impl.predecessors(op)] for op in graph.operators]
    return [[names.get(id(op), "another one") for op in ops] for ops in near]


def test_neighbours_of_one_name(impl):
    lines = ["pnnx.Input in 0 1 a", "nn.ReLU same 1 1 a b", "nn.ReLU same 1 1 a c", "torch.add s 2 1 b c d"]
    calling(names, impl, "successors", lines).gives({"in": ["same", "same"], "same": ["s"], "s": []})
    calling(names, impl, "predecessors", lines).gives({"in": [], "same": ["in"], "s": ["same", "same"]})


@given(data=st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=1, max_size=7))
def test_any_graph(impl, data):
    """Operator i reads some of the operands before it, and writes operand i."""
    reads = [[number % i for number in numbers] if i else [] for i, numbers in enumerate(data)]
    lines = [f"x.Y n{i} {len(r)} 1 {' '.join(map(str, [*r, i]))}" for i, r in enumerate(reads)]
    calling(consumers, impl, lines).gives(
        {str(i): [f"n{j}" for j, r in enumerate(reads) if i in r] for i in range(len(reads))}
    )
    calling(names, impl, "predecessors", lines).gives(
        {f"n{i}": [f"n{j}" for j in dict.fromkeys(r)] for i, r in enumerate(reads)}
    )


def effort(impl, count):
    """The lines of Python that run until this many operators in a row are connected, and how many for four times as many."""
    import sys

    from kuiper.course import load_exercise

    class Name(str):
        """A name that is compared by a line of Python, so that every comparison counts."""

        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            return str.__eq__(self, other)

    def steps(count):
        parse_line, most, seen = load_exercise("2.1").parse_line, 20_000 + 2_000 * count, 0
        lines = [parse_line("x.Y n0 0 1 0")] + [parse_line(f"x.Y n{i} 1 1 {i - 1} {i}") for i in range(1, count)]
        for line in lines:
            line.inputs, line.outputs = [Name(name) for name in line.inputs], [Name(name) for name in line.outputs]

        def watch(frame, event, argument):
            nonlocal seen
            seen += 1
            if seen > most:
                raise RuntimeError(f"{count} operators are not connected after {most} steps")
            return watch

        before = sys.gettrace()
        sys.settrace(watch)
        try:
            impl.connect(lines)
        finally:
            sys.settrace(before)
        return seen

    return steps(count), steps(4 * count)


def in_proportion(few, many):
    """What is said of the steps for some operators, and for four times as many."""
    words = translate("{few} steps for one, {many} for four times as much")
    return translate("in proportion") if 0 < few <= many < 6 * few else words.format(few=few, many=many)


def test_work_grows_with_the_number_of_operators(impl):
    few, many = calling(effort, impl, 100).answer()
    what = translate("connect(100 operators), connect(400 operators)")
    same(what, in_proportion(few, many), translate("in proportion"))


def test_operand_read_by_many(impl):
    lines = ["pnnx.Input in 0 1 a", *(f"nn.ReLU r{i} 1 1 a b{i}" for i in range(40))]
    calling(consumers, impl, lines).gives({"a": [f"r{i}" for i in range(40)], **{f"b{i}": [] for i in range(40)}})


def test_consumer_that_reads_in_turns(impl):
    lines = ["pnnx.Input in 0 2 a b", "torch.cat cat 5 1 a b a b a c", "torch.cat dog 3 1 b c b d"]
    calling(consumers, impl, lines).gives({"a": ["cat"], "b": ["cat", "dog"], "c": ["dog"], "d": []})
    calling(names, impl, "successors", lines).gives({"in": ["cat", "dog"], "cat": ["dog"], "dog": []})
    calling(names, impl, "predecessors", lines).gives({"in": [], "cat": ["in"], "dog": ["in", "cat"]})
