"""argparse's own sentences, and errors of commands: in the reader's language, and in lines that a terminal can hold."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from typing import TYPE_CHECKING

import pytest

from kuiper import cli
from kuiper.cli import COMMANDS, build_parser, main
from kuiper.cli.parser import OWN_WORDS, speaking_parser
from kuiper.cli.terminal import say_failure
from kuiper.course.handout_record import RECORD
from kuiper.language import columns, speaking
from tests.pseudo_language import escaped

if TYPE_CHECKING:
    from pathlib import Path

    Captured = pytest.CaptureFixture[str]

FOR_PROGRAMMERS = re.compile(
    r"conflict|is not callable|must start with|not defined|cannot |can't open|must be optional|is an invalid argument"
    r"|is required for options|unexpected option|argument \"-\"|is deprecated|invalid conflict_resolution|dest="
    r"|: warning: | \(default: |^subcommands$"
)
"""What argparse says of a parser that is wrong, and of what kuiper's parsers do not have."""

COURSE = list(COMMANDS)[list(COMMANDS).index("doctor") :]
NAMES = {"kuiper", "cython", "bubblewrap", "namespaces", "limits", "zh", "JSON", "README", "NumPy"}


def own_words() -> set[str]:
    """The texts that this Python's argparse looks up with gettext."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(argparse))) if isinstance(node, ast.Call)]
    return {
        argument.value
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id in ("_", "ngettext")
        for argument in call.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    }


def test_the_table_has_what_argparse_says_to_users() -> None:
    found = own_words()
    assert "the following arguments are required: %s" in found
    assert {words for words in found if not FOR_PROGRAMMERS.search(words)} <= set(OWN_WORDS)


@pytest.mark.usefixtures("pseudo_language")
@pytest.mark.parametrize("command", [None, *COURSE])
def test_help_speaks(command: str | None, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    inner = {"course": ["start", "update", "sync", "gates", "tasks", "notebooks", "bugs", "translations"]}
    for words in ([], *([word] for word in inner.get(command or "", ()))):
        with pytest.raises(SystemExit):
            main([*([command] if command else []), *words, "--help"])
        text = capsys.readouterr().out
        usage, _, rest = text.partition("\n\n")
        assert usage.startswith("⟦usage: ⟧kuiper")
        known = NAMES | set(COMMANDS) | set(inner["course"]) | set(re.findall("[a-z]+", usage))
        assert [word for word in escaped(rest, known) if not word.isupper()] == []


@pytest.mark.usefixtures("pseudo_language")
@pytest.mark.parametrize(
    "words",
    [["hint", "--level", "x"], ["hint", "--level"], ["reset"], ["reset", "1.1", "x"], ["course", "x"], ["--x"]],
)
def test_wrong_words_are_told_in_the_language(words: list[str], capsys: Captured) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    told = capsys.readouterr().err
    assert "⟦: error: ⟧" in told
    assert escaped(told, {"kuiper", "int", *COMMANDS, "ID", "FUNCTION", "ACTION", "COMMAND"}) == []


@pytest.mark.usefixtures("pseudo_language")
def test_wrong_commands_are_told_in_the_language(capsys: Captured) -> None:
    for word in ("hunt", "xyz"):
        assert main([word]) == 2
        assert escaped(capsys.readouterr().err, {"kuiper", "hint"}) == []


def test_argparse_is_as_it_was_afterwards(pseudo_language: Path) -> None:
    before = vars(argparse)["_"], vars(argparse)["ngettext"]
    with speaking_parser():
        assert vars(argparse)["_"]("options") == "⟦options⟧"
        ngettext = vars(argparse)["ngettext"]
        assert [ngettext("expected %s argument", "expected %s arguments", n) for n in (1, 2)] == [
            *("⟦expected ⟧%s⟦ argument⟧", "⟦expected ⟧%s⟦ arguments⟧")
        ]
    assert (vars(argparse)["_"], vars(argparse)["ngettext"]) == before


@pytest.mark.parametrize("command", COURSE)
def test_help_in_chinese_has_lines_of_eighty_columns(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with speaking("zh"), speaking_parser():
        parser = build_parser(command)
        text = next(action for action in parser._actions if action.choices).choices[command].format_help()  # type: ignore[index]
    assert text.startswith("用法：")
    assert max(map(columns, text.splitlines())) <= 80


def test_usage_goes_on_below_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    with speaking("zh"), speaking_parser():
        parser = build_parser("race")
        usage = next(action for action in parser._actions if action.choices).choices["race"].format_usage()  # type: ignore[index]
    first, second, *_ = usage.splitlines()
    assert columns(first.partition("[")[0]) == columns(second.partition("[")[0])


def test_failures_are_folded_on_a_terminal_only(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    words = "kuiper hint: exercise: expected one of 1.1 to 1.7, got '9.9'"
    say_failure(words)
    assert capsys.readouterr().err == f"{words}\n"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    say_failure(words)
    say_failure("练习：应为 1.1 到 1.7、2.1 到 2.8 中的一个，实际：'9.9'")
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert max(map(columns, lines)) <= 40
    assert " ".join(lines[:2]) == words


def test_the_name_of_the_record_is_the_classrooms() -> None:
    assert cli.RECORD == RECORD


def test_help_speaks_the_language_of_the_folder(
    tmp_path: Path, pseudo_language: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUIPER_LANG")
    monkeypatch.setenv("LC_ALL", "C")
    (tmp_path / "course1").mkdir()
    (tmp_path / "course1" / "course.toml").write_text('title = "x"\n', encoding="utf-8")
    (tmp_path / RECORD).write_text('{"version": "1", "solutions": false, "language": "xx", "files": {}}', "utf-8")
    monkeypatch.chdir(tmp_path / "course1")
    with pytest.raises(SystemExit):
        main(["--help"])
    assert capsys.readouterr().out.startswith("⟦usage: ⟧")
