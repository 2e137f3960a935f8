"""The words of pictures in the reader's language: looked up where a picture is shown, or was stored."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course import notebook_language
from kuiper.course.material import SITE_FORM
from kuiper.course.notebooks import notebook_files
from kuiper.course.picture_words import Translation, into
from kuiper.course.pictures import Picture, grid, steps
from kuiper.course.pictures.attention import attention_map
from kuiper.course.pictures.batches import BatchStep, batch_steps
from kuiper.course.pictures.chances import token_bars
from kuiper.course.pictures.chart import chart, label_line, subplots
from kuiper.course.pictures.class_diagram import class_diagram
from kuiper.course.pictures.folding import folded_batch_norm
from kuiper.course.pictures.graphs import graph_beside_architecture, shared_tensor, toolchain
from kuiper.course.pictures.machine import memory_levels
from kuiper.course.pictures.paging import Pages, page_steps
from kuiper.course.pictures.picture import TEXT, label, paragraph, text_width
from kuiper.course.pictures.pieces import token_boxes
from kuiper.course.pictures.race_card import race_card
from kuiper.course.pictures.stack import stack_moves
from kuiper.course.pictures.steps import Steps
from kuiper.course.pictures.suppression import suppression
from kuiper.course.pictures.windows import receptive_field, sliding_window
from kuiper.course.stored_forms import read_form, texts_in_pictures
from kuiper.course.translated_outputs import put_outputs, task_of
from tests.pseudo_language import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
LECTURES = pytest.mark.parametrize("path", notebook_files(ROOT), ids=lambda path: path.name)
SLACK = 4.0  # pixels: the room beside the text in a box
CHINESE = "zh"

PICTURES: list[Any] = [
    attention_map([[1, 0], [0.25, 0.75]], ["O", " "]),
    batch_steps(
        "abc",
        [BatchStep({"a": 3, "b": 2}, "a", "c"), BatchStep({"a": 1, "b": 1}, "ab", "c", "c"), BatchStep({"c": 1})],
        budget=8,
        caption="",
    ),
    batch_steps("ab", [BatchStep({"a": 1, "b": 1}, "ab"), BatchStep({}, (), "ab"), BatchStep({})], budget=2),
    class_diagram([Picture], most=2),
    folded_batch_norm(),
    graph_beside_architecture(),
    memory_levels(),
    page_steps([Pages({"a": ([0], 1)}, {0: ["x"]}, kept=(1,)), Pages({}, {0: ["x"]})], ["", ""], pages=3, page_size=2),
    race_card({"your layers": 4.0, "your engine": 2.0, "kuiper, layer by layer": 1.0}, "", ""),
    receptive_field(),
    shared_tensor(),
    shared_tensor(consumers=("relu", "add", "mul")),
    sliding_window(),
    stack_moves("mul(add(@0,1),@1)"),
    suppression(),
    toolchain(),
]
NAMES = {
    *("PyTorch", "TorchScript", "PNNX", "ReLU", "IoU", "KB", "MB", "GB", "ms", "kuiper", "conv", "relu", "add", "mul"),
    *("Picture", "weight", "bias", "gamma", "beta", "mean", "variance", "scale", "epsilon", "sqrt", "width", "float"),
}
CODE = """
    cat interview language python planes out sub dead drop norm COMPLETE NumPy AMD EPYC ET JULI ROME wi wil
    word open close comma number
    cdef def for in noexcept nogil result return total values
    Add Concat Constant Div Gather Mul Pow ReduceMean Reshape Shape Sqrt Sub Unsqueeze
    Any AnyAttribute Array Attribute ClassVar DataType Elementwise Engine Expression Graph Layer LayerProtocol Linear
    None Operand Operator ParamLayer Parameter ParameterType ParameterValue QuantizedWeight RegistryProtocol Runner
    RuntimeAttribute RuntimeGraph RuntimeOperand RuntimeOperator RuntimeParameter WeightLayer
    attrs axes bool border consumers data dict graphs index inputs int layer list name operands operators order outputs
    params producer quantized shape str text tuple type value
"""
"""Names that stand in the lectures' pictures: paths, code, classes, operators, tensors; and words of Shakespeare's."""


def words_of(picture: Any) -> str:
    """All that a picture says, one line for each text."""
    found: list[str] = []

    def take(text: str) -> str:
        found.append(text)
        return text

    picture.said(take)
    return "\n".join(found)


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.usefixtures("pseudo_language")
def test_pictures_speak(picture: Any) -> None:
    assert escaped(words_of(picture.said(into("xx"))), NAMES) == []


class Tags(HTMLParser):
    """The tags of a document, and those of the drawings in its images."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[tag] += 1
        address = dict(attrs).get("src") or ""
        if address.startswith("data:image/svg+xml;base64,"):
            self.found += Tags(base64.b64decode(address.partition(",")[2]).decode()).found


@pytest.mark.parametrize("picture", PICTURES)
def test_markup_in_a_translation_stays_text(picture: Any) -> None:
    said = picture.said(lambda text: f"""{text}'"></title></text></script><b>""")
    assert not Tags(said.html()).found["b"]
    assert not Tags(said.still().svg()).found["b"]


@pytest.mark.usefixtures("pseudo_language")
def test_a_notebook_shows_a_picture_in_the_readers_language() -> None:
    shown = steps([memory_levels(), receptive_field()], ["", ""])._repr_mimebundle_()
    assert "<button" not in shown["text/html"]
    assert all(f'"⟦{name}⟧"' in shown["text/html"] for name in ("previous", "next", "play", "stop"))
    assert "⟦registers⟧" in shown["image/svg+xml"]
    assert "⟦registers⟧" in memory_levels()._repr_mimebundle_()["image/svg+xml"]


@pytest.mark.usefixtures("pseudo_language")
def test_save_writes_the_readers_language(tmp_path: Path) -> None:
    race_card({"your layers": 4.0}, "", "").save(tmp_path / "card.svg")
    assert "⟦your layers⟧" in (tmp_path / "card.svg").read_text(encoding="utf-8")


def test_what_is_quoted_stays_in_every_language() -> None:
    def shout(text: str) -> str:
        return text.upper()

    assert "read" in token_boxes(["read", "me"]).said(shout).svg()
    assert ">read<" in token_bars(["read"], [1.0]).said(shout).svg()
    assert "READ" in grid(["read"]).said(shout).svg()


def test_a_translation_takes_the_message_that_says_most() -> None:
    say = Translation({"{a} of {b}": "({b}: {a})", "{n} of the input": "输入的 {n} 个", "relu": "RELU"})
    assert say("3 of the input") == "输入的 3 个"
    assert say("3 of relu") == "(RELU: 3)"
    assert say("relu. 3 of the input") == "RELU 输入的 3 个".replace("RELU", "relu.")  # a sentence has its full stop
    assert say("") == ""


def test_wide_letters_have_room_and_fonts() -> None:
    assert text_width("步a") == TEXT + text_width("a")
    assert paragraph("一二三四五六七八九十" * 5, 300).height == 18 * 2
    assert paragraph("一二三四五六七八九十" * 2 + "一二三四五。六", 300).body.count("<text") == 2
    lines = re.findall(r">([^<]+)</text>", paragraph("一二三四五六七八九十" * 2 + "一二三四五。六", 300).body)
    assert lines[1].startswith("五。")  # no line begins with a full stop
    assert "Noto Sans CJK SC" in Picture(9, 9, label(0, 0, "步")).svg()
    assert "Noto Sans CJK SC" not in Picture(9, 9, label(0, 0, "step")).svg()


def test_charts_name_fonts_for_wide_letters() -> None:
    figure, axes = subplots()
    axes.plot([1, 2])
    label_line(axes, "throughput")
    body = chart(figure, "a line").said(lambda text: "吞吐量" if text == "throughput" else text).body
    (line,) = [line for line in body.splitlines() if "吞吐量" in line]
    assert "Noto Sans CJK SC" in line
    assert body.count("Noto Sans CJK SC") == 1


def forms(path: Path) -> Iterator[str]:
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            if form := output.get("data", {}).get(SITE_FORM):
                yield "".join(form)


@LECTURES
def test_stored_pictures_are_read_back_exactly(path: Path) -> None:
    for form in forms(path):
        assert read_form(form).html() == form


def test_pictures_that_one_can_point_at_are_read_back() -> None:
    picture = attention_map([[1, 0], [0.25, 0.75]], ["O", " "], "a title")
    assert read_form(picture.html()).html() == picture.html()
    together = steps([picture, picture], ["a", "b & c"], "all")
    assert read_form(together.html()).html() == together.html()


@LECTURES
@pytest.mark.usefixtures("pseudo_language")
def test_stored_pictures_speak(path: Path) -> None:
    say, lecture = into("xx"), json.loads(path.read_text(encoding="utf-8"))
    left = {word for text in texts_in_pictures(lecture) for word in escaped(say(text), NAMES)}
    assert left - set(CODE.split()) == set()


@LECTURES
def test_chinese_in_pictures_is_not_wider_than_the_english(path: Path) -> None:
    """So that it never runs out of its box: a picture is laid out in English."""
    say, wide = into(CHINESE), []
    for form in forms(path):
        before, after = labels(read_form(form)), labels(read_form(form).said(say))
        wide += [new for old, new in zip(before, after, strict=True) if text_width(new) > text_width(old) + SLACK]
    assert wide == []


def labels(picture: Any) -> list[str]:
    """The texts inside of a picture, without captions."""
    pictures = picture.pictures if isinstance(picture, Steps) else [picture] if isinstance(picture, Picture) else []
    return [unescape(text) for each in pictures for text in re.findall(r"<text[^>]*>([^<]+)</text>", each.body)]


def test_outputs_of_a_lecture_are_put_into_its_language() -> None:
    form = memory_levels().html()
    box = {"text/markdown": ["> **Exercise 1.1 offsets and strides** ..."]}
    lecture: dict[str, Any] = {
        "cells": [
            {"source": ["memory_levels()"], "outputs": [{"data": {SITE_FORM: form}}]},
            {"source": ["from kuiper.course.lecture import task\n", 'task("1.1")'], "outputs": [{"data": box}]},
            {"source": ["print(1)"], "outputs": [{"text": "registers"}]},
            {"source": ["# text"]},
        ]
    }
    put_outputs(lecture, CHINESE)
    picture, task, printed, _ = lecture["cells"]
    assert "寄存器" in words_of(read_form(picture["outputs"][0]["data"][SITE_FORM]))
    assert "".join(task["outputs"][0]["data"]["text/markdown"]).startswith("> **练习 1.1 ")
    assert printed["outputs"][0]["text"] == "registers"


def test_task_of_reads_what_a_cell_ends_with() -> None:
    assert task_of('task(\n    "3.4",\n    "a",\n)') == ["3.4", "a"]
    assert task_of('task("3.4")\nprint()') == task_of("x = 1") == task_of("task(") == []


def test_notebook_language_is_what_its_metadata_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [], "metadata": {"kuiper": {"language": "zh"}}}), encoding="utf-8")
    (tmp_path / "b.ipynb").write_text("{}", encoding="utf-8")
    assert notebook_language.language_in(path) == "zh"
    assert notebook_language.language_in(tmp_path / "b.ipynb") == notebook_language.language_in(tmp_path / "c") == ""
    shell: Any = type("Shell", (), {"user_ns": {}})
    monkeypatch.setitem(notebook_language.sys.modules, "IPython", type("IPython", (), {"get_ipython": lambda: shell}))
    assert notebook_language.notebook_language() == ""
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))  # Jupyter's server
    assert notebook_language.notebook_language() == "zh"
    shell.user_ns["__vsc_ipynb_file__"] = str(tmp_path / "b.ipynb")  # VS Code
    assert notebook_language.notebook_language() == ""
