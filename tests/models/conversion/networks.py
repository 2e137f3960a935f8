"""Small networks, each with something that pnnx or a trace stumbles over."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402


class Cnn(nn.Module):
    """A convolution, a batch norm, dropout, a linear layer; ``width`` can be chosen."""

    def __init__(self, width: int = 4) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU(), nn.Dropout())
        self.head = nn.Linear(width, 5)

    def forward(self, x):
        return self.head(self.body(x).mean((2, 3)))


class Width(nn.Linear):
    """A class that cannot be made without an argument."""

    def __init__(self, width: int) -> None:
        super().__init__(width, 2)


class Outputs(nn.Module):
    """Two inputs, a dict of outputs with a list and a None in it."""

    def forward(self, x, y):
        return {"sum": x + y, "more": [x * y, None], "none": None}


class Tied(nn.Module):
    """Word embeddings that are also the weights of the last layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.norm = nn.Sequential(nn.LayerNorm(8, bias=False))
        self.head = nn.Linear(8, 20, bias=False)
        self.head.weight = self.embed.weight
        nn.init.uniform_(self.norm[0].weight)

    def forward(self, words):
        return self.head(self.norm(self.embed(words)))


class Masked(nn.Module):
    """A transformer with a causal mask of bools as a buffer and a padding mask of bools as an input."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.register_buffer("causal", torch.triu(torch.ones(5, 5, dtype=torch.bool), 1))

    def forward(self, x, padding):
        return self.encoder(x, mask=self.causal, src_key_padding_mask=padding)


class Rounding(nn.Module):
    """Divisions and a rounding of which pnnx drops an argument."""

    def forward(self, x):
        floors = torch.div(x, 0.3, rounding_mode="floor") + x.div(0.7, rounding_mode="trunc")
        return floors + torch.round(x, decimals=1) + x.mul(50).round(decimals=-1)


class Nested(nn.Sequential):
    """A module of a user's own as a part."""

    def __init__(self) -> None:
        super().__init__(Rounding(), nn.ReLU())


class Branching(nn.Module):
    """Another formula for inputs of another sign."""

    def forward(self, x):
        if x.sum() > 0:
            return x + 1
        return x * 2


class Random(nn.Module):
    """Dropout that eval mode does not stop."""

    def forward(self, x):
        return functional.dropout(x, training=True)


class Raising(nn.Module):
    """Fails in two lines."""

    def forward(self, x):
        raise ValueError("not\ntoday")


class BatchStatistics(nn.Module):
    """A batch norm that pnnx crashes on."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(3, track_running_stats=False)

    def forward(self, x):
        return self.norm(x)


class LargeNumber(nn.Module):
    """An integer that pnnx cuts to 32 bits."""

    def forward(self, x):
        return x.relu() + 3_000_000_000


def half() -> nn.Module:
    """A network of half precision."""
    return Cnn().half()


net = Cnn()


class MaskedSoftmax(torch.autograd.Function):
    """A softmax that leaves some numbers out, with a context, as SEW-D has it."""

    @staticmethod
    def forward(ctx, x, mask, dim):
        ctx.dim = dim
        out = torch.softmax(x.masked_fill(~mask, torch.finfo(x.dtype).min), dim)
        ctx.save_for_backward(out)
        return out.masked_fill(~mask, 0)


class Double(torch.autograd.Function):
    """The newer form: its forward has no context."""

    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass


keep_apply = Double.apply  # as many models do, before anything could replace it


class OwnFunctions(nn.Module):
    """Functions with a backward pass of their own."""

    def forward(self, x, mask):
        return keep_apply(MaskedSoftmax.apply(x, mask, -1)) + x
