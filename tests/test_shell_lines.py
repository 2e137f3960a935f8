"""What pages tell readers to type: every ``kuiper`` line parses, and those on models that come with kuiper run."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest

import kuiper
from kuiper.cli import COMMANDS, build_parser, main
from kuiper.models import bundled
from tests.words import pages

ROOT = Path(__file__).parents[1]
RUN = {
    "bench",
    "classify",
    "detect",
    "doctor",
    "draw",
    "explore",
    "generate",
    "plan",
    "profile",
    "run",
    "segment",
    "show",
}
"""Commands that are run here if all that a line names is there; the others have tests of their own."""
INPUTS = ("model", "images", "inputs", "text_model")
OTHERS = ("mine", "serve")  # a student's layers, a server: these have tests of their own
PRINTED = ("kuiper beside ",)  # how lines begin that the program prints


def lines_of(page: str) -> list[str]:
    """The lines of blocks of code that begin with the program's name, without their comments."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    found = re.findall(r"^(?:KUIPER_\w+=\S+ )?(kuiper .+?)(?:\s+#.*)?$", "\n".join(blocks), re.MULTILINE)
    return [
        line for line in found if page != "docs/use/commands.md" and "..." not in line and not line.startswith(PRINTED)
    ]


LINES = sorted({(page, line) for page in pages() for line in lines_of(page)})


def words_of(line: str) -> list[str]:
    return shlex.split(line)[1:]


@pytest.mark.parametrize(("page", "line"), LINES)
def test_lines_parse(page: str, line: str) -> None:
    words = words_of(line)
    assert words[0] in COMMANDS, page
    build_parser(words[0]).parse_args(words)  # a mistake is SystemExit


def comes_with_kuiper(word: str, folder: Path) -> bool:
    """Whether a word of a line is a model by name, or a file below the folder; what is no path counts as well."""
    if re.fullmatch(r"[\w-]+", word):
        return bundled_or_none(word) or word.startswith("-")
    return (folder / word).exists() if "/" in word or "." in word else True


def bundled_or_none(name: str) -> bool:
    try:
        return bool(bundled(name))
    except kuiper.KuiperError:
        return False


def can_run(line: str, folder: Path) -> bool:
    """Whether a line names nothing but what comes with kuiper."""
    words = words_of(line)
    if words[0] not in RUN:
        return False
    arguments = build_parser(words[0]).parse_args(words)
    if any(getattr(arguments, name, False) for name in OTHERS):
        return False
    named = [value for name in INPUTS for value in flat(getattr(arguments, name, None))]
    return all(comes_with_kuiper(value, folder) for value in named)


def flat(value: object) -> list[str]:
    if value is None:
        return []
    return [str(each) for each in value] if isinstance(value, list | tuple) else [str(value)]


RUNNABLE = [(page, line) for page, line in LINES if can_run(line, ROOT)]


@pytest.mark.parametrize(("page", "line"), RUNNABLE)
def test_lines_run(
    page: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kuiper").symlink_to(ROOT / "kuiper", target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    assert main(words_of(line)) == 0, (page, capsys.readouterr().err)


def test_some_lines_are_run() -> None:
    assert len(RUNNABLE) >= 5


def test_lines_of_finds_commands_and_leaves_comments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_shell_lines.ROOT", tmp_path)
    (tmp_path / "a.md").write_text("kuiper no\n```\nkuiper show x   # a comment\nKUIPER_ARCH=y kuiper bench\n```\n")
    assert lines_of("a.md") == ["kuiper show x", "kuiper bench"]
    with pytest.raises(SystemExit):
        test_lines_parse("a.md", "kuiper course")


def test_commands_page_has_no_usage_that_fails() -> None:
    """A command that needs one of its own commands says so in its usage."""
    for name in COMMANDS:
        for action in build_parser(name)._actions:
            if isinstance(action, argparse._SubParsersAction):
                inner = action.choices[name]
                needs = any(isinstance(each, argparse._SubParsersAction) and each.required for each in inner._actions)
                page = (ROOT / "docs" / "use" / "commands.md").read_text(encoding="utf-8")
                usage = page.split(f"### kuiper {name}\n")[1].split("```")[1].strip()
                assert usage.endswith(" ACTION ...") == needs
