"""Models in pickles: nothing of them runs before that has been said and allowed."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from tests.models.conversion.pickles import RunsCode

if TYPE_CHECKING:
    from pathlib import Path
from tests.cli.test_convert import IMAGE, run


@pytest.mark.torch
class TestPickles:
    """A pickle is code: nothing of it runs before that has been said and allowed."""

    @pytest.fixture
    def pickle(self, tmp_path: Path) -> Path:
        import torch

        torch.save(RunsCode(tmp_path / "marker"), tmp_path / "model.pt")
        return tmp_path / "model.pt"

    @pytest.mark.parametrize("answer", [None, "", "n\n"])
    def test_it_is_not_loaded_unless_somebody_says_yes(
        self, pickle: Path, answer: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr(sys, "stdin", Terminal(answer) if answer is not None else io.StringIO("y\n"))
        assert run(pickle, "--input", IMAGE) == 1
        said = capsys.readouterr()
        assert "model.pt is a pickled module, or another file: loading it runs any code that is in it" in said.out
        assert ("Do you trust" in said.out) == (answer is not None)
        assert "expected TorchScript, got a pickled module, or another file; loading it would run code" in said.err
        assert not (pickle.parent / "marker").exists()

    @pytest.mark.parametrize(("words", "answer"), [(["--yes"], ""), ([], "y\n")])
    def test_it_is_loaded_after_the_warning_if_somebody_says_yes(
        self,
        pickle: Path,
        words: list[str],
        answer: str,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        assert run(pickle, "--input", IMAGE, *words) == 1
        said = capsys.readouterr()
        assert "loading it runs any code that is in it" in said.out
        assert "TypeError: a NoneType, no torch.nn.Module" in said.err
        assert (pickle.parent / "marker").exists()


class Terminal(io.StringIO):
    """Somebody at the keyboard."""

    def isatty(self) -> bool:
        return True
