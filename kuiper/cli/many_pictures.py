"""What the commands for pictures have in common: which pictures, who works on them, and a file that fills up."""

from __future__ import annotations

import logging
import os
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from kuiper.cli.terminal import open_console, say, say_json
from kuiper.errors import ImageError, ParameterError
from kuiper.machine import this_machine
from kuiper.models.many.dask_cluster import over_dask
from kuiper.models.many.picture_files import find_pictures
from kuiper.models.many.processes import over_processes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterator, Sequence

    from kuiper.models.many.processes import Predict
    from kuiper.models.many.record_file import RecordFile
    from kuiper.models.predictor import Record


def add_picture_arguments(parser: argparse.ArgumentParser, output: str) -> None:
    """The pictures, and all that does not depend on what is done with them; ``output`` explains -o."""
    parser.add_argument("images", type=Path, nargs="+", metavar="IMAGE", help="photos, or folders of photos")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT", help=output)
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each photo instead")
    parser.add_argument("--threads", type=int, help="threads to use (default: all cores; 1 in each of many processes)")
    many = parser.add_argument_group("many photos")
    where = many.add_mutually_exclusive_group()
    processes = "work in N processes (default with -o: cores / threads)"
    where.add_argument("--processes", type=int, metavar="N", help=processes)
    where.add_argument("--dask", metavar="tcp://HOST:8786", help="work on a Dask cluster (needs distributed)")
    many.add_argument("--retry-errors", action="store_true", help="try again what failed when the file was begun")


def pictures_of(arguments: argparse.Namespace) -> list[str]:
    """The pictures that the arguments name; if the output is a folder among them, it is left out.

    Raises
    ------
    ImageError
        If there are none.
    ParameterError
        If an option needs another one that is not given.
    """
    for name in ("processes", "dask"):
        if getattr(arguments, name) is not None and not arguments.output and not arguments.json:
            raise ParameterError(f"--{name}", "-o or --json beside it", "neither")
    if arguments.processes is not None and arguments.processes < 1:
        raise ParameterError("--processes", "a number of at least 1", arguments.processes)
    if arguments.retry_errors and not arguments.output:
        raise ParameterError("--retry-errors", "-o with the file of an earlier run", "no -o")
    pictures = find_pictures(arguments.images, leave_out=arguments.output)
    if not pictures:
        raise ImageError(", ".join(map(str, arguments.images)), "a folder with pictures", "none in it")
    return pictures


def records(predict: Predict, paths: Sequence[str], arguments: argparse.Namespace) -> Generator[Record, None, None]:
    """What ``predict`` says about each picture: from a cluster or from processes as it comes, or from here in order."""
    threads = arguments.threads or 1
    if arguments.dask:
        logging.disable()  # what Dask has to tell about lost workers would run through the bar
        try:
            yield from over_dask(predict, paths, arguments.dask, threads)
        finally:
            logging.disable(logging.NOTSET)
    elif arguments.output or arguments.processes is not None:
        processes = arguments.processes or max(1, this_machine().cores // threads)
        yield from over_processes(predict, paths, processes, threads)
    else:
        yield from map(predict, paths)


def print_records(predict: Predict, paths: Sequence[str], arguments: argparse.Namespace) -> int:
    """A line of JSON for each picture on stdout; 1 if one of them failed."""
    failed = False
    with closing(records(predict, paths, arguments)) as arriving:
        for record in arriving:
            say_json(record)
            failed |= "error" in record
    return int(failed)


def fill(file: RecordFile, predict: Predict, paths: Sequence[str], arguments: argparse.Namespace) -> int:
    """Add a record to the file for each picture that is not in it yet; 1 if one of them failed.

    A bar and a line that sums up go to stderr, also if Ctrl-C ends this early.
    """
    pictures = [os.path.abspath(path) for path in paths]  # which they still are when the run is taken up from elsewhere
    new = [path for path in pictures if path not in file.pictures]
    tally = Tally(len(pictures) - len(new), len(file.failed.intersection(pictures)))
    bar = progress_bar(arguments.command, len(pictures), tally, shown=not arguments.json)
    try:
        with closing(records(predict, new, arguments)) as arriving, bar as show:
            for record in arriving:
                file.append(record)
                if arguments.json:
                    say_json(record)
                tally.count(record)
                show()
    except BaseException:
        if tally.done or tally.failed:
            say(tally, error=True)
        raise
    say(tally, error=True)
    return 1 if tally.failed else 0


class Tally:
    """How many pictures were done, skipped because they were done before, and failed; and how fast."""

    def __init__(self, skipped: int, failed_before: int) -> None:
        self.done = self.failed = 0
        self.skipped, self.failed_before = skipped, failed_before
        self._started = perf_counter()

    def count(self, record: Record) -> None:
        if "error" in record:
            self.failed += 1
        else:
            self.done += 1

    @property
    def speed(self) -> float:
        """Images per second."""
        return (self.done + self.failed) / (perf_counter() - self._started)

    def __str__(self) -> str:
        line = f"{self.done} done, {self.skipped} skipped, {self.failed} failed, {self.speed:.1f} images/s"
        retry = f"; {self.failed_before} of those skipped had failed: --retry-errors tries them again"
        return line + retry if self.failed_before else line


@contextmanager
def progress_bar(title: str, total: int, tally: Tally, shown: bool) -> Iterator[Callable[[], None]]:
    """A bar that shows the tally when the function it yields is called; on stderr, and only if that is a terminal."""
    console = open_console(error=True)
    speed = TextColumn("{task.fields[speed]:.1f} images/s")
    fields = speed, TextColumn("{task.fields[failed]}", style="red", markup=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        *fields,
        TimeRemainingColumn(),
    )
    off = not (shown and console.is_terminal)
    with Progress(*columns, console=console, transient=True, disable=off) as progress:
        bar = progress.add_task(title, total=total, completed=tally.skipped, speed=0.0, failed="")

        def show() -> None:
            failed = f"{tally.failed} failed" if tally.failed else ""
            completed = tally.skipped + tally.done + tally.failed
            progress.update(bar, completed=completed, speed=tally.speed, failed=failed)

        yield show
