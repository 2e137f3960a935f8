"""Exercise 5.9."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import kuiper
from kuiper.course import calling
from kuiper.graph import pnnx
from kuiper.models import bundled

RESNET20 = str(bundled("cifar_resnet20"))
GATE = """7767517
6 5
pnnx.Input x 0 1 a #a=(2,3)f32
pnnx.Input y 0 1 b #b=(2,3)f32
pnnx.Expression gate 2 1 a b c expr=div(mul(@0,2.0),add(sqrt(mul(@1,@1)),1.5)) #c=(2,3)f32
F.relu cut 1 1 c d #d=(2,3)f32
pnnx.Expression shift 3 1 d a b e expr=sub(@0,sub(@1,@2)) #e=(2,3)f32
pnnx.Output out 2 0 e c
"""
A = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)
B = np.array([[0.5, 1, -2], [3, -0.25, 4]], np.float32)
CONV = (
    "nn.Conv2d conv 1 1 x y {params} in_channels=2 out_channels=4 kernel_size=(2,3) @weight={weight} {bias} #y={shape}"
)
ALL = "bias=True stride=(2,1) padding=(1,0) dilation=(1,2) groups=2 padding_mode=zeros"


def answers(impl, param, bin_data, batches):
    """What the engine answers to each batch of inputs; the model's files are given as a text and bytes."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.param").write_text(param, encoding="utf-8")
        if bin_data is not None:
            Path(folder, "model.bin").write_bytes(bin_data)
        engine = impl.Engine(Path(folder, "model.param"), str(Path(folder, "model.bin")))
    return [engine(*inputs) for inputs in batches]


def looked_into(impl, param):
    """The order of the engine's operators, and who has a layer and who has memory."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.param").write_text(param, encoding="utf-8")
        engine = impl.Engine(Path(folder, "model.param"), Path(folder, "model.bin"))
    return [op.name for op in engine.order], sorted(engine.layers), sorted(engine.memory)


def read_into(impl, param, bin_path):
    """For each operator: name, inputs, parameters and the shapes of its weights."""
    graph = impl.read(param, bin_path)
    return [
        (
            op.name,
            [operand.name for operand in op.inputs],
            {key: value.value for key, value in op.params.items()},
            {key: value.data.shape for key, value in op.attrs.items()},
        )
        for op in graph.operators
    ]


def without_kuiper(impl, path, x):
    """The answer of the model in a file where neither kuiper's loader nor its layers can be used."""
    import kuiper
    from kuiper.layers import registry

    def refuse(*arguments, **options):
        raise AssertionError("this exercise runs without kuiper's engine")

    saved = kuiper.load, registry.create
    kuiper.load, registry.create = refuse, refuse
    try:
        return impl.Engine(path, path.removesuffix("param") + "bin")(x)
    finally:
        kuiper.load, registry.create = saved


def answer_without_the_files(impl, path, x):
    """The answer of the second call, before which the model's files are taken away."""
    import shutil
    import tempfile
    from pathlib import Path

    folder = tempfile.mkdtemp()
    for ending in ("param", "bin"):
        shutil.copy(path.removesuffix("param") + ending, Path(folder, f"model.{ending}"))
    engine = impl.Engine(Path(folder, "model.param"), Path(folder, "model.bin"))
    engine(x)
    shutil.rmtree(folder)
    return engine(x)


def test_read_a_file(impl):
    lines = "7767517\n2 1\npnnx.Input eingäng 0 1 x #x=(2)f32\npnnx.Output out 1 0 x\n"
    calling(read_text, impl, lines).gives(["eingäng", "out"])


def read_text(impl, param):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.param").write_bytes(param.encode("utf-8"))
        return [op.name for op in impl.read(Path(folder, "model.param"), Path(folder, "none.bin")).operators]


def test_read_parameters_and_weights(impl):
    model = kuiper.load(RESNET20, optimize=False)
    data = str(Path(__file__).parent.parent / "course2_graph" / "data" / "test_linear.pnnx.param")
    calling(read_into, impl, data, data.removesuffix("param") + "bin").gives(
        [
            ("pnnx_input_0", [], {}, {}),
            (
                "linear",
                ["0"],
                {"bias": True, "in_features": 32, "out_features": 128},
                {"bias": (128,), "weight": (128, 32)},
            ),
            ("F.sigmoid_0", ["1"], {}, {}),
            ("pnnx_output_0", ["2"], {}, {}),
        ]
    )
    calling(count_weights, impl, RESNET20).gives(sum(len(op.attrs) for op in model.operators))


def count_weights(impl, path):
    return sum(len(op.attrs) for op in impl.read(path, path.removesuffix("param") + "bin").operators)


def test_expressions_without_weights(impl):
    gate = 2 * A / (np.abs(B) + np.float32(1.5))
    calling(answers, impl, GATE, None, [[A, B]]).gives([[np.maximum(gate, 0) - (A - B), gate]], tolerance=1e-6)


def test_engine_can_be_called_again(impl):
    first, second = 2 * A / (np.abs(B) + np.float32(1.5)), 2 * B / (np.abs(A) + np.float32(1.5))
    expected = [[np.maximum(first, 0) - (A - B), first], [np.maximum(second, 0) - (B - A), second]]
    calling(answers, impl, GATE, None, [[A, B], [B, A]]).gives(expected, tolerance=1e-6)


def test_engine_can_be_looked_into(impl):
    calling(looked_into, impl, GATE).gives(
        (["x", "y", "gate", "cut", "shift", "out"], ["cut", "gate", "shift"], ["c", "d", "e"])
    )


def test_relu_keeps_the_shape(impl):
    x = np.arange(-12, 12, dtype=np.float32).reshape(2, 3, 2, 2)
    for kind in ("nn.ReLU", "F.relu"):
        param = f"7767517\n3 2\npnnx.Input in 0 1 x\n{kind} cut 1 1 x y #y=(2,3,2,2)f32\npnnx.Output out 1 0 y\n"
        calling(answers, impl, param, None, [[x]]).gives([[np.maximum(x, 0)]])


def conv_model(params, bias, shape, x):
    """Text and weights of a convolution, and what kuiper's own engine says of it."""
    line = CONV.format(
        params=params, weight="(4,1,2,3)f32" if "groups=2" in params else "(4,2,2,3)f32", bias=bias, shape=shape
    )
    param = f"7767517\n3 2\npnnx.Input in 0 1 x #x=(2,2,5,7)f32\n{line}\npnnx.Output out 1 0 y\n"
    graph = pnnx.parse_param(param, "here")
    generator = np.random.default_rng(7)
    for attr in graph.operator("conv").attrs.values():
        attr.data = generator.integers(-4, 5, attr.shape).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "conv.pnnx.param")
        pnnx.save(graph, path)
        return param, path.with_suffix(".bin").read_bytes(), np.asarray(kuiper.load(path, optimize=False)(x))


def test_convolution_with_all_its_parameters(impl):
    x = np.arange(2 * 2 * 5 * 7, dtype=np.float32).reshape(2, 2, 5, 7) % 11 - 5
    param, weights, expected = conv_model(ALL, "@bias=(4)f32", "(2,4,3,3)f32", x)
    calling(answers, impl, param, weights, [[x]]).gives([[expected]], tolerance=1e-6)


def test_convolution_with_what_the_file_leaves_out(impl):
    x = np.arange(2 * 2 * 5 * 7, dtype=np.float32).reshape(2, 2, 5, 7) % 13 - 6
    param, weights, expected = conv_model("bias=False", "", "(2,4,4,5)f32", x)
    calling(answers, impl, param, weights, [[x]]).gives([[expected]], tolerance=1e-6)
    param, weights, expected = conv_model("bias=True stride=2 padding=1", "@bias=(4)f32", "(2,4,3,4)f32", x)
    calling(answers, impl, param, weights, [[x]]).gives([[expected]], tolerance=1e-6)


def test_convolution_refuses_another_padding(impl):
    x = np.zeros((2, 2, 5, 7), np.float32)
    param, weights, _ = conv_model(ALL, "@bias=(4)f32", "(2,4,3,3)f32", x)
    param = param.replace("padding_mode=zeros", "padding_mode=circular")
    calling(answers, impl, param, weights, [[x]]).raises(ValueError, "conv")
    calling(answers, impl, param, weights, [[x]]).raises(ValueError, "circular")


def test_average_pooling(impl):
    x = np.arange(2 * 3 * 4 * 6, dtype=np.float32).reshape(2, 3, 4, 6)
    for kind, size, shape in [
        ("nn.AdaptiveAvgPool2d", "(2,3)", (2, 3)),
        ("F.adaptive_avg_pool2d", "(1,1)", (1, 1)),
        ("nn.AdaptiveAvgPool2d", "2", (2, 2)),
    ]:
        out = f"(2,3,{shape[0]},{shape[1]})f32"
        param = "7767517\n3 2\npnnx.Input in 0 1 x\n"
        param += f"{kind} pool 1 1 x y output_size={size} #y={out}\npnnx.Output out 1 0 y\n"
        blocks = x.reshape(2, 3, shape[0], 4 // shape[0], shape[1], 6 // shape[1])
        calling(answers, impl, param, None, [[x]]).gives([[blocks.mean(axis=(3, 5))]], tolerance=1e-6)


def test_type_without_a_layer(impl):
    param = "7767517\n3 2\npnnx.Input in 0 1 x\nnn.GELU strange 1 1 x y #y=(2)f32\npnnx.Output out 1 0 y\n"
    calling(answers, impl, param, None, [[A]]).raises(LookupError, "strange")
    calling(answers, impl, param, None, [[A]]).raises(LookupError, "nn.GELU")


def test_resnet20(impl):
    x = np.random.default_rng(3).standard_normal((1, 3, 32, 32), dtype=np.float32)
    expected = np.asarray(kuiper.load(RESNET20, optimize=False)(x))
    calling(without_kuiper, impl, RESNET20, x).gives([expected], tolerance=1e-4)


def test_resnet20_reads_its_files_once(impl):
    x = np.random.default_rng(4).standard_normal((1, 3, 32, 32), dtype=np.float32)
    expected = np.asarray(kuiper.load(RESNET20, optimize=False)(x))
    calling(answer_without_the_files, impl, RESNET20, x).gives([expected], tolerance=1e-4)
