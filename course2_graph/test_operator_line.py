"""Exercise 2.1."""

from __future__ import annotations

import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

LINEAR = "nn.Linear fc 1 1 0 1 bias=True @weight=(4,8)f32 @bias=(4)f32 $input=0 #0=(1,8)f32 #1=(1,4)f32"
FILE = """7767517
4 3
pnnx.Input   in  0 1 0 #0=(1,8)f32
nn.ReLU      act 1 1 0 1
torch.add    sum 2 1 1 0 2 alpha=3
pnnx.Output  out 1 0 2
"""
WORDS = st.text("abcxyz019._", min_size=1, max_size=6)


def pieces(impl, line, *names):
    """Some fields of what parse_line returns."""
    op = impl.parse_line(line)
    return [getattr(op, name) for name in names]


def names(impl, text):
    return [op.name for op in impl.read_operators(text)]


def test_type_and_name(impl):
    calling(pieces, impl, "nn.ReLU layer1.0.act 1 1 0 1", "type", "name").gives(["nn.ReLU", "layer1.0.act"])


def test_inputs_and_outputs(impl):
    calling(pieces, impl, "torch.split s 1 3 7 4 5 6", "inputs", "outputs").gives([["7"], ["4", "5", "6"]])
    calling(pieces, impl, "torch.cat c 3 1 9 2 7 x.1", "inputs", "outputs").gives([["9", "2", "7"], ["x.1"]])


def test_counts_of_two_digits(impl):
    line = "torch.cat c 11 1 9 8 7 6 5 4 3 2 1 0 10 11 dim=1"
    calling(pieces, impl, line, "inputs", "outputs", "params").gives(
        [["9", "8", "7", "6", "5", "4", "3", "2", "1", "0", "10"], ["11"], {"dim": "1"}]
    )


def test_no_inputs_or_no_outputs(impl):
    calling(pieces, impl, "pnnx.Input in 0 1 5", "inputs", "outputs", "input_names").gives([[], ["5"], []])
    calling(pieces, impl, "pnnx.Output out 1 0 5", "inputs", "outputs", "input_names").gives([["5"], [], [""]])
    calling(pieces, impl, "aten::none n 0 0", "inputs", "outputs", "input_names").gives([[], [], []])


def test_params(impl):
    calling(pieces, impl, "F.pad p 1 1 0 1 mode=zeros pad=(1,2) value=None", "params").gives(
        [{"mode": "zeros", "pad": "(1,2)", "value": "None"}]
    )


def test_whole_line(impl):
    calling(impl.parse_line, LINEAR).gives(
        {
            "type": "nn.Linear",
            "name": "fc",
            "inputs": ["0"],
            "outputs": ["1"],
            "input_names": ["input"],
            "params": {"bias": "True"},
            "attrs": {"weight": "(4,8)f32", "bias": "(4)f32"},
            "shapes": {"0": "(1,8)f32", "1": "(1,4)f32"},
        }
    )


def test_keys_and_values_in_the_order_of_the_line(impl):
    calling(keys_in_order, impl, "F.pad p 1 1 0 1 value=1 mode=zeros @z=(1)f32 @a=(2)f32").gives(
        (["value", "mode"], ["z", "a"])
    )


def keys_in_order(impl, line):
    op = impl.parse_line(line)
    return list(op.params), list(op.attrs)


def test_many_blanks(impl):
    calling(pieces, impl, "nn.ReLU      act    1  1 0   1   a=2", "name", "outputs", "params").gives(
        ["act", ["1"], {"a": "2"}]
    )


def test_fields_in_any_order(impl):
    line = "nn.PReLU p 1 1 0 1 #1=(2)f32 a=1 $input=0 @w=(3)f32 #0=(4)f32 b=2"
    calling(pieces, impl, line, "params", "attrs", "input_names", "shapes").gives(
        [{"a": "1", "b": "2"}, {"w": "(3)f32"}, ["input"], {"1": "(2)f32", "0": "(4)f32"}]
    )


def test_value_that_is_empty(impl):
    calling(pieces, impl, "x.Y y 1 1 0 1 a= @b= #1=", "params", "attrs", "shapes").gives(
        [{"a": ""}, {"b": ""}, {"1": ""}]
    )


def test_marks_within_keys_and_values(impl):
    line = "x.Y y 1 1 0 1 a@b=1 c#d=@2 e$f=$3"
    calling(pieces, impl, line, "params", "attrs", "shapes").gives([{"a@b": "1", "c#d": "@2", "e$f": "$3"}, {}, {}])


def test_operand_that_is_read_and_written(impl):
    calling(impl.parse_line, "x.Y y 1 1 0 1 $self=0 $out=1").raises(ValueError, "$out=1")
    calling(pieces, impl, "x.Y y 1 1 5 5 $self=5", "inputs", "outputs", "input_names").gives([["5"], ["5"], ["self"]])


def test_key_ends_at_the_first_equals_sign(impl):
    calling(pieces, impl, "x.Y y 1 1 0 1 expr=@0=#1=2", "params").gives([{"expr": "@0=#1=2"}])


def test_key_with_dots(impl):
    line = "x.Y y 1 1 0 1 @m.0.bias=(3)f32 @m.1.bias=(5)f32 a.b=7"
    calling(pieces, impl, line, "attrs", "params").gives([{"m.0.bias": "(3)f32", "m.1.bias": "(5)f32"}, {"a.b": "7"}])


def test_same_key_as_parameter_and_weight(impl):
    calling(pieces, impl, "x.Y y 1 1 0 1 bias=True @bias=(4)f32", "params", "attrs").gives(
        [{"bias": "True"}, {"bias": "(4)f32"}]
    )


def test_input_names_belong_to_operands(impl):
    calling(pieces, impl, "x.Y y 3 1 a b c d $z=c $x=a", "input_names").gives([["x", "", "z"]])


def test_one_operand_as_several_inputs(impl):
    calling(pieces, impl, "x.Y y 3 1 5 4 5 6 $q=5 $k=4 $v=5", "inputs", "input_names").gives(
        [["5", "4", "5"], ["q", "k", "v"]]
    )


def test_repeated_shape(impl):
    line = "x.Y y 2 1 5 5 6 #5=(2)f32 #5=(2)f32 #6=(4)f32"
    calling(pieces, impl, line, "shapes").gives([{"5": "(2)f32", "6": "(4)f32"}])


@pytest.mark.parametrize("line", ["", "nn.ReLU act 1"])
def test_too_short_line(impl, line):
    calling(impl.parse_line, line).raises(ValueError, repr(line))


@pytest.mark.parametrize("line", ["nn.ReLU act 1 1 0", "x.Y act 2 1 0 1 a=3", "x.Y act 1 1 0 a=3 1"])
def test_too_few_operands(impl, line):
    calling(impl.parse_line, line).raises(ValueError, "act")


def test_word_that_is_no_field(impl):
    calling(impl.parse_line, "nn.ReLU act 1 1 0 1 a=3 inplace").raises(ValueError, "inplace")
    calling(impl.parse_line, "nn.ReLU act 1 1 0 1 @weight").raises(ValueError, "@weight")


def test_name_for_what_is_no_input(impl):
    calling(impl.parse_line, "nn.ReLU act 1 1 0 1 $self=1").raises(ValueError, "$self=1")
    calling(impl.parse_line, "x.Y y 2 1 5 4 6 $a=5 $b=5").raises(ValueError, "$b=5")


def test_shape(impl):
    calling(impl.parse_shape, "(2,30,7)i64").gives(((2, 30, 7), "i64"))


def test_shape_of_one_size_or_none(impl):
    calling(impl.parse_shape, "(64)f32").gives(((64,), "f32"))
    calling(impl.parse_shape, "()bool").gives(((), "bool"))
    calling(impl.parse_shape, "(0,4)bf16").gives(((0, 4), "bf16"))


def test_shape_with_unknown_sizes(impl):
    calling(impl.parse_shape, "(1,?,%width,?)f16").gives(((1, None, "width", None), "f16"))


@pytest.mark.parametrize(
    "text",
    [
        *("1,2f32", "(1,2f32", "1,2)f32", "(1,2)f31", "(1,2)", "(1,2)F32", "(1,2)f32x", "x(1,2)f32", "((1,2)f32"),
        *("11)f32", "?1)f32", "f32", ")f32", "(f32", "", "()", "(1)(2)f32", "[1,2]f32"),
        *("(1,-2)f32", "(1,x)f32", "(1,,2)f32", "(1.5)f32", "(,)f32", "(1,)f32", "(,1)f32", "( )f32"),
        *("(+1)f32", "(-0)f32", "(1_0)f32", "(1,?2)f32", "(%)f32", "(1,%)f32", "(\u00b2)f32", "(1e2)f32", "(0x1)f32"),
    ],
)
def test_shape_of_another_form(impl, text):
    calling(impl.parse_shape, text).raises(ValueError, text)


def test_read_operators(impl):
    calling(names, impl, FILE).gives(["in", "act", "sum", "out"])


@pytest.mark.parametrize("text", ["", "\n", "7767517", "7767517\n", "4 3\n7767517\n"])
def test_read_operators_without_the_two_lines_on_top(impl, text):
    calling(names, impl, text).raises(ValueError)


def test_read_operators_of_an_empty_graph(impl):
    calling(names, impl, "7767517\n0 0\n").gives([])


def read_twice(impl, text):
    """Read a file, change what came, and read it again."""
    for op in impl.read_operators(text):
        op.params["new"], op.attrs["new"], op.shapes["new"] = "1", "2", "3"
        op.inputs.append("new")
        op.outputs.append("new")
    return [(op.inputs, op.outputs, op.params, op.attrs, sorted(op.shapes)) for op in impl.read_operators(text)][:2]


def test_read_operators_anew_each_time(impl):
    calling(read_twice, impl, FILE).gives([([], ["0"], {}, {}, ["0"]), (["0"], ["1"], {}, {}, [])])


def test_read_operators_without_last_line_feed(impl):
    calling(names, impl, FILE.rstrip("\n")).gives(["in", "act", "sum", "out"])


def test_read_operators_reads_each_line(impl):
    calling(details, impl, FILE).gives([({}, {"0": "(1,8)f32"}), ({}, {}), ({"alpha": "3"}, {}), ({}, {})])


def details(impl, text):
    return [(op.params, op.shapes) for op in impl.read_operators(text)]


@pytest.mark.parametrize(
    ("before", "after"),
    [("7767517", "7767518"), ("4 3", "5 3"), ("4 3", "3 3"), ("4 3", "4 4"), ("4 3", "4 2"), ("4 3", "3 4")],
)
def test_read_operators_wrong_number_on_top(impl, before, after):
    calling(names, impl, FILE.replace(before, after, 1)).raises(ValueError)


@given(
    inputs=st.lists(WORDS, max_size=3),
    outputs=st.lists(WORDS, max_size=3),
    params=st.dictionaries(WORDS, st.text("()@#$=1a,%", max_size=4), max_size=3),
    attrs=st.dictionaries(WORDS, WORDS, max_size=3),
    shapes=st.dictionaries(WORDS, WORDS, max_size=3),
    order=st.randoms(use_true_random=False),
)
def test_any_line(impl, inputs, outputs, params, attrs, shapes, order):
    fields = [
        f"{mark}{key}={value}"
        for mark, part in zip(("", "@", "#"), (params, attrs, shapes), strict=True)
        for key, value in part.items()
    ]
    order.shuffle(fields)
    line = " ".join(["x.Y", "y", str(len(inputs)), str(len(outputs)), *inputs, *outputs, *fields])
    calling(pieces, impl, line, "inputs", "outputs", "params", "attrs", "shapes").gives(
        [inputs, outputs, params, attrs, shapes]
    )
