"""Names of files, labels and operators are printed as they are read, and never act upon the terminal."""

from __future__ import annotations

import ast
import io
import json
import re
from pathlib import Path

import pytest
from PIL import Image

from kuiper import cli
from kuiper.cli import main
from kuiper.cli.grade import details, table_of
from kuiper.cli.terminal import PlainConsole, open_console, say, say_json
from kuiper.course.grade import Grade, Report
from kuiper.graph.report import Column
from kuiper.graph.report import Report as Table
from kuiper.models.many.record_file import RecordFile
from tests.course.made_up import made_up
from tests.models.little_models import relu_model, rows_model

ACTIVE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""All that a terminal acts upon but the end of a line."""

NAME = "\x1b[31m[red]:cat:\n\u202efake\x9b2J\x07"
SHOWN = r"\x1b[31m[red]:cat:\n\u202efake\x9b2J\x07"

OPERATOR = "relu\x9b2J\u202e[red]:cat:"
"""What an operator may be called: a .param file has no other control characters."""


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """What the program has printed, which is safe and has no line that a name has made."""
    said = capsys.readouterr()
    for text in said:
        assert not ACTIVE.search(text), ascii(text)
        assert not any(line.startswith(("fake", "\u202efake")) for line in text.splitlines())
    return said.out + said.err


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / f"photo{NAME}.png"
    Image.new("RGB", (70, 20), (3, 1, 4)).save(path)
    return path


@pytest.fixture
def detector(tmp_path: Path) -> Path:
    param = rows_model(tmp_path, labels=2)
    card = {"task": "detect", "labels": [NAME, NAME], "size": [2, 7], "std": [1 / 255] * 3, "confidence": 0}
    param.with_name("net.json").write_text(json.dumps(card), encoding="utf-8")
    return param


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """One operator with a hostile name, in a file with another."""
    param = tmp_path / f"net{NAME}.param"
    lines = ["pnnx.Input in 0 1 0 #0=(1,3)f32", f"nn.ReLU {OPERATOR} 1 1 0 1 #1=(1,3)f32", "pnnx.Output o 1 0 1"]
    param.write_text("\n".join(["7767517", "3 2", *lines]) + "\n", encoding="utf-8")
    return param


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_detect_prints_labels_and_paths_as_they_are(
    detector: Path, photo: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["detect", str(photo), "--model", str(detector), *words]) == 0
    text = printed(capsys)
    if words:
        assert json.loads(text)["image"] == str(photo)
    else:
        assert text.count(SHOWN) >= 2


def test_classify_prints_labels_and_paths_as_they_are(
    photo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kuiper.models.predictor.Predictor.__call__", lambda *_: [(NAME, 0.5)])
    assert main(["classify", str(photo)]) == 0
    assert printed(capsys).count(SHOWN) == 2


def test_segment_prints_labels_and_paths_as_they_are(
    photo: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    param = relu_model(folder)
    card = {"task": "segment", "labels": ["a", "b", NAME]}
    (folder / f"{param.name.partition('.')[0]}.json").write_text(json.dumps(card), encoding="utf-8")
    assert main(["segment", str(photo), "--model", str(param), "-o", str(tmp_path / f"{NAME}.png")]) == 0
    text = printed(capsys)
    assert f"wrote {tmp_path}/{SHOWN}.png" in text
    assert text.count(SHOWN) >= 3


@pytest.mark.parametrize(
    "words",
    [
        ["show"],
        ["show", "--shape", "1,3"],
        ["plan", "--runs", "1"],
        ["profile", "--runs", "1", "--random-weights"],
        ["bench", "--runs", "1"],
        ["bench", "--runs", "1", "--json"],
        ["draw", "-o", "OUT.svg"],
        ["draw", "-o", "OUT.mmd"],
    ],
    ids=" ".join,
)
def test_operators_are_printed_as_they_are(
    model: Path, tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    command, *more = words
    more = [str(tmp_path / word) if word.startswith("OUT") else word for word in more]
    assert main([command, str(model), *more]) == 0
    text = printed(capsys)
    if command == "draw":
        drawn = Path(more[-1]).read_text(encoding="utf-8")
        assert not ACTIVE.search(drawn)
        assert r"relu\x9b2J\u202e[red]:cat:" in drawn
    elif command != "bench":
        assert r"relu\x9b2J\u202e[red]:cat:" in text


@pytest.mark.parametrize(
    "words",
    [
        ["classify", NAME],
        ["classify", "-o", NAME, "cat.jpg"],
        ["detect", "--labels", NAME, "cat.jpg"],
        ["detect", "--model", NAME, "cat.jpg"],
        ["show", f"{NAME}.param"],
        ["run", f"{NAME}.param", f"{NAME}.npy"],
        ["convert", f"{NAME}:Net", "--input", "1"],
        ["fetch", NAME],
        ["race", NAME],
        ["hint", NAME],
        ["classify", "--top", NAME, "cat.jpg"],
        [NAME],
    ],
    ids=ascii,
)
def test_errors_about_names_are_safe(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(words)
    except SystemExit as ended:  # of argparse
        code = int(str(ended.code))
    assert code in (1, 2)
    assert "[31m" in printed(capsys)


def test_the_course_is_printed_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made_up(tmp_path)
    manifest = tmp_path / "course1_made_up" / "course.toml"
    text = manifest.read_text(encoding="utf-8")
    shown = r"\u001b[31m[red]:cat:\u202e"
    manifest.write_text(text.replace('title = "double"', f'title = "{shown}"').replace("what is twice?", shown))
    for words in (["progress"], ["hint", "1.1"]):
        assert main(words) == 0
        assert r"\x1b[31m[red]:cat:\u202e" in printed(capsys).replace("\n", "")


def test_submissions_are_printed_as_they_are() -> None:
    grade = Grade("1.1", NAME, 0, 1, 0, 1, NAME, "message")
    report = Report(NAME, (grade,), (NAME,))
    for table in (details(report), table_of([report, report])):
        page = io.StringIO()
        PlainConsole(file=page, width=400).print(table)
        assert not ACTIVE.search(page.getvalue())
        assert r"\x1b[31m[red]:cat:" in page.getvalue()


def test_tables_are_printed_as_they_are() -> None:
    table = Table(NAME, [Column("name")], [[NAME], [r"back\[slash]"]], NAME)
    assert not ACTIVE.search(str(table))
    assert str(table).count(r"\x1b[31m[red]:cat:\n\u202efake") == 2
    assert r"back\[slash]" in str(table)
    assert not ACTIVE.search(table._repr_html_())


def test_record_files_are_quoted_safely(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text(NAME)
    with pytest.raises(ValueError) as caught:
        RecordFile(tmp_path / "out.jsonl", {"task": "classify"})
    assert not ACTIVE.search(str(caught.value))


def test_say_json_is_ascii_and_still_json(capsys: pytest.CaptureFixture[str]) -> None:
    say_json({"label": f"{NAME}\x7f"})
    text = printed(capsys)
    assert text.isascii()
    assert json.loads(text) == {"label": f"{NAME}\x7f"}


def test_say_keeps_lines_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    say("one\ntwo\x1b[2J\r", error=True)
    assert capsys.readouterr().err == "one\ntwo\\x1b[2J\\r\n"


def test_console_knows_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    open_console(soft_wrap=True).print("[red]:cat:[/] \x1b[2J")
    assert capsys.readouterr().out == "[red]:cat:[/] \\x1b[2J\n"


def test_the_program_prints_in_one_place_only() -> None:
    """``print`` and rich's consoles, which pass everything on, are used in terminal.py alone."""
    for path in sorted(Path(cli.__file__).parent.glob("*.py")):
        calls = [
            node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
        ]
        names = {call.id for call in calls if isinstance(call, ast.Name)}
        streams = {ast.unparse(call) for call in calls} & {"sys.stdout.write", "sys.stderr.write"}
        assert path.name == "terminal.py" or not streams | names & {"print", "Console"}, path.name
