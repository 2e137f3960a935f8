"""The program ``kuiper``: one module per command, each with ``add_arguments`` and ``execute``.

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted. A failure is one line on stderr, never a
traceback; a terminal gets it folded.
Without any argument the program prints its help.
"""

from __future__ import annotations

import codecs
import difflib
import importlib
import io
import os
import sys
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import kuiper
from kuiper.cli.parser import Parser, speaking_parser
from kuiper.cli.terminal import say_failure
from kuiper.errors import FallbackWarning, KuiperError
from kuiper.language import _, noop, translate
from kuiper.printable import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

# A module is imported only when its command is asked for, so that no command pays for the others.
COMMANDS = {
    "classify": noop("name what is on photos"),
    "detect": noop("find things on photos, and draw boxes around them"),
    "segment": noop("colour the regions of photos"),
    "generate": noop("continue a text with a language model"),
    "chat": noop("talk with a language model"),
    "embed": noop("turn texts into vectors with an encoder, and show how similar they are"),
    "serve": noop("serve models over HTTP: texts by OpenAI's protocol, arrays and pictures"),
    "run": noop("run a model on pictures, or on arrays from .npy files"),
    "show": noop("print a model's operators, and those that kuiper lacks"),
    "draw": noop("draw a model as an SVG picture or as Mermaid text"),
    "explore": noop("write a page that shows a model at work: graph, feature maps, time, memory"),
    "plan": noop("show how the engine runs a model, step by step"),
    "profile": noop("time each operator of a model"),
    "bench": noop("time a model as a whole"),
    "convert": noop("convert a PyTorch or ONNX model, and compare what it computes"),
    "quantize": noop("write a model with its weights in 8 or 4 bits"),
    "fetch": noop("download official weights and verify them; networks for pictures are converted, too"),
    "doctor": noop("check compiler, CPU, threads and build, and run a self-test"),
    "progress": noop("show which exercises are solved, and which comes next"),
    "check": noop("test one exercise"),
    "hint": noop("show a hint for an exercise, one rung of the ladder at a time"),
    "watch": noop("test the exercise that is being edited, at every save"),
    "race": noop("run a real network on your own layers, against the reference"),
    "annotate": noop("show which lines of a .pyx exercise still run Python"),
    "solution": noop("show the reference solution of an exercise"),
    "reset": noop("write an exercise's skeleton anew; your version is kept as a backup"),
    "grade": noop("run the pristine tests on submissions, in a sandbox"),
    "course": noop("write the course into a folder of your own, bring it up to date; for authors: run the gates"),
}

RECORD = ".kuiper-course.json"  # as in kuiper/course/handout_record.py, which takes long to import

# What is printed instead of a sign that the terminal's code page lacks.
PLAIN_SIGNS = {"█": "#", "µ": "u"}


def build_parser(command: str | None) -> argparse.ArgumentParser:
    """The parser for all commands; only ``command`` gets its arguments, so only its module is imported."""
    parser = Parser(
        prog="kuiper",
        description=_(
            "Run models from PyTorch and ONNX, and language models, on the CPU; and work through the course."
        ),
        epilog=_("kuiper COMMAND --help describes one command."),
    )
    words = _("show program's version number and exit")
    parser.add_argument("--version", action="version", version=f"kuiper {kuiper.__version__}", help=words)
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, message in COMMANDS.items():
        summary = translate(message)
        sentence = f"{summary[0].upper()}{summary[1:]}"
        subparser = subparsers.add_parser(name, help=summary, description=_("{sentence}.").format(sentence=sentence))
        if name == command:
            importlib.import_module(f"kuiper.cli.{name}").add_arguments(subparser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_PLAINLY)
    words = list(sys.argv[1:] if argv is None else argv)
    if not words:
        words = ["--help"]
    _speak_as_folder()
    command = next((word for word in words if word in COMMANDS), None)
    where = f"kuiper {command}" if command else "kuiper"
    unknown = next((word for word in words if not word.startswith("-")), None)
    if command is None and unknown is not None:
        near = difflib.get_close_matches(unknown, COMMANDS, n=1)
        message = _("kuiper: expected a command, got {word}; {command} lists them")
        if near:
            message = _("kuiper: expected a command, got {word}; did you mean: {command}")
        say_failure(message.format(word=repr(printable(unknown)), command=f"kuiper {near[0] if near else '--help'}"))
        return 2
    try:
        with _saying_fallbacks(where):
            with speaking_parser():
                arguments = build_parser(command).parse_args(words)
            code: int = importlib.import_module(f"kuiper.cli.{command}").execute(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has gone: ``kuiper show ... | head``
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KuiperError, OSError, ImportError, MemoryError) as error:
        say_failure(f"{where}: {_one_line(error)}")
        return 1
    except KeyboardInterrupt:
        say_failure(_("{command}: interrupted").format(command=where))
        return 130


def _speak_as_folder() -> None:
    """Speak the language of the course folder around here; nothing is imported for it elsewhere."""
    with suppress(OSError):
        here = Path.cwd()
        if any((place / RECORD).is_file() for place in (here, *here.parents)):
            importlib.import_module("kuiper.course.places").speak_as_here()


@contextmanager
def _saying_fallbacks(where: str) -> Iterator[None]:
    """Within this block, that a model runs on a slower way is a line like that of a failure, without a line of code."""
    others = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, FallbackWarning):
            say_failure(f"{where}: {_one_line(message)}")
        else:
            others(message, category, *place, **more)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = others


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """The code page lacks a sign of ours, or a file's name is no text at all: something to read, and no error."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    missing = error.object[error.start : error.end]
    plain = [PLAIN_SIGNS.get(sign) or sign.encode("ascii", "backslashreplace").decode() for sign in missing]
    return "".join(plain), error.end


_PLAINLY = "kuiper.plainly"
codecs.register_error(_PLAINLY, _plainly)


def _one_line(error: BaseException | str) -> str:
    text = str(error) or type(error).__name__
    if isinstance(error, OSError) and not isinstance(error, KuiperError) and error.filename is not None:
        text = f"{error.filename}: {error.strerror}"
    return printable(" ".join(text.split()))
