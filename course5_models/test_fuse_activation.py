"""Exercise 5.6."""

from __future__ import annotations

import numpy as np
import pytest

import kuiper
from kuiper.course import calling
from kuiper.models import bundled


def model(lines):
    """A .param file: the magic number, how many operators and operands, the operators."""
    operands = {word for line in lines.splitlines() for word in line.split()[4:] if word.isdigit()}
    return f"7767517\n{lines.count(chr(10))} {len(operands)}\n{lines}"


PLAIN = model("""\
pnnx.Input  in    0 1 0
nn.Conv2d   conv  1 1 0 1 stride=(2,1) groups=1
nn.ReLU     relu  1 1 1 2
pnnx.Output out   1 0 2
""")

TWO = model("""\
pnnx.Input  in     0 1 0
nn.Conv2d   conv1  1 1 0 1
nn.ReLU     relu1  1 1 1 2
nn.Conv2d   conv2  1 1 2 3
nn.SiLU     silu2  1 1 3 4
pnnx.Output out    1 0 4
""")

RESIDUAL = model("""\
pnnx.Input       in    0 1 0
nn.Conv2d        conv  1 1 0 1
nn.ReLU          relu  1 1 1 2
pnnx.Expression  add   2 1 2 1 3 expr=add(@0,@1)
pnnx.Output      out   1 0 3
""")

RETURNED = model("""\
pnnx.Input  in    0 1 0
nn.Conv2d   conv  1 1 0 1
nn.ReLU     relu  1 1 1 2
pnnx.Output out1  1 0 1
pnnx.Output out2  1 0 2
""")

SIDE_BY_SIDE = model("""\
pnnx.Input       in     0 1 0
nn.Conv2d        conv1  1 1 0 1
nn.Conv2d        conv2  1 1 0 2
nn.Sigmoid       sig1   1 1 1 3
nn.ReLU          relu2  1 1 2 4
pnnx.Expression  add    2 1 3 4 5 expr=add(@0,@1)
pnnx.Output      out    1 0 5
""")

CHAIN = model("""\
pnnx.Input  in    0 1 0
nn.Conv2d   conv  1 1 0 1
nn.SiLU     silu  1 1 1 2
nn.ReLU     relu  1 1 2 3
pnnx.Output out   1 0 3
""")

READ_BY_MANY = model("""\
pnnx.Input       in    0 1 0
nn.Conv2d        conv  1 1 0 1
nn.ReLU          relu  1 1 1 2
nn.Conv2d        left  1 1 2 3
pnnx.Expression  add   2 1 3 2 4 expr=add(@0,@1)
pnnx.Output      out   1 0 4
""")

FAR_APART = model("""\
pnnx.Input   in     0 1 0
nn.Conv2d    conv   1 1 0 1
nn.MaxPool2d pool   1 1 0 2
nn.ReLU      relu   1 1 1 3
pnnx.Output  out    2 0 3 2
""")

NOTHING = model("""\
pnnx.Input  in     0 1 0
nn.ReLU     relu0  1 1 0 1
nn.Conv2d   conv1  1 1 1 2
nn.Tanh     tanh1  1 1 2 3
nn.Linear   fc     1 1 3 4
nn.ReLU     relu2  1 1 4 5
nn.Conv2d   conv2  1 1 5 6
nn.MaxPool2d pool  1 1 6 7
nn.ReLU     relu3  1 1 7 8
pnnx.Output out    1 0 8
""")


def fused(impl, text):
    """How many were fused, and each operator left: name, inputs, outputs, activation."""
    from kuiper.graph import pnnx

    graph = pnnx.parse_param(text, "test")
    count = impl.fuse(graph)
    operators = []
    for op in graph.operators:
        reads, makes = ",".join(operand.name for operand in op.inputs), ",".join(operand.name for operand in op.outputs)
        activation = f" {op.params['activation'].value}" if "activation" in op.params else ""
        operators.append(f"{op.name}: {reads} > {makes}{activation}")
    return count, operators


def wires(impl, text):
    """Each operand left: producer > operand > consumers."""
    from kuiper.graph import pnnx

    graph = pnnx.parse_param(text, "test")
    impl.fuse(graph)
    ends = [(operand, ",".join(op.name for op in operand.consumers)) for operand in graph.operands]
    return [f"{operand.producer.name} > {operand.name} > {consumers}" for operand, consumers in ends]


def test_fuse(impl):
    calling(fused, impl, PLAIN).gives((1, ["in:  > 0", "conv: 0 > 2 relu", "out: 2 > "]))


def test_fuse_rewires_the_operands(impl):
    calling(wires, impl, PLAIN).gives(["in > 0 > conv", "conv > 2 > out"])


def parameters(impl, text):
    from kuiper.graph import pnnx

    graph = pnnx.parse_param(text, "test")
    impl.fuse(graph)
    return {key: (param.type.name, param.value) for key, param in graph.operator("conv").params.items()}


def test_fuse_adds_one_parameter(impl):
    wanted = {"stride": ("INT_LIST", [2, 1]), "groups": ("INT", 1), "activation": ("STRING", "relu")}
    calling(parameters, impl, PLAIN).gives(wanted)


def test_fuse_two(impl):
    calling(fused, impl, TWO).gives((2, ["in:  > 0", "conv1: 0 > 2 relu", "conv2: 2 > 4 silu", "out: 4 > "]))


def test_fuse_two_rewires_the_operands(impl):
    calling(wires, impl, TWO).gives(["in > 0 > conv1", "conv1 > 2 > conv2", "conv2 > 4 > out"])


def test_fuse_not_what_somebody_else_reads(impl):
    wanted = ["in:  > 0", "conv: 0 > 1", "relu: 1 > 2", "add: 2,1 > 3", "out: 3 > "]
    calling(fused, impl, RESIDUAL).gives((0, wanted))


def test_fuse_not_what_the_graph_returns(impl):
    wanted = ["in:  > 0", "conv: 0 > 1", "relu: 1 > 2", "out1: 1 > ", "out2: 2 > "]
    calling(fused, impl, RETURNED).gives((0, wanted))


def test_fuse_the_activation_that_reads_it(impl):
    wanted = ["in:  > 0", "conv1: 0 > 3 sigmoid", "conv2: 0 > 4 relu", "add: 3,4 > 5", "out: 5 > "]
    calling(fused, impl, SIDE_BY_SIDE).gives((2, wanted))


def test_fuse_side_by_side_rewires_the_operands(impl):
    wanted = ["in > 0 > conv1,conv2", "conv1 > 3 > add", "conv2 > 4 > add", "add > 5 > out"]
    calling(wires, impl, SIDE_BY_SIDE).gives(wanted)


def test_fuse_only_one_activation(impl):
    calling(fused, impl, CHAIN).gives((1, ["in:  > 0", "conv: 0 > 2 silu", "relu: 2 > 3", "out: 3 > "]))


def test_fuse_though_many_read_the_activation(impl):
    wanted = ["in:  > 0", "conv: 0 > 2 relu", "left: 2 > 3", "add: 3,2 > 4", "out: 4 > "]
    calling(fused, impl, READ_BY_MANY).gives((1, wanted))


def test_fuse_leaves_all_readers(impl):
    wanted = ["in > 0 > conv", "conv > 2 > left,add", "left > 3 > add", "add > 4 > out"]
    calling(wires, impl, READ_BY_MANY).gives(wanted)


def test_fuse_in_the_place_of_the_convolution(impl):
    calling(fused, impl, FAR_APART).gives((1, ["in:  > 0", "conv: 0 > 3 relu", "pool: 0 > 2", "out: 3,2 > "]))
    calling(wires, impl, FAR_APART).gives(["in > 0 > conv,pool", "pool > 2 > out", "conv > 3 > out"])


def test_fuse_nothing_else(impl):
    wanted = [
        "relu0: 0 > 1",
        "conv1: 1 > 2",
        "tanh1: 2 > 3",
        "fc: 3 > 4",
        "relu2: 4 > 5",
        "conv2: 5 > 6",
        "pool: 6 > 7",
    ]
    calling(fused, impl, NOTHING).gives((0, ["in:  > 0", *wanted, "relu3: 7 > 8", "out: 8 > "]))


NEARLY = model("""\
pnnx.Input  in       0 1 0
nn.Conv1d   conv1    1 1 0 1
nn.ReLU     relu1    1 1 1 2
nn.ConvTranspose2d conv2 1 1 2 3
nn.SiLU     silu2    1 1 3 4
nn.Conv2d   conv3    1 1 4 5
nn.ReLU6    relu3    1 1 5 6
nn.Conv2d   conv4    1 1 6 7
nn.LeakyReLU relu4   1 1 7 8
nn.Conv2d   conv5    1 1 8 9
F.relu      relu5    1 1 9 10
nn.Conv2d   conv6    1 1 10 11
nn.LogSigmoid sig6   1 1 11 12
nn.Conv2d   conv7    1 1 12 13
nn.ReLU     relu7    1 1 13 14
pnnx.Output out      1 0 14
""")


def test_fuse_only_types_of_the_very_name(impl):
    wanted = [
        "in:  > 0",
        *("conv1: 0 > 1", "relu1: 1 > 2", "conv2: 2 > 3", "silu2: 3 > 4", "conv3: 4 > 5", "relu3: 5 > 6"),
        *("conv4: 6 > 7", "relu4: 7 > 8", "conv5: 8 > 9", "relu5: 9 > 10", "conv6: 10 > 11", "sig6: 11 > 12"),
        *("conv7: 12 > 14 relu", "out: 14 > "),
    ]
    calling(fused, impl, NEARLY).gives((1, wanted))


SHARED = model("""\
pnnx.Input  in     0 1 0
nn.Conv2d   conv1  1 1 0 1
nn.ReLU     relu1  1 1 1 2
nn.SiLU     silu1  1 1 1 3
nn.Conv2d   conv2  1 1 2 4
nn.Conv2d   conv3  1 1 3 5
nn.ReLU     relu3  1 1 5 6
pnnx.Output out    2 0 4 6
""")


def test_fuse_not_with_the_first_of_two_activations(impl):
    wanted = ["in:  > 0", "conv1: 0 > 1", "relu1: 1 > 2", "silu1: 1 > 3", "conv2: 2 > 4", "conv3: 3 > 6 relu"]
    calling(fused, impl, SHARED).gives((1, [*wanted, "out: 4,6 > "]))
    calling(wires, impl, SHARED).gives(
        [
            *("in > 0 > conv1", "conv1 > 1 > relu1,silu1", "relu1 > 2 > conv2", "silu1 > 3 > conv3"),
            *("conv2 > 4 > out", "conv3 > 6 > out"),
        ]
    )


UPSIDE_DOWN = """7767517
6 5
pnnx.Input  in     0 1 0
nn.Conv2d   conv1  1 1 0 1
nn.Conv2d   conv2  1 1 0 2
nn.ReLU     relu2  1 1 2 3
nn.ReLU     relu1  1 1 1 4
pnnx.Output out    2 0 3 4
"""


def test_fuse_where_activations_are_in_another_order(impl):
    calling(fused, impl, UPSIDE_DOWN).gives((2, ["in:  > 0", "conv1: 0 > 4 relu", "conv2: 0 > 3 relu", "out: 3,4 > "]))
    calling(wires, impl, UPSIDE_DOWN).gives(["in > 0 > conv1,conv2", "conv2 > 3 > out", "conv1 > 4 > out"])


UNREAD = """7767517
4 3
pnnx.Input  in     0 1 0
nn.Conv2d   conv   1 1 0 1
nn.ReLU     relu   1 1 0 2
pnnx.Output out    1 0 2
"""


def test_fuse_not_what_nobody_reads(impl):
    calling(fused, impl, UNREAD).gives((0, ["in:  > 0", "conv: 0 > 1", "relu: 0 > 2", "out: 2 > "]))


def fused_twice(impl, text):
    from kuiper.graph import pnnx

    graph = pnnx.parse_param(text, "test")
    counts = impl.fuse(graph), impl.fuse(graph)
    return counts, graph.operator("conv").params["activation"].value, [op.name for op in graph.operators]


def test_fuse_leaves_what_is_fused(impl):
    calling(fused_twice, impl, CHAIN).gives(((1, 0), "silu", ["in", "conv", "relu", "out"]))


def same_operand(impl, text):
    """Where the objects of before are found afterwards: an object that is a copy is not found."""
    from kuiper.graph import pnnx

    graph = pnnx.parse_param(text, "test")
    conv, operand, out = graph.operator("conv"), graph.operand("2"), graph.operator("out")
    impl.fuse(graph)
    names = {id(conv): "conv", id(operand): "operand"}
    found = graph.operator("conv"), conv.outputs[0], out.inputs[0], operand.producer
    return [names.get(id(thing), "another one") for thing in found]


def test_fuse_keeps_the_objects(impl):
    calling(same_operand, impl, PLAIN).gives(["conv", "operand", "operand", "conv"])


def run_layer(impl, activation, x):
    """FusedConv2d with one 1 x 1 kernel that doubles, and a bias of -1."""
    from kuiper.graph.pnnx import DataType, ParameterType
    from kuiper.graph.runtime_attribute import RuntimeAttribute
    from kuiper.graph.runtime_operator import RuntimeOperator, RuntimeParameter

    numbers = {"in_channels": 1, "out_channels": 1, "groups": 1}
    params = {key: RuntimeParameter(ParameterType.INT, value) for key, value in numbers.items()}
    pairs = {"kernel_size": [1, 1], "stride": [1, 1], "padding": [0, 0], "dilation": [1, 1]}
    params |= {key: RuntimeParameter(ParameterType.INT_LIST, value) for key, value in pairs.items()}
    params["bias"] = RuntimeParameter(ParameterType.BOOL, True)
    if activation is not None:
        params["activation"] = RuntimeParameter(ParameterType.STRING, activation)
    weight, bias = np.full((1, 1, 1, 1), 2, np.float32), np.full(1, -1, np.float32)
    attrs = {name: RuntimeAttribute(DataType.F32, a.shape, a) for name, a in (("weight", weight), ("bias", bias))}
    return impl.FusedConv2d(RuntimeOperator("nn.Conv2d", "conv", params=params, attrs=attrs)).forward(x)


@pytest.mark.parametrize(
    ("activation", "wanted"),
    [
        (None, [-3, -1, 3]),
        ("relu", [0, 0, 3]),
        ("sigmoid", [0.0474259, 0.2689414, 0.9525741]),
        ("silu", [-0.1422776, -0.2689414, 2.8577224]),
    ],
)
def test_layer(impl, activation, wanted):
    x = np.float32([-1, 0, 2]).reshape(1, 1, 1, 3)
    calling(run_layer, impl, activation, x).gives(np.float32(wanted).reshape(1, 1, 1, 3), tolerance=1e-6)


def test_layer_with_an_unknown_activation(impl):
    calling(run_layer, impl, "swoosh", np.zeros((1, 1, 1, 1), np.float32)).raises(ValueError, "swoosh")


def fused_resnet20(impl, x):
    """Fuse the real network: how many, how many operators fewer, and the answer."""
    from kuiper.graph import RuntimeGraph, pnnx
    from kuiper.layers import override, registry
    from kuiper.models import bundled

    graph = pnnx.load(bundled("cifar_resnet20"))
    before, count = len(graph.operators), impl.fuse(graph)
    model = RuntimeGraph(graph)
    with override("nn.Conv2d", impl.FusedConv2d):
        model.build(registry)
    return count, before - len(graph.operators), np.asarray(model(x))


def test_fuse_resnet20(impl):
    x = np.random.default_rng(5).standard_normal((1, 3, 32, 32)).astype(np.float32)
    answer = np.asarray(kuiper.load(bundled("cifar_resnet20"), optimize=False)(x))
    calling(fused_resnet20, impl, x).gives((10, 10, answer), tolerance=1e-5)
