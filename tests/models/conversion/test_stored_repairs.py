"""What pnnx loses comes back, by the records of ``tests/fixtures/export_repairs.py``: no torch is needed."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import kuiper
from kuiper.errors import ExportError
from kuiper.graph import pnnx
from kuiper.models.conversion import torch_export
from kuiper.models.conversion.repairs.calls import Calls
from kuiper.models.conversion.repairs.candidates import may_lack
from kuiper.models.conversion.repairs.repair import repair_graph
from kuiper.models.conversion.spelled_out import spelled_out
from kuiper.models.conversion.traps import plain_outputs
from tests.fixtures.repair_record import FOLDER, described, read_repair, read_spelling
from tests.models.conversion.numbers_of_torch import Numbers, torch_of_numbers

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixtures.repair_record import Pairs

RECORDED = sorted(path.stem for path in FOLDER.glob("*.json"))
LOST = [name for name in RECORDED if '"calls"' in FOLDER.joinpath(f"{name}.json").read_text()]
SPELLED = sorted({*RECORDED} - {*LOST})


def furthest(param: Path, pairs: Pairs) -> float:
    """max|d| / max|torch| of what the graph computes, over all pairs; infinite where it has another shape or fails."""
    worst = 0.0
    for x, expected in pairs:
        try:
            got = np.asarray(kuiper.load(param, optimize=False)(x))
        except kuiper.KuiperError:
            return float("inf")
        if got.shape != expected.shape:
            return float("inf")
        worst = max(worst, float(np.abs(got - expected).max() / np.abs(expected).max()))
    return worst


@pytest.mark.parametrize("name", LOST)
def test_repair_graph_writes_back_what_pnnx_lost(name: str, tmp_path: Path) -> None:
    told = read_repair(name)
    graph = pnnx.load(FOLDER / f"{name}.pnnx.param")
    assert may_lack(graph, told.names)
    assert repair_graph(graph, [told.pairs[0][0]], Calls(told.calls)) == told.kinds
    param = tmp_path / "net.pnnx.param"
    pnnx.save(graph, param, tmp_path / "net.pnnx.bin")
    assert furthest(FOLDER / f"{name}.pnnx.param", told.pairs) > 1e-5
    assert furthest(param, told.pairs) <= 1e-5


@pytest.mark.parametrize("name", SPELLED)
def test_words_that_spelled_out_found_are_converted_right(name: str) -> None:
    assert furthest(FOLDER / f"{name}.pnnx.param", read_spelling(name).pairs) <= 1e-5


EVERY = slice(None)

CALLS: dict[str, Any] = {
    "floor": lambda x: ("div", (x, 0.3), {"rounding_mode": "floor"}),
    "trunc": lambda x: ("div", (x, 0.3), {"rounding_mode": "trunc"}),
    "decimals": lambda x: ("round", (x,), {"decimals": 1}),
    "tens": lambda x: ("round", (x * 50,), {"decimals": -1}),
    "copy_that_broadcasts": lambda x: ("copy_", (x * 2, x[:1]), {}),
    "copy_to_the_only_entry": lambda x: ("copy_", (Numbers.zeros(1, 3, 4)[0], x), {}),
    "dots_of_einsum": lambda x: ("einsum", ("...pd,...qd->...pq", x[None], x[None, :2] * 2), {}),
    "write_to_the_only_entry": lambda x: ("__setitem__", (Numbers.zeros(1, 3, 4), 0, x), {}),
    "write_in_the_middle": lambda x: ("__setitem__", (Numbers.zeros(3, 1, 4), (EVERY, 0), x), {}),
    "write_behind_dots": lambda x: ("__setitem__", (Numbers.zeros(3, 1, 4), (..., 0, EVERY), x), {}),
}
"""The calls of SPELLED in the export script, on arrays."""


def test_every_recorded_call_is_made_here() -> None:
    assert sorted(CALLS) == SPELLED


@pytest.mark.parametrize("name", CALLS)
def test_spelled_out_says_a_call_as_recorded(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record, words = read_spelling(name), []
    torch = torch_of_numbers(lambda name, args: words.append(described(name, args)))
    monkeypatch.setitem(sys.modules, "torch", torch)
    x, expected = record.pairs[0]
    function, args, kwargs = CALLS[name](x.view(Numbers))
    result = spelled_out(getattr(torch, function), args, kwargs)
    assert words == record.words
    target = args[0] if result is None else result
    got = target if target.shape == expected.shape else target.base
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("div", (np.arange(4).view(Numbers), 3), {"rounding_mode": "trunc"}),  # of integers, pnnx's own division
        ("round", (Numbers.zeros(2),), {}),
        ("copy_", (Numbers.zeros(2, 2), Numbers.zeros(2, 2)), {}),
        ("einsum", ("ij->ji", Numbers.zeros(2, 2)), {}),
        ("__setitem__", (Numbers.zeros(2, 2), (slice(None), 0), 1.0), {}),
    ],
)
def test_spelled_out_leaves_what_pnnx_keeps(
    name: str, args: tuple[Any, ...], kwargs: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch_of_numbers())
    made: list[Any] = []

    def function(*given: Any, **named: Any) -> None:
        made.append((given, named))

    function.__name__ = name
    spelled_out(function, args, kwargs)
    assert made == [(args, kwargs)]


class DynamicCache:
    """What transformers returns beside the logits."""

    def get_seq_length(self) -> int:
        return 3


def test_plain_outputs_leaves_a_cache_out_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", torch_of_numbers())
    notes: list[str] = []
    logits = Numbers.zeros(2)
    assert plain_outputs({"logits": logits, "past": DynamicCache()}, notes.append) == (logits,)
    assert notes[0].startswith("the model returns a DynamicCache, its state between calls; the graph leaves it out")


class Script:
    """A TorchScript module that writes its name to a file."""

    training = False

    def __init__(self, name: str) -> None:
        self.name = name

    def save(self, file: str) -> None:
        with open(file, "w") as out:
            out.write(self.name)


def test_convert_script_freezes_what_the_converter_fails_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def convert(file: Path, options: list[str]) -> tuple[Path, Path]:
        if file.read_text() != "frozen":
            raise ExportError("pnnx", "a graph", "a crash")
        return file, file

    torch = torch_of_numbers()
    torch.jit = SimpleNamespace(freeze=lambda module: Script("frozen"))
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setattr(torch_export, "convert", convert)
    notes: list[str] = []
    file = tmp_path / "traced.pt"
    assert torch_export._convert_script(Script("as it is"), file, [], notes.append) == (file, file)
    assert notes == ["pnnx fails at the modules of this model; converted without them, from a frozen trace"]
