"""What pnnx is known to get wrong, turned around before it sees the model. docs/use/convert.md has the list.

``prepared`` makes a module what kuiper can run at all: in eval mode, float32, on the CPU. ``traceable`` changes how the
same numbers are computed, so that the trace has only what pnnx understands. Both put everything back at the end.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from kuiper.errors import ExportError
from kuiper.models.conversion.attention_masks import use_float_masks
from kuiper.models.conversion.element_types import in_float32
from kuiper.models.conversion.spelled_out import spelled_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import torch
    from torch import nn

    Note = Callable[[str], None]


def ignore(text: str) -> None:
    """The note taker of those who want no notes."""


@contextmanager
def prepared(module: nn.Module, note: Note = ignore, *, narrow: bool = True) -> Iterator[None]:
    """Eval mode, float32 on the CPU, one way through attention, and tuples where the module returns dicts.

    With ``narrow``, a module that has weights of another width computes in float32 throughout, whatever it asks for.

    Raises
    ------
    ExportError
        If the weights have no values.
    """
    import torch

    with suppress(NotImplementedError):  # of torch.export: its programs stay in the mode in which they were exported
        module.eval()
    fast_path = torch.backends.mha.get_fastpath_enabled()
    with ExitStack() as undo, torch.no_grad():
        torch.backends.mha.set_fastpath_enabled(False)  # its one operator for a whole encoder layer is known to nobody
        undo.callback(torch.backends.mha.set_fastpath_enabled, fast_path)
        widths = _use_float32_on_cpu(module, note, undo)
        if widths and narrow:
            undo.enter_context(intercepted(partial(in_float32, widths)))
        if not isinstance(module, torch.jit.ScriptModule):
            hook = module.register_forward_hook(lambda _module, _inputs, outputs: plain_outputs(outputs, note))
            undo.callback(hook.remove)
        yield


def _use_float32_on_cpu(module: nn.Module, note: Note, undo: ExitStack) -> set[torch.dtype]:
    """Turn the weights to float32; the types that they were of before."""
    import torch

    replaced: set[torch.dtype] = set()
    for tensor in [*module.parameters(), *module.buffers()]:
        if tensor.is_meta:
            raise ExportError(type(module).__name__, "weights with values", "weights on the meta device")
        dtype = torch.float32 if tensor.is_floating_point() else tensor.dtype
        if tensor.dtype != dtype or tensor.device.type != "cpu":
            undo.callback(setattr, tensor, "data", tensor.data)
            if tensor.dtype != dtype:
                replaced.add(tensor.dtype)
            tensor.data = tensor.data.to("cpu", dtype)
    if replaced:
        names = sorted(str(dtype).removeprefix("torch.") for dtype in replaced)
        note(f"weights of {' and '.join(names)} are converted as float32, and compared as such")
    return replaced


def plain_outputs(outputs: Any, note: Note = ignore) -> Any:
    """Tensors and tuples of them, as a trace can return them: dicts lose their keys, lists and Nones are gone.

    So are the caches in which language models keep keys and values from call to call: a graph keeps nothing.

    Raises
    ------
    ExportError
        If there is something else.
    """
    import torch

    if isinstance(outputs, torch.Tensor | int | float):
        return outputs
    if isinstance(outputs, dict):
        kept = {key: value for key, value in outputs.items() if value is not None and not _is_cache(value, note)}
        note(f"the model returns a dict; the graph returns a tuple of {', '.join(map(str, kept))}")
        outputs = tuple(kept.values())
    if isinstance(outputs, list | tuple):
        items = [output for output in outputs if output is not None and not _is_cache(output, note)]
        return tuple(plain_outputs(output, note) for output in items)
    raise ExportError("forward", "tensors, or tuples, lists or dicts of them, returned", type(outputs).__name__)


def _is_cache(value: Any, note: Note) -> bool:
    """Whether this is an object such as DynamicCache of transformers, which holds tensors and is none."""
    kind = type(value).__name__
    found = kind.endswith("Cache") and hasattr(value, "get_seq_length")
    if found:
        note(f"the model returns a {kind}, its state between calls; the graph leaves it out and returns the rest")
    return found


@contextmanager
def traceable(module: nn.Module, note: Note = ignore) -> Iterator[None]:
    """What a trace inside has of this module, pnnx converts as it is meant."""
    from torch import nn

    with ExitStack() as undo:
        _untie(module, note, undo)
        for name, part in module.named_modules():
            if isinstance(part, nn.LayerNorm) and part.weight is not None and part.bias is None:
                part.bias = nn.Parameter(part.weight.new_zeros(part.weight.shape))  # without it, the weight is lost
                undo.callback(setattr, part, "bias", None)
            if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.running_mean is None and name:
                hint = "pnnx crashes on a batch norm with track_running_stats=False"
                raise ExportError(f"nn.{type(part).__name__} '{name}'", "running statistics", "none", hint)
        use_float_masks(module, undo)
        undo.enter_context(_functions_as_their_forward())
        undo.enter_context(intercepted(spelled_out))
        yield


@contextmanager
def _functions_as_their_forward() -> Iterator[None]:
    """While it is open, a torch.autograd.Function is the operators of its forward: a trace with itself has no file."""
    from torch.autograd import Function
    from torch.autograd.function import FunctionCtx

    def run(function: type[Function], *args: Any) -> Any:
        if function.setup_context is not Function.setup_context:  # its forward takes no context
            return function.forward(*args)
        return function.forward(FunctionCtx(), *args)

    base: Any = Function.__bases__[0]  # Function.apply calls its apply, even where a model has kept Function.apply
    base.apply = classmethod(run)
    try:
        yield
    finally:
        del base.apply


def _untie(module: nn.Module, note: Note, undo: ExitStack) -> None:
    """Give each module weights of its own: of shared ones, pnnx makes an input of the second module."""
    from torch import nn

    owners: dict[int, str] = {}
    for prefix, part in module.named_modules():
        for name, weight in list(part.named_parameters(recurse=False)):
            place = f"{prefix}.{name}".lstrip(".")
            first = owners.setdefault(id(weight), place)
            if first != place:
                note(f"{first} and {place} are one weight; the file holds it twice")
                undo.callback(setattr, part, name, weight)
                setattr(part, name, nn.Parameter(weight.detach().clone(), requires_grad=weight.requires_grad))


def intercepted(handle: Callable[[Any, Any, Any], Any]) -> AbstractContextManager[Any]:
    """While it is open, every call of a torch function goes through ``handle(function, args, kwargs)``."""
    from torch.overrides import TorchFunctionMode

    class Intercepted(TorchFunctionMode):  # type: ignore[misc]
        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return handle(function, args, kwargs or {})

    return Intercepted()
