"""``kuiper serve`` where its packages are missing; tests/serving/http has the rest."""

from __future__ import annotations

import sys

import pytest

from kuiper.cli import main
from kuiper.machine.processes import VARIABLE


@pytest.mark.parametrize("name", ["starlette", "uvicorn", "prometheus_client"])
def test_a_missing_package_is_one_sentence(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("starlette", "uvicorn", "prometheus_client"):
        monkeypatch.setitem(sys.modules, package, None if package == name else sys)
    assert main(["serve", "shakespeare"]) == 1
    said = capsys.readouterr().err
    assert said == f"kuiper serve: HTTP: expected the package {name}, got none; pip install {name}\n"


def test_a_size_is_a_number_with_a_unit(capsys: pytest.CaptureFixture[str]) -> None:
    for size in ("0", "-1", "1T", "1.5G", "much"):
        with pytest.raises(SystemExit):
            main(["serve", "shakespeare", f"--memory={size}"])
        assert f"expected a size such as 512M or 2G, got '{size}'" in capsys.readouterr().err


def test_a_browser_is_told_that_it_has_no_clients(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "none")
    assert main(["serve", "shakespeare"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("kuiper serve: HTTP: expected a system with processes and connections to clients, got none")
