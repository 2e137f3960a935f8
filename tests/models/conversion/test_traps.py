"""What is changed in a module for the conversion, and that all of it is undone."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from kuiper.errors import ExportError  # noqa: E402
from kuiper.models.conversion.traps import plain_outputs, prepared, traceable  # noqa: E402
from tests.models.conversion.networks import (  # noqa: E402
    BatchStatistics,
    Cnn,
    Masked,
    OwnFunctions,
    Rounding,
    Tied,
    half,
    keep_apply,
)

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]


def state(module: nn.Module) -> dict[str, tuple[torch.dtype, int]]:
    return {name: (tensor.dtype, tensor.data_ptr()) for name, tensor in module.state_dict().items()}


def test_prepared_gives_float32_weights_for_a_while() -> None:
    module, notes = half(), []
    before = state(module)
    with prepared(module, notes.append):
        assert not module.training
        assert {parameter.dtype for parameter in module.parameters()} == {torch.float32}
        assert module(torch.zeros(1, 3, 4, 4)).dtype == torch.float32
    assert state(module) == before
    assert notes == ["weights of float16 are converted as float32, and compared as such"]


def test_prepared_turns_the_fast_path_of_attention_off_for_a_while() -> None:
    assert torch.backends.mha.get_fastpath_enabled()
    with prepared(Cnn()):
        assert not torch.backends.mha.get_fastpath_enabled()
    assert torch.backends.mha.get_fastpath_enabled()


def test_prepared_refuses_weights_without_values() -> None:
    with torch.device("meta"):
        module = Cnn()
    with pytest.raises(ExportError, match="Cnn: expected weights with values, got weights on the meta device"):
        prepared(module).__enter__()


def test_plain_outputs_are_tensors_in_tuples() -> None:
    a, b = torch.zeros(1), torch.ones(1)
    notes: list[str] = []
    assert plain_outputs(a) is a
    assert plain_outputs((a, [b, None])) == (a, (b,))
    assert plain_outputs({"x": a, "none": None, "y": {"z": b}}, notes.append) == (a, (b,))
    assert notes[0] == "the model returns a dict; the graph returns a tuple of x, y"
    with pytest.raises(ExportError, match=r"forward: expected tensors, .*, got str"):
        plain_outputs((a, "b"))


def test_traceable_unties_weights_for_a_while() -> None:
    module, notes = Tied(), []
    with traceable(module, notes.append):
        assert module.head.weight is not module.embed.weight
        assert torch.equal(module.head.weight, module.embed.weight)
        assert torch.equal(module.norm[0].bias, torch.zeros(8))
    assert module.head.weight is module.embed.weight
    assert module.norm[0].bias is None
    assert notes == ["embed.weight and head.weight are one weight; the file holds it twice"]


def test_traceable_leaves_a_module_that_is_used_twice_alone() -> None:
    layer = nn.Linear(3, 3)
    module, notes = nn.Sequential(layer, nn.ReLU(), layer), []
    with traceable(module, notes.append):
        assert module[0].weight is module[2].weight
    assert notes == []


@pytest.mark.parametrize("make", [Masked, Rounding, Tied, Cnn])
def test_traceable_computes_the_same_and_leaves_no_hook(make: type[nn.Module]) -> None:
    module = make().eval()
    x = torch.randn(2, 5, 8)
    inputs = {
        Masked: (x, torch.tensor([[False] * 5, [False] * 3 + [True] * 2])),
        Tied: (torch.arange(6).reshape(2, 3),),
        Cnn: (torch.randn(2, 3, 6, 6),),
    }.get(make, (x,))
    with torch.no_grad(), prepared(module):
        expected = module(*inputs)
        with traceable(module):
            got = module(*inputs)
    torch.testing.assert_close(got, expected, rtol=0, atol=1e-6)
    assert all(not part._forward_hooks and not part._forward_pre_hooks for part in module.modules())


def test_traceable_puts_autograd_functions_back() -> None:
    x = torch.randn(2, 7, requires_grad=True)
    mask = torch.rand(2, 7) < 0.5
    module = OwnFunctions()
    expected = module(x, mask)
    with traceable(module):
        torch.testing.assert_close(module(x, mask), expected)
        assert type(keep_apply(x).grad_fn).__name__ == "MulBackward0"
    assert type(keep_apply(x).grad_fn).__name__ == "DoubleBackward"


def test_traceable_refuses_a_batch_norm_that_crashes_pnnx() -> None:
    with pytest.raises(
        ExportError, match=r"nn\.BatchNorm2d 'norm': expected running statistics, got none; pnnx crashes"
    ):
        traceable(BatchStatistics()).__enter__()
    with traceable(nn.BatchNorm2d(3, track_running_stats=False)):  # as a whole model it is converted
        pass
