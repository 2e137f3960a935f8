"""Layers of well-known networks, one of each shape that a kernel should be good at, as graphs of one operator."""

from __future__ import annotations

from dataclasses import dataclass

from kuiper.graph import pnnx
from kuiper.graph.made_up import fill_random_weights

Shape = tuple[int, ...]

NAME = "layer"
"""What the operator is called in its graph."""


@dataclass(frozen=True)
class Layer:
    """One operator, and the network that it is taken from; shapes are without the batch axis.

    An operator of several ``operands`` has as many inputs of the same shape.
    """

    network: str
    label: str
    type: str
    parameters: str
    weights: dict[str, Shape]
    input: Shape
    output: Shape
    operands: int = 1

    def graph(self) -> pnnx.Graph:
        """Input, the operator with seeded weights, output; batch 1."""
        weights = " ".join(f"@{key}={spelled(shape)}" for key, shape in self.weights.items())
        x, y = spelled((1, *self.input)), spelled((1, *self.output))
        n = self.operands
        names, shapes = " ".join(map(str, range(n))), " ".join(f"#{i}={x}" for i in range(n))
        lines = [
            "7767517",
            f"{n + 2} {n + 1}",
            *(f"pnnx.Input in{i} 0 1 {i} #{i}={x}" for i in range(n)),
            f"{self.type} {NAME} {n} 1 {names} {n} {self.parameters} {weights} {shapes} #{n}={y}",
            f"pnnx.Output out 1 0 {n} #{n}={y}",
        ]
        graph = pnnx.parse_param("\n".join(lines) + "\n", self.label)
        fill_random_weights(graph)
        return graph


def spelled(shape: Shape) -> str:
    """A shape as the file format has it.

    >>> spelled((64, 3, 7, 7))
    '(64,3,7,7)f32'
    """
    return f"({','.join(map(str, shape))})f32"


def conv(
    network: str, channels: int, size: int, out_channels: int, kernel: int, stride: int = 1, groups: int = 1
) -> Layer:
    """A convolution with bias that keeps the size (divided by the stride) of ``channels`` square maps."""
    padding = (kernel - 1) // 2
    out_size = (size + 2 * padding - kernel) // stride + 1
    kind = "depthwise " if groups == channels else f"{groups} groups " if groups > 1 else ""
    return Layer(
        network,
        f"{kind}{kernel}x{kernel} {channels}→{out_channels}{f' /{stride}' if stride > 1 else ''}",
        "nn.Conv2d",
        f"bias=True dilation=(1,1) groups={groups} in_channels={channels} kernel_size=({kernel},{kernel}) "
        f"out_channels={out_channels} padding=({padding},{padding}) padding_mode=zeros stride=({stride},{stride})",
        {"bias": (out_channels,), "weight": (out_channels, channels // groups, kernel, kernel)},
        (channels, size, size),
        (out_channels, out_size, out_size),
    )


def depthwise(network: str, channels: int, size: int, kernel: int, stride: int = 1) -> Layer:
    """A convolution of each map with a kernel of its own."""
    return conv(network, channels, size, channels, kernel, stride, groups=channels)


def upconv(network: str, channels: int, size: int, out_channels: int) -> Layer:
    """A transposed convolution, 2x2 with stride 2: each pixel becomes four."""
    return Layer(
        network,
        f"transposed 2x2 {channels}→{out_channels} /2",
        "nn.ConvTranspose2d",
        f"bias=True dilation=(1,1) groups=1 in_channels={channels} kernel_size=(2,2) out_channels={out_channels} "
        "output_padding=(0,0) padding=(0,0) stride=(2,2)",
        {"bias": (out_channels,), "weight": (channels, out_channels, 2, 2)},
        (channels, size, size),
        (out_channels, 2 * size, 2 * size),
    )


def linear(network: str, features: int, out_features: int) -> Layer:
    """A matrix times a vector, and a bias."""
    return Layer(
        network,
        f"linear {features}→{out_features}",
        "nn.Linear",
        f"bias=True in_features={features} out_features={out_features}",
        {"bias": (out_features,), "weight": (out_features, features)},
        (features,),
        (out_features,),
    )


def max_pool(network: str, channels: int, size: int, kernel: int, stride: int, padding: int) -> Layer:
    """The maximum of each window."""
    out_size = (size + 2 * padding - kernel) // stride + 1
    return Layer(
        network,
        f"max pool {kernel}x{kernel}{f' /{stride}' if stride > 1 else ''}",
        "nn.MaxPool2d",
        f"ceil_mode=False dilation=(1,1) kernel_size=({kernel},{kernel}) padding=({padding},{padding}) "
        f"return_indices=False stride=({stride},{stride})",
        {},
        (channels, size, size),
        (channels, out_size, out_size),
    )


def average_pool(network: str, channels: int, size: int, kernel: int, stride: int) -> Layer:
    """The mean of each window."""
    out_size = (size - kernel) // stride + 1
    return Layer(
        network,
        f"average pool {kernel}x{kernel}{f' /{stride}' if stride > 1 else ''}",
        "nn.AvgPool2d",
        f"ceil_mode=False count_include_pad=True divisor_override=None kernel_size=({kernel},{kernel}) padding=(0,0) "
        f"stride=({stride},{stride})",
        {},
        (channels, size, size),
        (channels, out_size, out_size),
    )


def global_pool(network: str, channels: int, size: int) -> Layer:
    """The mean of each map."""
    shape, out = (channels, size, size), (channels, 1, 1)
    return Layer(network, "global average pool", "nn.AdaptiveAvgPool2d", "output_size=(1,1)", {}, shape, out)


def activation(network: str, kind: str, channels: int, size: int) -> Layer:
    """An activation on its own, element by element."""
    shape = (channels, size, size)
    return Layer(network, kind, f"nn.{kind}", "", {}, shape, shape)


def expression(network: str, text: str, channels: int, size: int, operands: int = 1) -> Layer:
    """An expression on images of one shape."""
    shape = (channels, size, size)
    return Layer(network, text, "pnnx.Expression", f"expr={text}", {}, shape, shape, operands)


def batch_norm(network: str, channels: int, size: int) -> Layer:
    """A batch norm that no convolution stands in front of."""
    shape, names = (channels, size, size), ("bias", "running_mean", "running_var", "weight")
    parameters = f"affine=True eps=1e-5 num_features={channels}"
    weights: dict[str, Shape] = dict.fromkeys(names, (channels,))
    return Layer(network, "batch norm", "nn.BatchNorm2d", parameters, weights, shape, shape)


def group_norm(network: str, channels: int, size: int, groups: int) -> Layer:
    """A norm over groups of channels; as many groups as channels make an instance norm."""
    shape = (channels, size, size)
    weights: dict[str, Shape] = {"bias": (channels,), "weight": (channels,)}
    parameters = f"affine=True eps=1e-5 num_channels={channels} num_groups={groups}"
    return Layer(network, f"group norm {groups}", "nn.GroupNorm", parameters, weights, shape, shape)


def layer_norm(network: str, rows: int, width: int) -> Layer:
    """A norm of each row."""
    weights: dict[str, Shape] = {"bias": (width,), "weight": (width,)}
    parameters = f"elementwise_affine=True eps=1e-6 normalized_shape=({width})"
    return Layer(network, "layer norm", "nn.LayerNorm", parameters, weights, (rows, width), (rows, width))


def softmax(network: str, rows: int, width: int) -> Layer:
    """A softmax of each row, as attention has it: heads times queries are the rows."""
    return Layer(network, "softmax", "nn.Softmax", "dim=-1", {}, (rows, width), (rows, width))


def upsample(network: str, mode: str, channels: int, size: int) -> Layer:
    """An image of twice the height and width."""
    parameters = f"align_corners=False mode={mode} scale_factor=(2.0,2.0) size=None"
    out = (channels, 2 * size, 2 * size)
    return Layer(network, f"upsample {mode}", "nn.Upsample", parameters, {}, (channels, size, size), out)


LAYERS = (
    conv("resnet18", 3, 224, 64, kernel=7, stride=2),
    max_pool("resnet18", 64, 112, kernel=3, stride=2, padding=1),
    conv("resnet18", 64, 56, 64, kernel=3),
    conv("resnet18", 64, 56, 128, kernel=3, stride=2),
    conv("resnet18", 64, 56, 128, kernel=1, stride=2),
    conv("resnet18", 128, 28, 128, kernel=3),
    conv("resnet18", 256, 14, 256, kernel=3),
    conv("resnet18", 512, 7, 512, kernel=3),
    expression("resnet18", "add(@0,@1)", 64, 56, operands=2),
    global_pool("resnet18", 512, 7),
    linear("resnet18", 512, 1000),
    conv("mobilenet_v2", 3, 224, 32, kernel=3, stride=2),
    conv("mobilenet_v2", 16, 112, 96, kernel=1),
    depthwise("mobilenet_v2", 96, 112, kernel=3, stride=2),
    conv("mobilenet_v2", 96, 56, 24, kernel=1),
    depthwise("mobilenet_v2", 144, 56, kernel=3),
    conv("mobilenet_v2", 32, 28, 192, kernel=1),
    conv("mobilenet_v2", 384, 14, 64, kernel=1),
    depthwise("mobilenet_v2", 384, 14, kernel=3),
    depthwise("mobilenet_v2", 960, 7, kernel=3),
    conv("mobilenet_v2", 320, 7, 1280, kernel=1),
    conv("mobilenet_v3_small", 24, 28, 88, kernel=1),
    depthwise("mobilenet_v3_small", 96, 28, kernel=5, stride=2),
    depthwise("mobilenet_v3_small", 240, 14, kernel=5),
    conv("mobilenet_v3_small", 576, 1, 144, kernel=1),
    activation("mobilenet_v3_small", "Hardswish", 240, 14),
    global_pool("mobilenet_v3_small", 240, 14),
    conv("squeezenet1_1", 64, 55, 16, kernel=1),
    conv("squeezenet1_1", 16, 55, 64, kernel=3),
    conv("squeezenet1_1", 512, 13, 1000, kernel=1),
    conv("resnext50", 128, 56, 128, kernel=3, groups=32),
    conv("unet", 3, 256, 16, kernel=3),
    conv("unet", 16, 256, 16, kernel=3),
    conv("unet", 64, 64, 64, kernel=3),
    upconv("unet", 32, 128, 16),
    conv("yolov5s", 3, 640, 32, kernel=6, stride=2),
    conv("yolov5s", 32, 320, 64, kernel=3, stride=2),
    conv("yolov5s", 64, 160, 32, kernel=1),
    conv("yolov5s", 32, 160, 32, kernel=3),
    conv("yolov5s", 128, 40, 128, kernel=3),
    max_pool("yolov5s", 256, 20, kernel=5, stride=1, padding=2),
    activation("yolov5s", "SiLU", 64, 160),
    activation("yolov5s", "SiLU", 256, 20),
    activation("yolov5s", "Sigmoid", 256, 20),
    upsample("yolov5s", "nearest", 256, 20),
    batch_norm("densenet121", 128, 28),
    average_pool("densenet121", 128, 28, kernel=2, stride=2),
    activation("convnext", "GELU", 384, 14),
    activation("lstm", "Tanh", 128, 28),
    expression("lstm", "exp(@0)", 128, 28),
    depthwise("convnext", 96, 56, kernel=7),
    layer_norm("convnext", 3136, 96),
    layer_norm("vit_tiny", 197, 192),
    softmax("vit_tiny", 3 * 197, 197),
    layer_norm("bert", 128, 768),
    softmax("bert", 12 * 128, 128),
    group_norm("diffusion", 128, 28, groups=32),
    group_norm("style transfer", 128, 64, groups=128),
    upsample("deeplab", "bilinear", 64, 64),
)
"""In the order of the networks."""
