"""Where fetched models lie: the files of each, and a manifest with their hashes.

    <user cache>/models/resnet18/resnet18.pnnx.param, resnet18.pnnx.bin, resnet18.json, manifest.json
    <user cache>/models/gpt2/config.json, tokenizer.json, model.safetensors, manifest.json
    <user cache>/downloads/resnet18-f37072fd.pth

Files are renamed into place, the manifest last: a model is in the cache once the manifest agrees with the files.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kuiper.bounded_file import read_json
from kuiper.errors import ModelFormatError
from kuiper.models.fetching.download import sha256_of
from kuiper.user_cache import user_cache

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MANIFEST = "manifest.json"
_CONFIG = "config.json"  # of a checkpoint, which is a folder that runs as it is


def downloads_folder() -> Path:
    """Where weights lie as they were published."""
    return user_cache() / "downloads"


def models_folder() -> Path:
    """Where the models lie, each in a folder of its name."""
    return user_cache() / "models"


def model_files(name: str) -> tuple[str, str, str]:
    """The files that a converted model consists of.

    >>> model_files("resnet18")
    ('resnet18.pnnx.param', 'resnet18.pnnx.bin', 'resnet18.json')
    """
    return f"{name}.pnnx.param", f"{name}.pnnx.bin", f"{name}.json"


def cached_names() -> list[str]:
    """The names of the models in the cache, whole or damaged."""
    return sorted(path.parent.name for path in models_folder().glob(f"*/{MANIFEST}"))


def read_manifest(name: str) -> dict[str, Any]:
    """What is noted about a model in the cache: ``files`` (SHA-256 by name), source, licence, difference from torch ...

    Raises
    ------
    ModelFormatError
        If there is none, or none that can be read.
    """
    path = models_folder() / name / MANIFEST
    manifest = read_json(path, ModelFormatError, "a manifest in JSON")
    if not isinstance(manifest, dict) or not isinstance(manifest.get("files"), dict):
        raise ModelFormatError(str(path), "a manifest with the hashes of files", manifest)
    return manifest


def check_model(name: str) -> Path:
    """The .param file of a model in the cache, or the folder of a checkpoint; all files have the manifest's hashes.

    Raises
    ------
    ModelFormatError
        If the model is not there, or a file is missing or has changed.
    """
    folder = models_folder() / name
    hashes = read_manifest(name)["files"]
    is_checkpoint = _CONFIG in hashes
    for file in hashes if is_checkpoint else model_files(name):
        path = folder / file
        if not path.is_file():
            raise ModelFormatError(str(path), "a file of the cache", "nothing there")
        found = sha256_of(path).hexdigest()
        if found != hashes.get(file):
            raise ModelFormatError(str(path), f"SHA-256 {hashes.get(file)}", found, "the file has changed")
    return folder if is_checkpoint else folder / model_files(name)[0]


@contextmanager
def locked(name: str) -> Iterator[None]:
    """While one process brings a model into the cache; no process that has ended keeps others waiting."""
    from filelock import FileLock

    models_folder().mkdir(parents=True, exist_ok=True)
    with FileLock(models_folder() / f"{name}.lock"):
        yield


def keep_model(name: str, made: Path, notes: dict[str, Any]) -> Path:
    """Move a model's files from the folder ``made``, on the same disk, into the cache; its .param file there."""
    folder = models_folder() / name
    folder.mkdir(parents=True, exist_ok=True)
    hashes = {file: sha256_of(made / file).hexdigest() for file in model_files(name)}
    (made / MANIFEST).write_text(json.dumps({**notes, "files": hashes}, indent=2) + "\n", encoding="utf-8")
    for file in (*hashes, MANIFEST):
        os.replace(made / file, folder / file)
    return folder / model_files(name)[0]
