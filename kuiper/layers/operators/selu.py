"""nn.SELU: an ELU scaled so that activations keep mean 0 and variance 1 from layer to layer."""

from __future__ import annotations

from kuiper.layers.activation import Activation
from kuiper.layers.elementwise import Elementwise
from kuiper.layers.registry import register

# The fixed point of the paper's equations 4 and 5 for mean 0 and variance 1.
ALPHA = 1.6732632423543772848170429916717
SCALE = 1.0507009873554804934193349852946


@register("nn.SELU", "F.selu")
class SELU(Elementwise):
    """``SCALE * x`` where ``x`` is positive, else ``SCALE * ALPHA * (exp(x) - 1)``.

    Source: torch.nn.functional.selu; Klambauer et al., Self-Normalizing Neural Networks, 2017.
    """

    function = Activation("selu", SCALE, SCALE * ALPHA)
