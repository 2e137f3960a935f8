"""Hostile models written by hand: one operator each, with sizes, weights and words that no exporter would write."""

from __future__ import annotations

import re

import numpy as np

SIZES = (3_000_000_000, 2**31, 2**40, 2**62, 2**63 - 1, -(2**63), -1, 0)
NUMBERS = ("1e9", "1e18", "1e300", "1e-300", "nan", "inf", "-1.0", "0.0")
WORDS = ("True", "x", "(1,2,3)", "None", "1.5", "(x,y)", "1.0+2.0j", "[]", "nan")

IMAGE, ROW, VOLUME, VECTORS = "(1,3,8,8)", "(1,3,8)", "(1,3,8,8,8)", "(1,5,12)"

_CONV = (
    "nn.Conv2d it 1 1 x y bias=True dilation={d} groups=1 in_channels=3 kernel_size=(3,3) out_channels=4 padding={p} "
    "padding_mode={mode} stride={s} @bias=(4)f32 @weight=(4,3,3,3)f32"
)
_TRANSPOSED = (
    "nn.ConvTranspose2d it 1 1 x y bias=True dilation={d} groups=1 in_channels=3 kernel_size=(3,3) out_channels=4 "
    "output_padding=(0,0) padding={p} stride={s} @bias=(4)f32 @weight=(3,4,3,3)f32"
)
# dilation, padding, stride: some cancel out, so that the output would be small
_GEOMETRIES = [
    ((d, d), (p, p), (s, s))
    for d, p, s in [
        (2**40, 2**40, 1), (2**20, 2**20, 1), (4096, 4096, 1), (1, 2**40, 1), (1, 2**40, 2**40), (1, 0, 2**62),
        (2**62, 0, 1), (1, 2**62, 1), (2**63 - 1, 2**63 - 1, 1), (1, 0, 2**31), (1, 0, 2**20),
    ]
] + [((2**26, 1), (2**26, 1), (1, 1)), ((1, 1), (1, 2**31), (1, 2**31))]  # fmt: skip

# An operator with a hole for a size, by the shape of its input; "-" stands for no input.
_WITH_A_SIZE = {
    "-": (
        "torch.zeros size=({},3)", "torch.full size=({}) fill_value=1.0", "torch.eye n={}", "torch.eye n=1 m={}",
        "torch.linspace start=0.0 end=1.0 steps={}", "torch.arange start=0 end={} step=1",
        "torch.arange start=-9223372036854775808 end=9223372036854775807 step={}",
    ),
    IMAGE: (
        "nn.AdaptiveAvgPool2d output_size=({0},{0})", "nn.AdaptiveMaxPool2d output_size=({0},{0})",
        "F.interpolate mode=nearest size=({0},{0})", "F.interpolate mode=bicubic size=({0},1)",
        "F.interpolate mode=area size=({0},{0})", "F.pad mode=constant pad=({0},{0},0,0)",
        "F.pad mode=reflect pad=({0},0)", "F.pad mode=circular pad=({0},0,0,0)", "F.pad mode=replicate pad=(0,{0},0,0)",
        "pnnx.Expression expr=size(@0,{})", "pnnx.Expression expr=add(@0,pow({0},{0}))",
        "pnnx.Expression expr=pow(size(@0,2),pow(size(@0,3),{}))", "pnnx.Expression expr=lshift(size(@0,2),{})",
        "Tensor.repeat sizes=({},1,1,1)", "Tensor.repeat sizes=({0},0,{0},1)", "torch.tile dims=({})",
        "torch.repeat_interleave repeats={} dim=1", "Tensor.unfold dimension=2 size={0} step={0}",
        "nn.Unfold dilation=({0},1) kernel_size=(2,1) padding=({0},0)", "nn.PixelShuffle upscale_factor={}",
        "nn.PixelUnshuffle downscale_factor={}", "nn.ChannelShuffle groups={}", "torch.chunk chunks={} dim=1",
        "torch.tensor_split sections={} dim=1", "torch.split split_size_or_sections={} dim=1",
        "Tensor.slice dim=1 start={} end=2 step=1", "Tensor.slice dim=1 start=0 end=2 step={}", "Tensor.slice dim={}",
        "Tensor.select dim=1 index={}", "torch.narrow dim=1 start={} length=1", "torch.narrow dim=1 start=0 length={}",
        "Tensor.view shape=({},-1)", "Tensor.reshape shape=({0},{0},{0},192)", "Tensor.unflatten dim=1 sizes=({},-1)",
        "torch.flatten start_dim={} end_dim=-1", "torch.topk k={} dim=1 largest=True sorted=True",
        "torch.roll shifts=({}) dims=(1)", "torch.roll shifts=(1) dims=({})", "torch.tril diagonal={}",
        "torch.as_strided size=({}) stride=(1)", "torch.as_strided size=({}) stride=(0)",
        "torch.as_strided size=(5,5) stride=({0},{0})", "torch.as_strided size=(2) stride=(1) storage_offset={}",
        "nn.MaxPool2d ceil_mode=True kernel_size=(2,2) padding=(1,1) stride=(1,1) dilation=({0},{0})",
        "nn.MaxPool2d ceil_mode=True kernel_size=(2,2) padding=(0,0) stride=({0},{0}) dilation=(1,1)",
        "nn.AvgPool2d ceil_mode=False kernel_size=({},2) padding=(0,0) stride=(1,1) count_include_pad=True",
        "nn.LocalResponseNorm size={}", "nn.GroupNorm affine=False num_channels=3 num_groups={}",
        "nn.LayerNorm elementwise_affine=False normalized_shape=({})", "nn.Softmax dim={}", "torch.sum dim=({})",
        "Tensor.new_full size=({0},{0}) fill_value={0}", "torch.permute dims=({},0,1,2)", "torch.unsqueeze dim={}",
        "nn.Conv2d bias=False groups={} in_channels=3 kernel_size=(1,1) out_channels=3 @weight=(3,3,1,1)f32",
    ),
    ROW: (
        "nn.AdaptiveAvgPool1d output_size=({})", "nn.Linear bias=False in_features={} out_features=4 @weight=(4,8)f32",
        "nn.Conv1d bias=False dilation=({0}) groups=1 in_channels=3 kernel_size=(3) out_channels=4 padding=({0}) "
        "@weight=(4,3,3)f32",
        "nn.ConvTranspose1d bias=False groups=1 in_channels=3 kernel_size=(3) out_channels=4 stride=({}) "
        "@weight=(3,4,3)f32",
    ),
    VOLUME: (
        "nn.AdaptiveAvgPool3d output_size=({},1,1)", "nn.AdaptiveMaxPool3d output_size=(1,{},1)",
        "nn.Conv3d bias=False dilation=({0},1,1) groups=1 in_channels=3 kernel_size=(3,1,1) out_channels=4 "
        "padding=({0},0,0) stride=(1,1,1) @weight=(4,3,3,1,1)f32",
    ),
    "(1,3)": ("Tensor.expand sizes=({},3)", "Tensor.expand sizes=({0},{0},1,3)"),
    "(1,2,3)": (
        "F.affine_grid align_corners=False size=(1,1,{0},{0})",
        "nn.LSTM batch_first=True bias=False hidden_size={} input_size=3 num_layers=1 @weight_hh_l0=(16,4)f32 "
        "@weight_ih_l0=(16,3)f32",
        "nn.LSTM batch_first=True bias=False hidden_size=4 input_size=3 num_layers={} @weight_hh_l0=(16,4)f32 "
        "@weight_ih_l0=(16,3)f32",
    ),
    "(1,12,49)": ("nn.Fold kernel_size=(2,2) padding=(0,0) stride=(1,1) dilation=(1,1) output_size=({0},{0})",),
    VECTORS: (
        "nn.MultiheadAttention batch_first=True bias=True embed_dim=12 num_heads={} @in_proj_bias=(36)f32 "
        "@in_proj_weight=(36,12)f32 @out_proj.bias=(12)f32 @out_proj.weight=(12,12)f32",
    ),
}  # fmt: skip

_WITH_A_NUMBER = (
    "nn.Upsample mode=nearest scale_factor=({0},{0})", "nn.Upsample mode=bilinear scale_factor=({0},{0})",
    "nn.Upsample mode=area scale_factor=({0},1.0)", "nn.LeakyReLU negative_slope={}", "torch.clamp min={0} max={0}",
    "nn.BatchNorm2d affine=False eps={} num_features=3 @running_mean=(3)f32 @running_var=(3)f32",
    "F.pad mode=constant pad=(1,1) value={}", "nn.Softplus beta={0} threshold={0}",
)  # fmt: skip

_WITH_A_WORD = (
    "nn.Softmax dim={}", "Tensor.reshape shape={}", "F.interpolate mode=nearest size={}", "torch.clamp min={0} max={0}",
    "Tensor.slice dim=1 start={0} end={0} step={0}", "torch.topk k={} dim=1 largest=True sorted=True",
    "nn.LeakyReLU negative_slope={}", "torch.sum dim={0} keepdim={0}", "torch.flatten start_dim={} end_dim=-1",
)  # fmt: skip

_PLAIN_CONV = _CONV.format(d="(1,1)", p="(0,0)", s="(1,1)", mode="zeros")
_ATTENTION = "nn.MultiheadAttention it 1 1 x y batch_first=True bias=True embed_dim=12 num_heads=3 "
_CONTRADICTIONS = {
    VECTORS: [
        f"{_ATTENTION}@in_proj_bias=({b})f32 @in_proj_weight=({w})f32 @out_proj.bias=({ob})f32 "
        f"@out_proj.weight=({ow})f32"
        for b, w, ob, ow in [
            ("30", "30,12", "12", "12,12"), ("36", "30,12", "12", "12,12"), ("36", "36,12", "12", "12,6"),
            ("36", "36,6", "12", "12,12"), ("35", "36,12", "12", "12,12"), ("36", "36,12", "11", "12,12"),
            ("36", "432", "12", "12,12"), ("36", "36,12", "12", "6,24"), ("3,12", "36,12", "12,1", "12,12"),
        ]
    ],
    IMAGE: [
        *(
            _PLAIN_CONV.replace("@weight=(4,3,3,3)", f"@weight=({shape})")
            for shape in ("4,3,3", "3,4,3,3", "4,27", "108", "4,3,9,1", "4,3,3,3,1")
        ),
        *(
            _PLAIN_CONV.replace("@bias=(4)", f"@bias=({shape})")
            for shape in ("3", "5", "4,1", "1,4", "1")
        ),
    ],
}  # fmt: skip

_EINSUMS = {
    "(1000)": ("a,b,c,d,e,f,g->abcdefg", "i,j,k,l,m->"), "(1000000)": ("a,b->ab",), "(3000,3000)": ("ab,cd->",),
    "(3,4)": ("ii->", "ij,jk->ik", "i->iiii", "a" * 60 + "->", "->", "a->b"),
}  # fmt: skip


def _models() -> dict[str, tuple[list[str], list[np.ndarray]]]:
    """Lines of a .param file and the inputs of each model, by what is hostile about it."""
    found: dict[str, tuple[list[str], list[np.ndarray]]] = {}

    def add(line: str, shape: str, label: str = "") -> None:
        sizes = [int(size) for size in shape.strip("()").split(",") if size.strip("-")]
        inputs = [np.random.default_rng(0).standard_normal(sizes).astype(np.float32)]
        lines = [f"pnnx.Input in 0 1 x #x=({','.join(map(str, sizes))})f32", line, "pnnx.Output out 1 0 y"]
        found[label or re.sub(r"it \d 1 .*?y ", "", line)] = lines, inputs

    def add_filled(text: str, shape: str, value: object) -> None:
        kind, _, rest = text.format(value).partition(" ")
        add(f"{kind} it {'0 1' if shape == '-' else '1 1 x'} y {rest}", "(1)" if shape == "-" else shape)

    for d, p, s in _GEOMETRIES:
        spelled = {key: str(pair).replace(" ", "") for key, pair in (("d", d), ("p", p), ("s", s))}
        for mode in ("zeros", "reflect", "replicate", "circular"):
            add(_CONV.format(**spelled, mode=mode), IMAGE)
        add(_TRANSPOSED.format(**spelled), IMAGE)
    for shape, texts in _WITH_A_SIZE.items():
        for text in texts:
            for size in SIZES:
                add_filled(text, shape, size)
    for values, texts in ((NUMBERS, _WITH_A_NUMBER), (WORDS, _WITH_A_WORD)):
        for text in texts:
            for value in values:
                add_filled(text, IMAGE, value)
    for shape, lines in _CONTRADICTIONS.items():
        for line in lines:
            add(line, shape)
    for shape, equations in _EINSUMS.items():
        for equation in equations:
            count = equation.split("->")[0].count(",") + 1
            add(f"torch.einsum it {count} 1 {'x ' * count}y equation={equation}", shape, f"einsum {equation} {shape}")
    return found


HOSTILE_MODELS = _models()
