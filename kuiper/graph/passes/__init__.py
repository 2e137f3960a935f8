"""Passes: rewrites of a runtime graph that change no number, one small module each.

A pass is a function of the operators and the registry that gives the operators to go on with. It makes new operators
instead of changing those of the file, wires them in, and leaves alone whatever a layer runs that is not kuiper's own: a
student's layer is to be called, whatever stands around it. docs/reference/passes.md shows all of them at work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kuiper.errors import ParameterError
from kuiper.graph.passes.eliminate_common_subexpressions import eliminate_common_subexpressions
from kuiper.graph.passes.eliminate_dead_code import eliminate_dead_code
from kuiper.graph.passes.fold_affine_into_weights import fold_affine_into_weights
from kuiper.graph.passes.fold_batch_norm_into_conv import fold_batch_norm_into_conv
from kuiper.graph.passes.fold_batch_norm_into_linear import fold_batch_norm_into_linear
from kuiper.graph.passes.fold_constants import fold_constants
from kuiper.graph.passes.fuse_activation_into_conv import fuse_activation_into_conv
from kuiper.graph.passes.fuse_activation_into_expression import fuse_activation_into_expression
from kuiper.graph.passes.fuse_activation_into_linear import fuse_activation_into_linear
from kuiper.graph.passes.fuse_add_into_conv import fuse_add_into_conv
from kuiper.graph.passes.fuse_add_into_linear import fuse_add_into_linear
from kuiper.graph.passes.fuse_caches_into_attention import fuse_caches_into_attention
from kuiper.graph.passes.fuse_expressions import fuse_expressions
from kuiper.graph.passes.fuse_scales_into_integer_products import fuse_scales_into_integer_products
from kuiper.graph.passes.hoist_activation_above_views import hoist_activation_above_views
from kuiper.graph.passes.multiply_in_bytes import multiply_in_bytes
from kuiper.graph.passes.recognise_attention import recognise_attention
from kuiper.graph.passes.recognise_gelu import recognise_gelu
from kuiper.graph.passes.recognise_layer_norm import recognise_layer_norm
from kuiper.graph.passes.recognise_silu import recognise_silu
from kuiper.graph.passes.remove_no_ops import remove_no_ops
from kuiper.graph.passes.tabulate_functions_of_bytes import tabulate_functions_of_bytes
from kuiper.graph.passes.take_in_stored_weights import take_in_stored_weights

if TYPE_CHECKING:
    from kuiper.graph.protocols import RegistryProtocol
    from kuiper.graph.runtime_operator import RuntimeOperator

__all__ = [
    "DEFAULT_PASSES",
    "Pass",
    "eliminate_common_subexpressions",
    "eliminate_dead_code",
    "find_passes",
    "fold_affine_into_weights",
    "fold_batch_norm_into_conv",
    "fold_batch_norm_into_linear",
    "fold_constants",
    "fuse_activation_into_conv",
    "fuse_activation_into_expression",
    "fuse_activation_into_linear",
    "fuse_add_into_conv",
    "fuse_add_into_linear",
    "fuse_caches_into_attention",
    "fuse_expressions",
    "fuse_scales_into_integer_products",
    "hoist_activation_above_views",
    "multiply_in_bytes",
    "recognise_attention",
    "recognise_gelu",
    "recognise_layer_norm",
    "recognise_silu",
    "remove_no_ops",
    "tabulate_functions_of_bytes",
    "take_in_stored_weights",
]

Pass = Callable[["list[RuntimeOperator]", "RegistryProtocol"], "list[RuntimeOperator]"]

DEFAULT_PASSES: tuple[Pass, ...] = (
    # What is in the way goes first: dropout between a convolution and its batch norm, a second reader of an output
    # that computes what the first one does or that nobody needs. Any of them would forbid a fusion.
    remove_no_ops,
    fold_constants,
    take_in_stored_weights,
    eliminate_common_subexpressions,
    recognise_layer_norm,
    # A clamp between two quantisations is a table; the product in front of it ends in bytes then.
    tabulate_functions_of_bytes,
    multiply_in_bytes,
    # It reads scales as expressions of one function, and leaves dead code.
    recognise_attention,
    fuse_scales_into_integer_products,
    eliminate_dead_code,
    fuse_caches_into_attention,
    # A batch norm stands between a convolution and whatever else may be fused into it.
    fold_batch_norm_into_conv,
    fold_batch_norm_into_linear,
    fold_affine_into_weights,
    # A fused operator adds before it activates. An addition that came second would find an activation in its place.
    fuse_add_into_conv,
    fuse_add_into_linear,
    # SiLU in two operators makes two readers; as one activation it can be fused.
    recognise_silu,
    fuse_expressions,
    recognise_gelu,
    hoist_activation_above_views,
    fuse_activation_into_conv,
    fuse_activation_into_linear,
    # Expressions take what is left: a convolution in front of the addition is the better place for the activation.
    fuse_activation_into_expression,
)
"""What ``optimize=True`` does, in this order; once is enough, because no pass makes work for one in front of it."""


def find_passes(passes: Sequence[Pass | str], where: str = "passes") -> list[Pass]:
    """These passes, with functions in the place of names.

    Parameters
    ----------
    passes : functions or names of passes, or one name
    where : the name of the model, for error messages

    Returns
    -------
    The functions, in the same order.

    Raises
    ------
    ParameterError
        If there is no pass of a name; the message lists all names.

    Examples
    --------
    >>> [function.__name__ for function in find_passes(["remove_no_ops", fuse_add_into_conv])]
    ['remove_no_ops', 'fuse_add_into_conv']
    """
    known = {function.__name__: function for function in DEFAULT_PASSES}
    found: list[Pass] = []
    for item in [passes] if isinstance(passes, str) else passes:
        if isinstance(item, str) and item not in known:
            raise ParameterError(where, f"passes among {', '.join(known)}", repr(item))
        found.append(known[item] if isinstance(item, str) else item)
    return found
