from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kuiper.user_cache import user_cache


def test_user_cache_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUIPER_CACHE", str(tmp_path))
    assert user_cache() == tmp_path


@pytest.mark.parametrize(
    ("platform", "expected"),
    [("linux", ".cache/kuiper"), ("darwin", "Library/Caches/kuiper"), ("win32", "kuiper")],
)
def test_user_cache_is_what_the_platform_uses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, expected: str
) -> None:
    for name in ("KUIPER_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(sys, "platform", platform)
    assert user_cache() == tmp_path / expected


@pytest.mark.parametrize(("platform", "variable"), [("linux", "XDG_CACHE_HOME"), ("win32", "LOCALAPPDATA")])
def test_user_cache_heeds_the_platforms_variable(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, platform: str, variable: str
) -> None:
    monkeypatch.delenv("KUIPER_CACHE", raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    assert user_cache() == tmp_path / "kuiper"
