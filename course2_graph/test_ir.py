"""Your own reader on a real file: tests of the KuiperInfer course (kuiperdatawhale), under their names.

``data/test_linear.pnnx.param`` and ``.bin`` are ``sigmoid(linear(x))`` with 32 numbers in and 128 out, exported by
PyTorch and pnnx (``data/make_test_linear.py``).
"""

from __future__ import annotations

from pathlib import Path

from kuiper.course import calling

DATA = Path(__file__).parent / "data"
PARAM = (DATA / "test_linear.pnnx.param").read_text(encoding="utf-8")
BIN = str(DATA / "test_linear.pnnx.bin")


def test_pnnx_graph_ops(impl):
    calling(names_of_operators, impl, PARAM).gives(["pnnx_input_0", "linear", "F.sigmoid_0", "pnnx_output_0"])


def names_of_operators(impl, text):
    return [op.name for op in impl.read_operators(text)]


def test_pnnx_graph_operands(impl):
    calling(inputs_and_outputs, impl, PARAM).gives(
        [
            ("pnnx_input_0", {}, {"0": "1 x 32"}),
            ("linear", {"0": "1 x 32"}, {"1": "1 x 128"}),
            ("F.sigmoid_0", {"1": "1 x 128"}, {"2": "1 x 128"}),
            ("pnnx_output_0", {"2": "1 x 128"}, {}),
        ]
    )


def inputs_and_outputs(impl, text):
    """For each operator the names and shapes of its inputs and of its outputs."""
    found = []
    for op in impl.read_operators(text):
        shapes = {name: " x ".join(map(str, impl.parse_shape(shape)[0])) for name, shape in op.shapes.items()}
        found.append((op.name, {name: shapes[name] for name in op.inputs}, {name: shapes[name] for name in op.outputs}))
    return found


def test_pnnx_graph_operands_and_params(impl):
    calling(params_and_weights, impl, PARAM, BIN).gives(
        [
            ("pnnx_input_0", {}, {}),
            (
                "linear",
                {"bias": 1, "in_features": 2, "out_features": 2},
                {"bias": "128 type 1", "weight": "128 x 32 type 1"},
            ),
            ("F.sigmoid_0", {}, {}),
            ("pnnx_output_0", {}, {}),
        ]
    )
    calling(some_weights, impl, PARAM, BIN).gives([0.10192622989416122, 0.0946384072303772])


def params_and_weights(impl, text, bin_path):
    """For each operator the types of its parameters, and the shapes and types of its weights, as the codes of KuiperInfer."""
    from kuiper.course import load_exercise

    found = []
    for op in load_exercise("2.1").read_operators(text):
        params = load_exercise("2.2").parse_params(op.type, op.params)
        attrs = impl.read_attributes(bin_path, op.name, op.attrs)
        weights = {key: f"{' x '.join(map(str, attr.data.shape))} type {int(attr.type)}" for key, attr in attrs.items()}
        found.append((op.name, {key: int(param.type) for key, param in params.items()}, weights))
    return found


def some_weights(impl, text, bin_path):
    """The last number of the bias, and of the weight the one in row 2 and column 31."""
    from kuiper.course import load_exercise

    linear = load_exercise("2.1").read_operators(text)[1]
    attrs = impl.read_attributes(bin_path, linear.name, linear.attrs)
    return [float(attrs["bias"].data[127]), float(attrs["weight"].data[2, 31])]


def test_pnnx_graph_operands_customer_producer(impl):
    calling(customers_and_producer, impl, PARAM).gives(
        [
            ("0", ["linear"], "pnnx_input_0"),
            ("1", ["F.sigmoid_0"], "linear"),
            ("2", ["pnnx_output_0"], "F.sigmoid_0"),
        ]
    )


def customers_and_producer(impl, text):
    """For each operand its name, its consumers and its producer."""
    from kuiper.course import load_exercise

    graph = impl.connect(load_exercise("2.1").read_operators(text))
    return [(o.name, [op.name for op in o.consumers], o.producer.name) for o in graph.operands]


def test_pnnx_graph_all(impl):
    calling(everything, impl, PARAM).gives(
        [
            ("pnnx_input_0", "pnnx.Input", [], ["linear"]),
            ("linear", "nn.Linear", ["pnnx_input_0 1 x 32"], ["F.sigmoid_0"]),
            ("F.sigmoid_0", "F.sigmoid", ["linear 1 x 128"], ["pnnx_output_0"]),
            ("pnnx_output_0", "pnnx.Output", ["F.sigmoid_0 1 x 128"], []),
        ]
    )


def everything(impl, text):
    """For each operator its name and type, who produces its inputs and in which shape, and who reads its outputs."""
    from kuiper.course import load_exercise

    graph = impl.connect(load_exercise("2.1").read_operators(text))
    return [
        (
            op.name,
            op.type,
            [f"{operand.producer.name} {' x '.join(map(str, operand.shape))}" for operand in op.inputs],
            impl.output_names(op),
        )
        for op in graph.operators
    ]


def test_pnnx_graph_all_homework(impl):
    calling(runtime_params, impl, PARAM).gives(
        [
            ("pnnx_input_0", {}),
            ("linear", {"bias": ("BOOL", True), "in_features": ("INT", 32), "out_features": ("INT", 128)}),
            ("F.sigmoid_0", {}),
            ("pnnx_output_0", {}),
        ]
    )


def runtime_params(impl, text):
    """For each operator the parameters of the running graph, as type and value."""
    from kuiper.course import load_exercise

    found = []
    for op in load_exercise("2.1").read_operators(text):
        params = impl.init_graph_params(load_exercise("2.2").parse_params(op.type, op.params))
        found.append((op.name, {key: (param.type.name, param.value) for key, param in params.items()}))
    return found
