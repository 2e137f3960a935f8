"""What must work, from a tensor to a student's failing test. Read it first: it is a tour of what kuiper does.

python -m pytest tests/test_smoke.py          a few seconds
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kuiper
from kuiper.cli import main
from kuiper.course.bugs import patched, read_bugs
from kuiper.course.handout import start
from kuiper.course.manifest import read_syllabus
from kuiper.course.places import pytest_environment
from kuiper.expression import evaluate
from kuiper.graph import pnnx
from kuiper.layers import Layer, override
from kuiper.models import Classifier, bundled, bundled_photo
from kuiper.models.quantization import quantize_graph
from kuiper.models.text import language_model
from kuiper.models.text.generation import Generation
from kuiper.models.text.sampling import Sampler

ROOT = Path(__file__).parents[1]
RESNET = bundled("cifar_resnet20")

TWO_OPERATORS = """\
7767517
4 3
pnnx.Input  x    0 1 0 #0=(1,4)f32
nn.Linear   fc   1 1 0 1 in_features=4 out_features=2 bias=True @weight=(2,4)f32 @bias=(2)f32
nn.ReLU     act  1 1 1 2
pnnx.Output y    1 0 2
"""


def small_graph() -> pnnx.Graph:
    """relu(x @ weight.T + bias), with weights that one can compute with in one's head."""
    graph = pnnx.parse_param(TWO_OPERATORS, "two_operators")
    graph.operator("fc").attrs["weight"].data = np.float32([[1, 1, 1, 1], [1, -1, 1, -1]])
    graph.operator("fc").attrs["bias"].data = np.float32([10, 0])
    return graph


def stored(name: str) -> tuple[np.ndarray, np.ndarray]:
    """What a bundled model is given, and what PyTorch answers."""
    with np.load(ROOT / "tests" / "fixtures" / "bundled.npz") as file:
        return file[f"{name} input"], file[f"{name} output"]


def assert_close(got: object, expected: np.ndarray) -> None:
    np.testing.assert_allclose(np.asarray(got), expected, rtol=0, atol=1e-5 * np.abs(expected).max())


# Course 1: a tensor is a shape over memory. Views share the memory, arithmetic broadcasts.


def test_tensor_has_views_and_arithmetic() -> None:
    t = kuiper.Tensor([[1, 2, 3], [4, 5, 6]])
    t.permute(1, 0)[2, 0] = 30  # row 2, column 0 of the other way round
    assert t.tolist() == [[1, 2, 30], [4, 5, 6]]
    assert (t + kuiper.Tensor([[10], [20]])).tolist() == [[11, 12, 40], [24, 25, 26]]


# Course 2: a graph comes from two files, text and weights. It can be run, and written again.


def test_graph_is_written_read_and_run(tmp_path: Path) -> None:
    pnnx.save(small_graph(), tmp_path / "small.pnnx.param")
    model = kuiper.load(tmp_path / "small.pnnx.param")
    assert model(np.float32([[1, 2, 3, 4]])).tolist() == [[20, 0]]  # 1 - 2 + 3 - 4 is below 0


# Course 3: a layer computes one operator. Your own may take its place.


def test_layer_of_ones_own_is_called() -> None:
    class Doubled(Layer):
        def forward(self, x: np.ndarray) -> np.ndarray:
            return 2 * x

    with override("nn.ReLU", Doubled):
        model = kuiper.load(small_graph)
    assert model(np.float32([[1, 2, 3, 4]])).tolist() == [[40, -4]]


# Course 4: formulas, which pnnx writes as text.


def test_expression_is_evaluated() -> None:
    assert evaluate("mul(add(@0,1),@1)", [np.float32([1, 2]), np.float32([10, 100])]).tolist() == [20, 300]


# The engine plans and runs compiled steps. The layers are the readable path. Both give PyTorch's answer.


@pytest.mark.parametrize("name", ["cifar_resnet20", "shapes_unet"])
@pytest.mark.parametrize("optimize", [True, False], ids=["engine", "layers"])
def test_engine_and_layers_give_the_answer_of_pytorch(name: str, optimize: bool) -> None:
    x, expected = stored(name)
    assert_close(kuiper.load(bundled(name), optimize=optimize)(x), expected)


# Course 5: models on pictures and texts.


def test_classifier_names_the_cat() -> None:
    assert Classifier(RESNET)(bundled_photo("cat"))[0][0] == "cat"


def test_language_model_writes_the_same_with_the_same_seed() -> None:
    model = language_model.load(bundled("shakespeare"))
    prompt = model.vocabulary.encode("ROMEO:")
    texts = ["".join(Generation(model, prompt, Sampler(temperature=0.8, seed=1), max_tokens=12)) for _ in range(2)]
    assert texts[0] == texts[1]
    assert len(texts[0]) == 12


def test_quantised_model_is_a_quarter_as_large_and_still_sees_the_cat(tmp_path: Path) -> None:
    graph = pnnx.load(RESNET)
    savings = quantize_graph(graph, bits=8)
    assert savings.after < 0.28 * savings.before
    pnnx.save(graph, tmp_path / "small.pnnx.param")
    shutil.copyfile(RESNET.with_name("cifar_resnet20.json"), tmp_path / "small.json")
    assert Classifier(tmp_path / "small.pnnx.param")(bundled_photo("cat"))[0][0] == "cat"


def test_onnx_file_runs_as_it_is(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    from tests.onnx.models import model_of

    nodes = [onnx.helper.make_node("MatMul", ["x", "w"], ["xw"]), onnx.helper.make_node("Relu", ["xw"], ["y"])]
    model = model_of(nodes, [("x", ["n", 2])], [("y", ["n", 1])], {"w": np.float32([[1], [-1]])})
    onnx.save(model, tmp_path / "m.onnx")
    assert kuiper.load(tmp_path / "m.onnx")(np.float32([[5, 3], [3, 5]])).tolist() == [[2], [0]]


# The course: a right answer is green, a wrong one is red, and the report says what is likely wrong.


def test_exercises_are_green_red_and_explained(tmp_path: Path) -> None:
    folder = tmp_path / "my-course"
    start(folder, solutions=False)
    syllabus = read_syllabus(ROOT)
    right, wrong = syllabus.exercise("1.1"), syllabus.exercise("1.3")
    bug = next(bug for bug in read_bugs(wrong) if bug.name == "clockwise")
    text = wrong.solution_file.read_text(encoding="utf-8")
    (folder / wrong.student_file.relative_to(ROOT)).write_text(patched(text, bug, "bugs"), encoding="utf-8")
    shutil.copyfile(right.solution_file, folder / right.student_file.relative_to(ROOT))

    words = ["course1_tensor/test_offsets_and_strides.py", "course1_tensor/test_padding.py", "-x", "--color=no"]
    environment = {**pytest_environment(), "PYTHONIOENCODING": "utf-8", "COLUMNS": "200"}
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=folder, env=environment, capture_output=True, encoding="utf-8"
    )
    assert finished.returncode == 1
    assert re.search(r"\d passed, 1 wrong", finished.stdout)
    assert right.label not in finished.stdout  # only what is not solved is listed
    assert f"{wrong.label} - 0 of 1 tests pass" in finished.stdout
    assert f"likely: this is what you get when {bug.when}" in finished.stdout


# Errors have one form: where, what was expected, what came.


def test_error_says_where_what_and_how_else() -> None:
    with pytest.raises(kuiper.ModelFormatError, match=r"m.param:2: expected a line for each of 5 operators, got 4"):
        pnnx.parse_param(TWO_OPERATORS.replace("4 3", "5 3"), "m.param")
    graph = small_graph()
    graph.operator("act").type = "nn.Relu"
    with pytest.raises(kuiper.UnsupportedOperatorError, match=r"got nn\.Relu .*nn\.ReLU"):
        kuiper.load(graph)


# The program: one command for each of these.


def test_program_classifies_and_shows_and_refuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", str(bundled_photo("cat"))]) == 0
    assert capsys.readouterr().out.splitlines()[1].split()[0] == "cat"
    assert main(["show", str(RESNET)]) == 0
    assert "82.11 MFLOPs" in capsys.readouterr().out
    assert main(["classify", "nothing.jpg"]) == 1
    assert "nothing.jpg: expected " in capsys.readouterr().err
