"""Weights that a copy of kuiper leaves out: from where they come, and what one sentence says where they do not."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import kuiper
from kuiper.errors import ModelFormatError
from kuiper.models import bundle, bundled, elsewhere

WEIGHTS = "shapes_unet.pnnx.bin"


@pytest.fixture
def lean(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the zoo whose weights of one model lie in the folder that is returned."""
    zoo, away = tmp_path / "models" / "zoo", tmp_path / "away"
    zoo.mkdir(parents=True)
    away.mkdir()
    for path in bundled("shapes_unet").parent.glob("shapes_unet.*"):
        shutil.copy(path, away if path.name == WEIGHTS else zoo)
    data = (away / WEIGHTS).read_bytes()
    facts = {WEIGHTS: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}}
    (zoo / elsewhere.LIST).write_text(json.dumps(facts), encoding="utf-8")
    monkeypatch.setattr(bundle, "_FOLDER", zoo.parent)
    monkeypatch.setenv(elsewhere.VARIABLE, str(away))
    return away


def test_bundled_brings_the_weights_from_a_folder(lean: Path) -> None:
    expected = np.asarray(kuiper.load(Path(kuiper.__file__).parent / "models/zoo/shapes_unet.pnnx.param")(pixels()))
    param = bundled("shapes_unet")
    assert (param.parent / WEIGHTS).read_bytes() == (lean / WEIGHTS).read_bytes()
    assert np.array_equal(np.asarray(kuiper.load(param)(pixels())), expected)
    (lean / WEIGHTS).unlink()
    bundled("shapes_unet")  # they are there now


def pixels() -> np.ndarray:
    return np.full((1, 3, 64, 64), 0.25, np.float32)


def test_bundled_refuses_other_weights_of_the_same_name(lean: Path) -> None:
    (lean / WEIGHTS).write_bytes(b"something else")
    with pytest.raises(ModelFormatError, match=rf"weights {WEIGHTS} \(0.2 MB\) at .*, got another file of this name"):
        bundled("shapes_unet")
    assert not list(bundle._FOLDER.rglob("*.bin*"))


def test_bundled_says_where_it_looked(lean: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (lean / WEIGHTS).unlink()
    with pytest.raises(ModelFormatError, match=rf"{WEIGHTS} \(0.2 MB\) at {lean}, got No such file.*; .*KUIPER_MODELS"):
        bundled("shapes_unet")
    monkeypatch.delenv(elsewhere.VARIABLE)
    with pytest.raises(ModelFormatError, match=r"got no place to look for them; .*KUIPER_MODELS says"):
        bundled("shapes_unet")
    monkeypatch.setenv(elsewhere.VARIABLE, "https://example.org/models")
    with pytest.raises(ModelFormatError, match=r"at https://example.org/models, got no browser that fetches it"):
        bundled("shapes_unet")


class Request:
    """A browser's XMLHttpRequest, to a server that has one folder."""

    folder: Path
    asked: str

    @classmethod
    def new(cls) -> Request:
        return cls()

    def open(self, method: str, address: str, asynchronous: bool) -> None:
        assert (method, asynchronous) == ("GET", False)
        type(self).asked = address

    def overrideMimeType(self, kind: str) -> None:
        assert kind.endswith("charset=x-user-defined")

    def send(self) -> None:
        file = self.folder / self.asked.rpartition("/")[2]
        self.status = 200 if file.exists() else 404
        if file.exists():  # Encoding Standard, 14.5: bytes from 128 on become U+F780 and so on
            self.responseText = "".join(chr(b if b < 128 else 0xF700 + b) for b in file.read_bytes())


@pytest.fixture
def browser(lean: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As if this Python ran in a page."""
    js = ModuleType("js")
    js.XMLHttpRequest = Request  # type: ignore[attr-defined]
    monkeypatch.setattr(Request, "folder", lean, raising=False)
    monkeypatch.setitem(sys.modules, "js", js)
    monkeypatch.setattr(elsewhere, "sys", SimpleNamespace(platform="emscripten"))
    return lean


def test_bundled_fetches_the_weights_from_an_address(browser: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(elsewhere.VARIABLE, "https://example.org/models/")
    param = bundled("shapes_unet")
    assert Request.asked == f"https://example.org/models/{WEIGHTS}"
    assert (param.parent / WEIGHTS).read_bytes() == (browser / WEIGHTS).read_bytes()


def test_bundled_looks_beside_the_wheel_that_was_installed(browser: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(elsewhere.VARIABLE)
    noted = SimpleNamespace(read_text={"PYODIDE_URL": "https://example.org/site/kuiper-0.1.0-x.whl"}.get)
    monkeypatch.setattr(elsewhere, "distribution", lambda name: noted)
    bundled("shapes_unet")
    assert Request.asked == f"https://example.org/site/models/{WEIGHTS}"
    monkeypatch.setattr(elsewhere, "distribution", _not_installed)
    (bundle._FOLDER / "zoo" / WEIGHTS).unlink()
    with pytest.raises(ModelFormatError, match="got no place"):
        bundled("shapes_unet")


def test_bundled_looks_beside_the_wheel_that_a_lock_file_names(browser: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(elsewhere.VARIABLE)
    noted = SimpleNamespace(read_text={"PYODIDE_SOURCE": "pyodide"}.get)
    monkeypatch.setattr(elsewhere, "distribution", lambda name: noted)
    packages = SimpleNamespace(kuiper=SimpleNamespace(file_name="packages/kuiper-0.1.0-x.whl"))
    pyodide = SimpleNamespace(lockfileBaseUrl="https://example.org/lab/", lockfile=SimpleNamespace(packages=packages))
    monkeypatch.setitem(sys.modules, "pyodide_js", pyodide)
    bundled("shapes_unet")
    assert Request.asked == f"https://example.org/lab/packages/models/{WEIGHTS}"


def _not_installed(name: str) -> None:
    raise importlib.metadata.PackageNotFoundError(name)


def test_bundled_gives_the_servers_refusal(browser: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(elsewhere.VARIABLE, "https://example.org/models")
    (browser / WEIGHTS).unlink()
    with pytest.raises(ModelFormatError, match=r"at https://example.org/models, got status 404"):
        bundled("shapes_unet")
