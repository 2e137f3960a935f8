"""The steps from a name to a model in the cache."""

from __future__ import annotations

import importlib.util
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kuiper.errors import DownloadError, ExportError, ModelFormatError
from kuiper.models.fetching.cache import (
    check_model,
    downloads_folder,
    keep_model,
    locked,
    models_folder,
    read_manifest,
)
from kuiper.models.fetching.catalogue import Official, official
from kuiper.models.fetching.download import Patience, download, sha256_of
from kuiper.models.fetching.making import make_model

if TYPE_CHECKING:
    from collections.abc import Callable

    Report = Callable[[str, int, int], None]


def fetch(
    name: str,
    *,
    force: bool = False,
    mirror: str = "",
    offline_file: Path | None = None,
    patience: Patience | None = None,
    report: Report | None = None,
) -> Path:
    """The .param file of official weights in the cache; what is not there yet is downloaded, converted and compared.

    Parameters
    ----------
    force : make the model anew although it is in the cache; weights with the right hash are not downloaded twice
    mirror : an address below which the file lies under the same name as on the official server
    offline_file : the weights, if they came here by other means
    report : called with what is being done, and, of a download, how many bytes of how many are there

    Raises
    ------
    ParameterError
        If the catalogue does not have the name, or the weights are not those of the architecture.
    ExportError
        If PyTorch or pnnx is missing (before anything is downloaded), or the conversion fails.
    DownloadError
        If the file cannot be had, or is not the catalogue's.
    """
    source = official(name)
    report = report or (lambda step, done, total: None)
    if not force and (cached := _cached(name, source)):
        return cached
    _require_tools(name)
    report("waiting for another kuiper fetch", 0, 0)
    with locked(name):
        if not force and (cached := _cached(name, source)):  # by the one that was waited for
            return cached
        weights = _checked(offline_file, source) if offline_file else _downloaded(source, mirror, patience, report)
        report("converting, and comparing with torch", 0, 0)
        return _made(name, source, weights)


def _cached(name: str, source: Official) -> Path | None:
    """The model in the cache, if it is whole and made from these weights."""
    try:
        param = check_model(name)
    except ModelFormatError:
        return None
    return param if read_manifest(name).get("sha256") == source.sha256 else None


def _require_tools(name: str) -> None:
    for module in ("torch", "pnnx", "filelock"):
        if importlib.util.find_spec(module) is None:
            raise ExportError(name, "PyTorch and pnnx", f"no module {module}", "pip install torch pnnx filelock")


def _made(name: str, source: Official, weights: Path) -> Path:
    with tempfile.TemporaryDirectory(dir=models_folder().parent, prefix="making-") as folder:
        notes = make_model(name, source, weights, Path(folder))
        return keep_model(name, Path(folder), notes)


def _checked(path: Path, source: Official) -> Path:
    try:
        found = sha256_of(path).hexdigest()
    except OSError as error:
        raise DownloadError(str(path), f"the file {source.file_name}", error.strerror) from error
    if found != source.sha256:
        raise DownloadError(str(path), f"SHA-256 {source.sha256}, that of {source.file_name}", found)
    return path


def _downloaded(source: Official, mirror: str, patience: Patience | None, report: Report) -> Path:
    """The weights in the cache's folder for downloads."""
    target = downloads_folder() / source.file_name
    if not target.is_file() or sha256_of(target).hexdigest() != source.sha256:
        url = f"{mirror.rstrip('/')}/{source.file_name}" if mirror else source.url
        report("downloading", 0, source.size)
        download(url, target, source.sha256, source.size, patience, partial(report, "downloading"))
    return target
