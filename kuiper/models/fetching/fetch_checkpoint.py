"""From the name of a published language model to its folder in the cache, which runs as it is."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING

from kuiper.errors import DownloadError, ModelFormatError
from kuiper.models.fetching.cache import MANIFEST, check_model, locked, models_folder, read_manifest
from kuiper.models.fetching.checkpoints import CHECKPOINTS
from kuiper.models.fetching.download import download, sha256_of
from kuiper.models.text.extra import package

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kuiper.models.fetching.download import Patience

    Report = Callable[[str, int, int], None]

_NEEDED = ("filelock", "safetensors", "tokenizers", "jinja2")


def fetch_checkpoint(
    name: str, *, mirror: str = "", patience: Patience | None = None, report: Report | None = None
) -> Path:
    """The folder of a published language model in the cache; what is not there yet, or is damaged, is downloaded.

    Parameters
    ----------
    name : one of ``CHECKPOINTS``
    mirror : an address below which the files lie under the same names as on the official server
    patience : how long to wait for the server
    report : called with what is being done, and how many bytes of how many are there

    Returns
    -------
    A folder for ``kuiper.models.text.language_model.load``.

    Raises
    ------
    DownloadError
        If a file cannot be had, or is not the catalogue's.
    ImportError
        If a package that the model needs is not installed; nothing is downloaded then.
    """
    source, report = CHECKPOINTS[name], report or (lambda step, done, total: None)
    for needed in _NEEDED:
        package(needed, f"kuiper fetch {name}")
    folder = models_folder() / name
    report("waiting for another kuiper fetch", 0, 0)
    with locked(name):
        if _is_whole(name):
            return folder
        for file, (size, sha256) in source.files.items():
            target = folder / file
            if not _is_there(target, sha256):
                url = f"{mirror.rstrip('/')}/{file}" if mirror else source.url(file)
                report(f"downloading {file}", 0, size)
                download(url, target, sha256, size, patience, partial(report, f"downloading {file}"))
        notes = {
            "source": f"{source.page}/tree/{source.revision}",
            "licence": source.licence,
            "files": _hashes(name),
        }
        waiting = folder / f"{MANIFEST}.part"
        waiting.write_text(json.dumps(notes, indent=2) + "\n", encoding="utf-8")
        os.replace(waiting, folder / MANIFEST)
        return folder


def _is_whole(name: str) -> bool:
    """Whether the model is in the cache, with the files of this catalogue."""
    try:
        check_model(name)
    except ModelFormatError:
        return False
    return bool(read_manifest(name)["files"] == _hashes(name))


def _hashes(name: str) -> dict[str, str]:
    """The SHA-256 of each file, by the catalogue."""
    return {file: published.sha256 for file, published in CHECKPOINTS[name].files.items()}


def _is_there(path: Path, sha256: str) -> bool:
    try:
        return sha256_of(path).hexdigest() == sha256
    except FileNotFoundError:
        return False
    except OSError as error:
        raise DownloadError(str(path), "a file of the cache", error.strerror) from error
