"""Images at another size or read at other places: torch's layers where they compute the same, ONNX's own elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kuiper.errors import ModelFormatError, ShapeError
from kuiper.onnx.table import operator

if TYPE_CHECKING:
    from kuiper.onnx.builder import GraphBuilder
    from kuiper.onnx.node import Node, Value

_SETTINGS = (
    "mode",
    "coordinate_transformation_mode",
    "nearest_mode",
    "keep_aspect_ratio_policy",
    "antialias",
    "exclude_outside",
    "cubic_coeff_a",
    "extrapolation_value",
    "axes",
)
_BLENDS = {("linear", 3): "linear", ("linear", 4): "bilinear", ("linear", 5): "trilinear", ("cubic", 4): "bicubic"}
_HALF_PIXEL = ("half_pixel", "pytorch_half_pixel")


@operator("Resize", "Upsample")
def resize(node: Node, build: GraphBuilder) -> Value:
    """By constant scales, or by sizes that may be computed, torch's layer; else ONNX's own."""
    given = _operands(node, build)
    settings = {key: node.attributes[key] for key in _SETTINGS if key in node.attributes}
    if node.type == "Upsample" or node.opset < 11:
        settings |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "simple"}
    by = "scales" if "scales" in given else "sizes"
    factors = _image_factors(given[by], given["X"], settings)
    if factors is not None and given["X"].is_float32:
        scales, known = factors if by == "scales" else _of_sizes(given["X"], factors), factors
        mode = _torch_mode(settings, given["X"].rank or 0, scales)
        if mode is not None and (by == "sizes" or _scales_as_torch(given["X"], settings, scales)):
            params: dict[str, Any] = {"mode": mode}
            if mode != "nearest":
                transform = settings.get("coordinate_transformation_mode", "half_pixel")
                params["align_corners"] = transform == "align_corners"
                params["single_is_first"] = transform == "pytorch_half_pixel"
            return _interpolated(build, given["X"], given[by], by, known, params)
    inputs = {
        name: value for name, value in given.items() if name != "roi" or value.constant is None or value.constant.size
    }
    return build.op("Resize", *inputs.values(), params={**settings, "inputs": list(inputs)})


@operator("GridSample")
def grid_sample(node: Node, build: GraphBuilder) -> Value:
    x, grid = node.value(0), node.value(1)
    mode = node.str("mode", "bilinear")
    mode = {"linear": "bilinear", "cubic": "bicubic"}.get(mode, mode)
    params = {
        "mode": mode,
        "padding_mode": node.str("padding_mode", "zeros"),
        "align_corners": bool(node.int("align_corners", 0)),
    }
    is_volume = x.rank is not None and x.rank > 4
    if x.is_float32 and grid.is_float32 and not (is_volume and mode == "bicubic") and (x.rank or 4) in (4, 5):
        return build.op("F.grid_sample", x, grid, names=["input", "grid"], params=params)
    return build.op("GridSample", x, grid, params=params)


@operator("AffineGrid")
def affine_grid(node: Node, build: GraphBuilder) -> Value:
    theta, size = node.value(0), node.value(1)
    align_corners = bool(node.int("align_corners", 0))
    if size.constant is not None:
        params = {"size": [int(one) for one in size.constant], "align_corners": align_corners}
        return build.op("F.affine_grid", theta, params=params)
    return build.op("F.affine_grid", theta, size, names=["theta", "size"], params={"align_corners": align_corners})


@operator("DepthToSpace")
def depth_to_space(node: Node, build: GraphBuilder) -> Value:
    """A pixel shuffle, whose channels lie in another order by mode DCR."""
    x, block, mode = node.value(0), node.int("blocksize"), node.str("mode", "DCR")
    _check_blocks(node, x, block, mode)
    if mode == "DCR":
        x = build.op("F.channel_shuffle", x, params={"groups": block * block})
    return build.op("F.pixel_shuffle", x, params={"upscale_factor": block})


@operator("SpaceToDepth")
def space_to_depth(node: Node, build: GraphBuilder) -> Value:
    """The inverse of DepthToSpace."""
    x, block, mode = node.value(0), node.int("blocksize"), node.str("mode", "DCR")
    _check_blocks(node, x, block, mode)
    channels = x.shape[1] if x.shape is not None else None
    if mode == "DCR" and not isinstance(channels, int):
        raise node.unsupported("an input whose number of channels is known", x.shape)
    y = build.op("F.pixel_unshuffle", x, params={"downscale_factor": block})
    return build.op("F.channel_shuffle", y, params={"groups": channels}) if mode == "DCR" else y


def _check_blocks(node: Node, x: Value, block: int, mode: str) -> None:
    """Raise an error unless there are images, and blocks of a known kind."""
    if x.rank not in (4, None):
        raise ShapeError(node.where, "input (n, c, h, w)", x.shape)
    if block < 1 or mode not in ("DCR", "CRD"):
        raise node.unsupported("blocksize of at least 1 and mode DCR or CRD", f"{block} and {mode}")


def _operands(node: Node, build: GraphBuilder) -> dict[str, Value]:
    """The inputs by name, those of old operator sets included; empty ones are left out."""
    if node.type == "Upsample" and "scales" in node.attributes:
        scales = build.constant([float(scale) for scale in node.get("scales")], 1)
        return {"X": node.value(0), "scales": scales}
    names = ("X", "scales") if node.opset < 11 else ("X", "roi", "scales", "sizes")
    found = {
        name: value
        for name, value in zip(names, node.inputs, strict=False)
        if value is not None and not (value.constant is not None and value.constant.size == 0)
    }
    if "X" not in found or ("scales" in found) == ("sizes" in found):
        raise ModelFormatError(node.where, "an input, and either scales or sizes", ", ".join(found) or "none")
    return found


def _image_factors(value: Value, x: Value, settings: dict[str, Any]) -> list[float | None] | None:
    """The scales or sizes of the axes behind (n, c), None for what a run will tell; None if others change, too."""
    rank = x.rank
    if rank not in (3, 4, 5) or settings.get("keep_aspect_ratio_policy", "stretch") != "stretch":
        return None
    if value.constant is not None:
        numbers: list[float | None] = [float(number) for number in value.constant.ravel()]
    elif value.type == 7:
        numbers = list(value.sizes) if value.sizes is not None else [None] * rank
    else:
        return None
    axes = settings.get("axes")
    if axes is not None:
        if [axis % rank for axis in axes] != list(range(2, rank)):
            return None
        return numbers if len(numbers) == rank - 2 and value.constant is not None else None
    if len(numbers) != rank or x.shape is None:
        return None
    is_size = value.type == 7
    for number, size in zip(numbers[:2], x.shape[:2], strict=True):
        stays = number in (None, size) or not isinstance(size, int) if is_size else number == 1
        if not stays:
            return None
    return numbers[2:]


def _of_sizes(x: Value, sizes: list[float | None]) -> list[float | None]:
    """The scales to these sizes, None where one is open."""
    olds = (x.shape or ())[2:]
    return [
        new / old if new is not None and isinstance(old, int) and old else None
        for new, old in zip(sizes, olds, strict=True)
    ]


def _scales_as_torch(x: Value, settings: dict[str, Any], scales: list[float | None]) -> bool:
    """Whether torch takes these scales as they are: an axis that keeps its size it copies, whatever the scale says."""
    if settings.get("coordinate_transformation_mode") == "align_corners":
        return None not in scales
    return all(
        scale is not None
        and (scale == int(scale) or scale <= 0.5 or (isinstance(size, int) and int(size * scale) != size))
        for scale, size in zip(scales, (x.shape or ())[2:], strict=True)
    )


def _torch_mode(settings: dict[str, Any], rank: int, scales: list[float | None]) -> str | None:
    """torch's mode that computes the same for these scales, of which None are not known; None if there is none."""
    mode, transform = settings.get("mode", "nearest"), settings.get("coordinate_transformation_mode", "half_pixel")
    whole = all(scale is not None and scale >= 1 and scale == int(scale) for scale in scales)
    if mode == "nearest":
        rounding = settings.get("nearest_mode", "round_prefer_floor")
        rounds = rounding in ("round_prefer_floor", "round_prefer_ceil")
        doubled = whole and all(scale in (1, 2) for scale in scales) and rounding == "round_prefer_floor"
        if transform == "asymmetric" and (rounding == "floor" or doubled or (whole and rounding == "simple")):
            return "nearest"
        return "nearest" if transform.startswith(("half", "pytorch")) and whole and rounds else None
    if settings.get("antialias") or settings.get("exclude_outside") or settings.get("cubic_coeff_a", -0.75) != -0.75:
        return None
    return _BLENDS.get((mode, rank)) if transform in (*_HALF_PIXEL, "align_corners") else None


def _interpolated(
    build: GraphBuilder, x: Value, value: Value, by: str, known: list[float | None], params: dict[str, Any]
) -> Value:
    """F.interpolate by constant scales or sizes, or by sizes that are computed."""
    if None in known:
        return build.op("F.interpolate", x, value, names=["", "size"], params=params)
    if by == "sizes":
        return build.op(
            "F.interpolate", x, params={**params, "size": [int(size) for size in known if size is not None]}
        )
    return build.op("F.interpolate", x, params={**params, "scale_factor": known})
