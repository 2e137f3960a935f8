"""Bring a published model into the cache; one of pictures is converted, and compared with torch."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from kuiper.cli.terminal import open_console, say
from kuiper.errors import ModelFormatError, ParameterError
from kuiper.models.fetching.cache import cached_names, check_model, models_folder, read_manifest
from kuiper.models.fetching.catalogue import CATALOGUE, official
from kuiper.models.fetching.checkpoints import CHECKPOINTS
from kuiper.models.fetching.fetch import fetch
from kuiper.models.fetching.fetch_checkpoint import fetch_checkpoint
from kuiper.models.fetching.making import UNKNOWN_LABELS
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator


def add_arguments(parser: argparse.ArgumentParser) -> None:
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("name", nargs="?", metavar="NAME", help="which model, see --list")
    wanted.add_argument("--list", action="store_true", help="print what there is, and what is in the cache")
    parser.add_argument(
        "--force", action="store_true", help="convert the weights anew although the model is in the cache"
    )
    origin = parser.add_mutually_exclusive_group()
    origin.add_argument("--mirror", default="", metavar="URL", help="download URL/FILE instead of the official address")
    origin.add_argument("--offline-file", type=Path, metavar="FILE", help="use weights that are here already")


def execute(arguments: argparse.Namespace) -> int:
    if arguments.list:
        print_list()
        return 0
    name = arguments.name
    if name in CHECKPOINTS:
        return fetch_language_model(arguments)
    if name not in CATALOGUE:
        raise ParameterError("catalogue", f"one of {', '.join([*CATALOGUE, *CHECKPOINTS])}", name)
    with progress_bar(name) as report:
        param = fetch(
            name,
            force=arguments.force,
            mirror=arguments.mirror,
            offline_file=arguments.offline_file,
            report=report,
        )
    source, notes = official(name), read_manifest(name)
    say(printable(str(param)))
    say(f"kuiper and torch differ by {notes['difference']:.1e} of the largest output")
    say(f"licence: {source.licence}; {source.page}")
    if notes["labels"] == UNKNOWN_LABELS:
        say(f"labels: {UNKNOWN_LABELS}; pip install torchvision, then kuiper fetch {name} --force")
    say(f"use it: kuiper {source.task} PHOTO.jpg --model {name}")
    return 0


def fetch_language_model(arguments: argparse.Namespace) -> int:
    """A published language model: its files are all that is needed."""
    name = arguments.name
    source = CHECKPOINTS[name]
    if arguments.offline_file is not None:
        hint = f"a folder with {', '.join(source.files)} needs no fetching: kuiper generate --model FOLDER"
        raise ParameterError("--offline-file", "weights of one file", name, hint)
    with progress_bar(name) as report:
        folder = fetch_checkpoint(name, mirror=arguments.mirror, report=report)
    say(printable(str(folder)))
    say(f"licence: {source.licence}; {source.page}")
    say(f"use it: kuiper chat --model {name}" if source.chats else f'use it: kuiper generate "Once" --model {name}')
    return 0


@contextmanager
def progress_bar(name: str) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr while something is fetched, if stderr is a terminal."""
    console = open_console(error=True)
    columns = BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()
    text = TextColumn("{task.description}", markup=False)
    with Progress(text, *columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(name, total=None)

        def report(step: str, done: int, total: int) -> None:
            progress.update(task, description=f"{name}: {step}", completed=done, total=total or None)

        yield report


def print_list() -> None:
    """One line for each entry of the catalogue: size of the download, task, and where the model lies."""
    cached = cached_names()
    entries = [(name, source.size, str(source.task)) for name, source in CATALOGUE.items()]
    entries += [(name, source.size, "chat" if source.chats else "generate") for name, source in CHECKPOINTS.items()]
    for name, size, task in entries:
        state = state_of(name) if name in cached else "not in the cache"
        say(f"{name:22}{size / 1e6:8.1f} MB  {task:10}{printable(state)}")
    say(f"cache: {printable(str(models_folder().parent))}")


def state_of(name: str) -> str:
    """Where a model in the cache lies, or what is wrong with it."""
    try:
        return str(check_model(name))
    except ModelFormatError as error:
        return f"damaged: {error}"
