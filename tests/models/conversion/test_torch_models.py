"""Where models in PyTorch come from, and what is not one."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kuiper.errors import ExportError  # noqa: E402
from kuiper.models.conversion.torch_models import from_code, from_file, kind_of  # noqa: E402
from tests.models.conversion.networks import Cnn  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.torch, pytest.mark.timeout(600)]

NETWORKS = "tests.models.conversion.networks"
IMAGE = np.ones((1, 3, 4, 4), np.float32)


@pytest.fixture(autouse=True)
def clean_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.mark.parametrize(("arguments", "width"), [(None, 4), ({"width": 6}, 6), ([7], 7)])
def test_from_code_calls_a_class_with_arguments(arguments: dict[str, int] | list[int] | None, width: int) -> None:
    model = from_code(f"{NETWORKS}:Cnn", arguments)
    assert model.module.head.in_features == width
    assert model.name == f"{NETWORKS}:Cnn"
    assert model.framework == f"PyTorch {torch.__version__}"


def test_from_code_takes_functions_and_modules() -> None:
    assert next(from_code(f"{NETWORKS}:half").module.parameters()).dtype == torch.float16
    assert isinstance(from_code(f"{NETWORKS}:net").module, Cnn)


def test_from_code_reads_a_file_and_what_stands_beside_it(tmp_path: Path) -> None:
    (tmp_path / "its_sizes.py").write_text("WIDTH = 3\n")
    file = tmp_path / "its_net.py"
    file.write_text("from its_sizes import WIDTH\nfrom torch import nn\ndef make(): return nn.Linear(WIDTH, 1)\n")
    assert from_code(f"{file}:make").module.in_features == 3


def test_from_code_looks_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nets_of_this_test.py").write_text("from torch import nn\nnet = nn.Linear(3, 1)\n")
    monkeypatch.chdir(tmp_path)
    assert from_code("nets_of_this_test:net").module.out_features == 1


@pytest.mark.parametrize(
    ("place", "arguments", "message"),
    [
        ("no_such:Net", None, "can be imported, got ModuleNotFoundError: No module named 'no_such'"),
        (f"{NETWORKS}:Missing", None, "got AttributeError: .*no attribute 'Missing'"),
        ("no_such.py:Net", None, r"got FileNotFoundError: no file no_such\.py"),
        (f"{NETWORKS}:Width", None, r"expected a model, got TypeError: .*'width'; it takes \(width\); --args"),
        (f"{NETWORKS}:Cnn", {"depth": 1}, r"got TypeError: .*'depth'; it takes \(width=4\)"),
        (f"{NETWORKS}:net", {"width": 1}, "expected no arguments for a module that exists, got {'width': 1}"),
        ("math:pi", None, "expected a class, a function or a module of PyTorch, got float"),
        ("builtins:dict", None, r"expected a torch\.nn\.Module, got dict"),
    ],
)
def test_from_code_refuses_what_is_no_model(place: str, arguments: dict[str, int] | None, message: str) -> None:
    with pytest.raises(ExportError, match=message):
        from_code(place, arguments)


def test_a_module_that_leaves_python_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "script_of_this_test.py"
    file.write_text("import sys\nsys.exit('usage: ...')\n")
    with pytest.raises(ExportError, match=r"got SystemExit: usage: \.\.\. \(script_of_this_test\.py:2\)"):
        from_code(f"{file}:Net")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One network in every form in which it may be saved."""
    folder = tmp_path_factory.mktemp("saved")
    module, x = Cnn().eval(), torch.from_numpy(IMAGE)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace(module, (x,)).save(str(folder / "traced.pt"))
        torch.export.save(torch.export.export(module, (x,)), folder / "program.pt2")
    torch.save(module, folder / "pickled.pt")
    torch.save(module.state_dict(), folder / "state.pth")
    torch.save(x, folder / "tensor.pt")
    (folder / "junk.pt").write_text("junk")
    (folder / "state.safetensors").touch()
    np.save(folder / "expected.npy", module(x).detach().numpy())
    return folder


@pytest.mark.parametrize("name", ["traced.pt", "program.pt2", "pickled.pt"])
def test_from_file_gives_the_same_answers(files: Path, name: str) -> None:
    (answer,) = from_file(files / name, kind_of(files / name), run_code=True).answers((IMAGE,))
    np.testing.assert_allclose(answer, np.load(files / "expected.npy"), rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pickled.pt", r"expected TorchScript, got a pickled module.*state_dict.*--weights FILE$"),
        ("state.pth", r"got weights without a model; kuiper convert package\.module:Class --weights state\.pth"),
        ("state.safetensors", "got weights without a model"),
        ("program.pt2", r"expected TorchScript, got a program of torch\.export.*would run code: --yes if you trust"),
        ("tensor.pt", "got something else"),
        ("junk.pt", "got something else"),
        ("missing.pt", "expected a file, got nothing there"),
        ("", "expected a file, got a directory"),
    ],
)
def test_from_file_says_what_a_file_is_and_what_to_do(files: Path, name: str, message: str) -> None:
    with pytest.raises(ExportError, match=message):
        from_file(files / name, kind_of(files / name))


def test_steps_hold_what_every_function_returns() -> None:
    model = from_code(f"{NETWORKS}:Cnn")
    shapes = {step.shape for step in model.steps((IMAGE,))}
    assert {(1, 4, 4, 4), (1, 4), (1, 5)} <= shapes
