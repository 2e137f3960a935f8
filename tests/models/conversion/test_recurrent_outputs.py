"""Which outputs a recurrent network returns comes back from the trace: on stored files, and live."""

from __future__ import annotations

import warnings
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kuiper
from kuiper.graph import pnnx
from kuiper.models.conversion import TorchModel, verify
from kuiper.models.conversion.repairs.recurrent_outputs import Returned, named_in
from tests.fixtures.operator_files import graph_file
from tests.layers.test_operators_against_torch import assert_same

FOLDER = Path(__file__).parents[2] / "fixtures" / "recurrent_outputs"
NAMES = sorted(path.stem for path in FOLDER.glob("*.npz"))


def arrays_of(name: str) -> dict[str, np.ndarray]:
    with np.load(FOLDER / f"{name}.npz") as stored:
        return dict(stored)


def calls_in(arrays: dict[str, np.ndarray]) -> list[Returned]:
    count = sum(key.startswith("names_") for key in arrays)
    numbered = [[arrays[f"{key}_{i}"] for key in ("weight", "names", "directly")] for i in range(count)]
    return [Returned(weight.tobytes(), tuple(map(str, names)), bool(way)) for weight, names, way in numbered]


@pytest.mark.parametrize("optimize", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_named_in_gives_the_outputs_that_torch_returns(name: str, optimize: bool, tmp_path: Path) -> None:
    arrays = arrays_of(name)
    graph = pnnx.load(FOLDER / f"{name}.pnnx.param")
    assert named_in(graph, calls_in(arrays))
    pnnx.save(graph, tmp_path / "it.pnnx.param")
    model = kuiper.load(tmp_path / "it.pnnx.param", optimize=optimize)
    for prefix in ("", "dynamic_"):
        inputs = [array for key, array in arrays.items() if key.startswith(f"{prefix}input_")]
        if inputs:
            expected = [array for key, array in arrays.items() if key.startswith(f"{prefix}output_")]
            assert_same(model(*inputs), expected)


def test_named_in_leaves_alone_what_the_trace_does_not_tell() -> None:
    graph = pnnx.load(FOLDER / "two_calls.pnnx.param")
    assert named_in(graph, calls_in(arrays_of("two_calls"))[:2]) == []
    assert not any("outputs" in op.params for op in graph.operators)


def test_named_in_leaves_alone_what_the_shapes_tell() -> None:
    graph = pnnx.load(graph_file("nn_lstm"))
    (op,) = [op for op in graph.operators if op.type == "nn.LSTM"]
    weight = np.asarray(op.attrs["weight_ih_l0"].data).tobytes()
    assert named_in(graph, [Returned(weight, ("output", "h_n", "c_n"), True)]) == []


def every_choice(kind: str) -> Any:
    """A network that reads its input with one recurrent module for each choice and order of outputs; it returns all."""
    torch = pytest.importorskip("torch")
    from torch import nn

    def part() -> Any:
        return {
            "lstm": lambda: nn.LSTM(3, 4),
            "deep": lambda: nn.LSTM(3, 4, 2, bidirectional=True, batch_first=True),
            "projected": lambda: nn.LSTM(3, 4, 2, proj_size=2, bias=False),
            "gru": lambda: nn.GRU(3, 4, bidirectional=True),
            "rnn": lambda: nn.RNN(3, 4, nonlinearity="relu"),
        }[kind]()

    class Every(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            count = 3 if isinstance(part(), nn.LSTM) else 2
            self.orders = [order for k in range(1, count + 1) for order in permutations(range(count), k)]
            self.parts = nn.ModuleList(part() for _ in self.orders)

        def forward(self, x: Any) -> tuple[Any, ...]:
            chosen = []
            for part, order in zip(self.parts, self.orders, strict=True):
                output, states = part(x)
                made = (output, *(states if isinstance(states, tuple) else (states,)))
                chosen += [made[i] for i in order]
            return tuple(chosen)

    torch.manual_seed(0)
    return Every()


@pytest.mark.torch
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore:LSTM with projections")  # that oneDNN has none, which PyTorch says once
@pytest.mark.parametrize("shapes", [((5, 2, 3),), ((5, 2, 3), (7, 4, 3)), ((1, 3),)], ids=["fixed", "free", "one"])
@pytest.mark.parametrize("kind", ["lstm", "deep", "projected", "gru", "rnn"])
def test_export_names_every_choice_of_outputs(kind: str, shapes: tuple[tuple[int, ...], ...], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    examples = {str(shape): (rng.standard_normal(shape).astype(np.float32),) for shape in shapes}
    first, *others = examples.values()
    model = TorchModel(every_choice(kind), "net")
    param, _ = model.export(first, tmp_path / "net", other_inputs=others[0] if others else ())
    comparison = verify(param, model, examples)
    assert comparison.agrees, comparison.report()


@pytest.mark.torch
@pytest.mark.timeout(600)
@pytest.mark.parametrize("optlevel", [0, 1, 2])
def test_export_names_the_outputs_of_torchscript(optlevel: int, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from tests.fixtures.export_recurrent_outputs import CASES

    x = np.random.default_rng(0).standard_normal((2, 5, 3)).astype(np.float32)
    (case,) = [case for case in CASES if case.name == "memory_output_hidden"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that tracing is deprecated
        script = torch.jit.trace(case.build(), (torch.from_numpy(x),), check_trace=False)
    model, notes = TorchModel(script, "net"), []
    param, _ = model.export((x,), tmp_path / "net", optlevel=optlevel, note=notes.append)
    assert notes == ["which outputs 1 x nn.LSTM returns is written back from the trace"]
    comparison = verify(param, model, {"traced": (x,)})
    assert comparison.agrees, comparison.report()
