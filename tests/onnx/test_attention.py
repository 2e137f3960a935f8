"""Attention that a file spells out beside onnx's own evaluator: which of it becomes one operator, and its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper

from tests.onnx.models import assert_agrees, loaded, model_of

LOWEST = float(np.finfo(np.float32).min)
B, H, L, S, E = 2, 3, 5, 7, 4
Q, K, V = (
    np.random.default_rng(seed).standard_normal((B, H, n, E)).astype(np.float32) for seed, n in enumerate((L, S, S))
)
NUMBERS = {"scale": 0.3, "divisor": 2.5, "root": 0.6, "zero": 0.0, "minus": -np.inf, "lowest": LOWEST, "some": -5.0}

SCALES = {
    "none": ("q", "k", "", []),
    "scores": ("q", "k", "scale", []),
    "queries": ("qs", "k", "", [("Mul", ["q", "scale"], "qs")]),
    "keys": ("q", "ks", "", [("Div", ["k", "divisor"], "ks")]),
    "both": ("qs", "ks", "", [("Mul", ["q", "root"], "qs"), ("Mul", ["root", "k"], "ks")]),
}
"""What is multiplied: the names of queries and keys, of the factor of the scores, and the nodes in front."""

MASKS: dict[str, list[tuple[str, list[str], str]]] = {
    "none": [("Identity", ["scores"], "masked")],
    "added": [("Add", ["scores", "mask"], "masked")],
    "added in front": [("Add", ["mask", "scores"], "masked")],
    "shown": [("Where", ["shown", "scores", "lowest"], "masked")],
    "hidden": [("Where", ["shown", "minus", "scores"], "masked")],
}
GUARDS: dict[str, list[tuple[str, list[str], str]]] = {
    "none": [],
    "nan": [("IsNaN", ["weights"], "empty")],
    "largest": [("ReduceMax", ["mask", "last"], "largest"), ("Equal", ["largest", "minus"], "empty")],
}


def nodes_of(scale: str, mask: str, guard: str, swapped: bool) -> list[NodeProto]:
    """The nodes of an attention, with keys "turned" (b, h, e, s), whose Transpose stands in front if ``swapped``."""
    q, k, factor, first = SCALES[scale]
    turned = "turned" if swapped else "k"
    nodes = [("Transpose", ["k"], turned)] if swapped else []
    nodes += [(kind, [turned if one == "k" else one for one in read], made) for kind, read, made in first]
    nodes.append(("MatMul", [q, turned if k == "k" else k], "product"))
    nodes.append(("Mul", ["product", factor], "scores") if factor else ("Identity", ["product"], "scores"))
    nodes += [*MASKS[mask], ("Softmax", ["masked"], "weights"), *GUARDS[guard]]
    if guard != "none":
        nodes.append(("Where", ["empty", "zero", "weights"], "safe"))
    nodes.append(("MatMul", ["weights" if guard == "none" else "safe", "v"], "y"))
    more: dict[str, dict[str, Any]] = {"Transpose": {"perm": [0, 1, 3, 2]}, "Softmax": {"axis": -1}}
    return [helper.make_node(kind, read, [made], **more.get(kind, {})) for kind, read, made in nodes]


def attention_model(
    scale: str = "scores", mask: str = "none", guard: str = "none", swapped: bool = True, **changes: Any
) -> ModelProto:
    """q (b, h, l, e), k (b, h, s, e), or (b, h, e, s) unless it is swapped here, and v; a mask (b, 1, l, s)."""
    inputs: list[Any] = [("q", ["b", H, "l", E]), ("k", ["b", H, "s", E] if swapped else ["b", H, E, "s"])]
    inputs.append(("v", ["b", H, "s", E]))
    if "added" in mask:
        inputs.append(("mask", changes.get("mask_shape", ["b", 1, "l", "s"])))
    elif mask != "none":
        inputs.append(("shown", ["b", 1, "l", "s"], TensorProto.BOOL))
    weights = {key: np.float32(changes.get(key, number)) for key, number in NUMBERS.items()}
    nodes = nodes_of(scale, mask, guard, swapped)
    used = {name for node in nodes for name in node.input}
    weights = {key: value for key, value in weights.items() if key in used}
    if "last" in used:
        weights["last"] = np.array([-1])
    return model_of(nodes, inputs, [("y", ["b", H, "l", E])], weights)


def calls(mask: str, swapped: bool = True, sees_nothing: bool = False) -> list[tuple[np.ndarray, ...]]:
    """Arguments of two calls, of other sizes."""
    made = []
    for b, rows, columns in ((B, L, S), (1, 1, 3), (B, L, S)):
        k = K[:b, :, :columns]
        more: list[np.ndarray] = []
        shown = np.random.default_rng(b).random((b, 1, rows, columns)) > 0.5
        shown[..., 0] = True
        if sees_nothing:
            shown[:, :, -1] = False
        if "added" in mask:
            more = [np.where(shown, np.float32(0), np.float32(-np.inf if sees_nothing else LOWEST))]
        elif mask != "none":
            more = [~shown if mask == "hidden" else shown]
        made.append((Q[:b, :, :rows], k if swapped else k.swapaxes(-1, -2), V[:b, :, :columns], *more))
    return made


def types(model: ModelProto) -> list[str]:
    return [op.type for op in loaded(model).operators if op.type not in ("pnnx.Input", "pnnx.Output", "pnnx.Attribute")]


@pytest.mark.parametrize("swapped", [True, False])
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("scale", SCALES)
def test_attention_becomes_one_operator(scale: str, mask: str, swapped: bool) -> None:
    model = attention_model(scale, mask, swapped=swapped)
    assert types(model) == ["kuiper.FusedAttention"]
    assert_agrees(model, *calls(mask, swapped), tolerance=1e-5)


@pytest.mark.parametrize(("mask", "guard"), [("added", "nan"), ("added", "largest"), ("hidden", "nan")])
def test_attention_keeps_the_zeros_of_queries_that_see_nothing(mask: str, guard: str) -> None:
    model = attention_model("scores", mask, guard)
    assert types(model) == ["kuiper.FusedAttention"]
    with np.errstate(invalid="ignore"):
        assert_agrees(model, *calls(mask, sees_nothing=True), tolerance=1e-5)
    assert not loaded(model).forward(*calls(mask, sees_nothing=True)[0])[:, :, -1].any()


@pytest.mark.parametrize("mask", ["added", "hidden"])
def test_attention_keeps_the_nan_of_queries_that_see_nothing(mask: str) -> None:
    model = attention_model("scores", mask)
    assert types(model) == ["kuiper.FusedAttention"]
    with np.errstate(invalid="ignore"):
        assert_agrees(model, *calls(mask, sees_nothing=True), tolerance=1e-5)
    assert np.isnan(loaded(model).forward(*calls(mask, sees_nothing=True)[0])[:, :, -1]).all()


def test_attention_with_a_mask_larger_than_the_scores() -> None:
    model = attention_model(mask="added", mask_shape=["m", 1, "l", "s"])
    mask = np.random.default_rng(0).standard_normal((4, 1, L, S)).astype(np.float32)
    assert_agrees(model, (Q[:1], K[:1], V[:1], mask), tolerance=1e-5)


def test_attention_that_hides_by_a_number_that_others_outweigh_is_left_alone() -> None:
    model = attention_model(mask="shown", lowest=-3.0)
    assert "F.softmax" in types(model)
    assert_agrees(model, *calls("shown"), tolerance=1e-5)


def changed(model: ModelProto, **outputs: list[int | str]) -> ModelProto:
    """The model with values in the middle as further outputs."""
    for name, shape in outputs.items():
        model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    return model


@pytest.mark.parametrize("name", ["product", "weights"])
def test_attention_whose_scores_or_weights_are_outputs_is_left_alone(name: str) -> None:
    model = changed(attention_model(), **{name: ["b", H, "l", "s"]})
    assert "F.softmax" in types(model)
    assert_agrees(model, *calls("none"), tolerance=1e-5)


def test_attention_along_another_axis_is_left_alone() -> None:
    model = attention_model()
    (softmax,) = (node for node in model.graph.node if node.op_type == "Softmax")
    softmax.attribute[0].i = 2
    assert "F.softmax" in types(model)
    assert_agrees(model, *calls("none"), tolerance=1e-5)


def test_attention_of_float64_is_left_alone() -> None:
    model = attention_model()
    for info in [*model.graph.input, *model.graph.output]:
        info.type.tensor_type.elem_type = TensorProto.DOUBLE
    weights = {"scale": np.float64(0.3)}
    model = model_of(
        model.graph.node,
        [(name, shape, TensorProto.DOUBLE) for name, shape in zip("qkv", (["b", H, n, E] for n in "lss"), strict=True)],
        [("y", ["b", H, "l", E], TensorProto.DOUBLE)],
        weights,
    )
    assert "kuiper.FusedAttention" not in types(model)
    assert_agrees(model, tuple(x.astype(np.float64) for x in (Q, K, V)))


def test_attention_whose_keys_are_scaled_for_others_too() -> None:
    model = changed(attention_model("both"), ks=["b", H, E, "s"])
    assert "kuiper.FusedAttention" in types(model)
    assert_agrees(model, *calls("none"), tolerance=1e-5)


def test_attention_whose_keys_are_turned_with_joined_heads() -> None:
    nodes = [
        helper.make_node("Reshape", ["k", "joined"], ["flat"]),
        helper.make_node("Transpose", ["flat"], ["flat_turned"], perm=[0, 2, 1]),
        helper.make_node("Reshape", ["flat_turned", "parted"], ["turned"]),
        *(node for node in nodes_of("scores", "none", "none", True) if node.op_type != "Transpose"),
    ]
    shapes = (["b", H, L, E], ["b", H, S, E], ["b", H, S, E])
    weights = {"scale": np.float32(0.3), "joined": np.array([-1, S, E]), "parted": np.array([-1, H, E, S])}
    model = model_of(nodes, list(zip("qkv", shapes, strict=True)), [("y", ["b", H, L, E])], weights)
    model.graph.value_info.append(helper.make_tensor_value_info("turned", TensorProto.FLOAT, ["b", H, E, S]))
    assert types(model) == ["kuiper.FusedAttention"]
    assert_agrees(model, (Q, K, V), (Q[:1], K[:1], V[:1]), tolerance=1e-5)


@pytest.mark.parametrize("empty", [False, True])
def test_attention_with_a_constant_mask_that_says_what_sees_nothing(empty: bool) -> None:
    mask = np.where(np.tri(L, S, dtype=np.bool_), np.float32(0), np.float32(-np.inf))
    mask[1] = -np.inf if empty else mask[1]
    nodes = nodes_of("scores", "added", "nan", True)
    nodes = [node for node in nodes if node.op_type != "IsNaN"]
    weights = {"scale": np.float32(0.3), "zero": np.float32(0), "mask": mask}
    weights["empty"] = np.all(np.isneginf(mask), axis=-1, keepdims=True)
    shapes = (["b", H, L, E], ["b", H, S, E], ["b", H, S, E])
    model = model_of(nodes, list(zip("qkv", shapes, strict=True)), [("y", ["b", H, L, E])], weights)
    assert types(model) == ["kuiper.FusedAttention"]
    with np.errstate(invalid="ignore"):
        assert_agrees(model, (Q, K, V), tolerance=1e-5)
