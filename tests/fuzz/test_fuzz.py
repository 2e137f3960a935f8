"""Every reader on the corpus of the fuzzer, and on what hypothesis makes of the words of its format."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.__main__ import figures_of, kept, main
from tests.fuzz.inputs import CORPUS, ROOT, dictionary, seeds, target_names
from tests.fuzz.targets import TARGETS

if TYPE_CHECKING:
    from pathlib import Path


def words_of(target: str) -> st.SearchStrategy[bytes]:
    """Words of a format in any order, with bytes between them."""
    words = [json.loads(line) for line in dictionary(target).splitlines()] or [" "]
    return st.lists(st.one_of(st.sampled_from(words).map(str.encode), st.binary(max_size=4))).map(b"".join)


def changed_seeds(target: str) -> st.SearchStrategy[bytes]:
    """An input of the corpus with a part cut out, doubled or replaced."""
    place = st.integers(0, 600)
    known = [path.read_bytes() for path in seeds(target)]
    return st.builds(
        lambda seed, start, length, new: seed[:start] + new + seed[start + length :],
        st.sampled_from(known),
        place,
        st.integers(0, 8),
        st.one_of(words_of(target), st.binary(max_size=8)),
    )


def test_every_target_has_words_and_seeds() -> None:
    assert list(TARGETS) == target_names()
    assert {path.name for path in CORPUS.iterdir()} == set(TARGETS)
    assert all(len(seeds(target)) >= 2 for target in TARGETS)


@pytest.mark.parametrize(("target", "name"), [(target, path.name) for target in TARGETS for path in seeds(target)])
def test_target_stands_on_its_corpus(target: str, name: str) -> None:
    TARGETS[target]((CORPUS / target / name).read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_target_stands_on_made_up_inputs(target: str) -> None:
    @settings(max_examples=60, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(st.one_of(words_of(target), changed_seeds(target), st.binary(max_size=200)))
    def stands(data: bytes) -> None:
        TARGETS[target](data)

    stands()


def test_targets_notice_what_a_reader_lets_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.targets.evaluate_prefix", lambda text, inputs: 3)
    with pytest.raises(AssertionError, match="is 2 for the stack machine and 3 from the right"):
        TARGETS["expression"](b"add(1,1)")
    monkeypatch.setattr("tests.fuzz.targets.printable", lambda text: text)
    with pytest.raises(AssertionError, match="is shown as"):
        TARGETS["terminal"](b"\x1b[31m")
    monkeypatch.setattr("tests.fuzz.targets.load_csv", lambda path, separator: {}["no KuiperError"])
    with pytest.raises(KeyError):
        TARGETS["csv"](b"1")


def test_main_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["tests.fuzz"])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main() == 1
    assert capsys.readouterr().err == (
        "fuzzing needs atheris, which is not installed: pip has it for CPython on Linux\n"
    )


def test_kept_puts_an_input_where_the_tests_find_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.__main__.CORPUS", tmp_path)
    (tmp_path / "csv").mkdir()
    (tmp_path / "crash-0123456789abcdef").write_bytes(b"1,,x")
    assert kept(tmp_path / "crash-0123456789abcdef", "csv").read_bytes() == b"1,,x"
    assert [path.name for path in (tmp_path / "csv").iterdir()] == ["found-0123456789ab"]


def test_search_tries_inputs_and_ends_in_time() -> None:
    pytest.importorskip("atheris", reason="pip has atheris for CPython on Linux")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        command = [sys.executable, "-m", "tests.fuzz", "wire", "--seconds", "1"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("wire: ")
    assert "executions in 1 s" in done.stdout


def test_figures_of_adds_up_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.fuzz.__main__.RECORDS", tmp_path)
    first = figures_of({"csv": 5, "wire": 1}, 1)
    (tmp_path / "fuzz.json").write_text(json.dumps({"figures": first}))
    figures = figures_of({"csv": 7}, 0)
    assert figures["executions of csv"] == 12
    assert figures["executions, all runs together"] == 13
    assert figures["inputs at which a reader fell in the last run"] == 0
