"""Run a real network on your own layers: what is yours, where it first goes wrong, and how fast it is."""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.bounded_file import read_json
from kuiper.cli.apart import note_in, result_apart
from kuiper.cli.terminal import open_console
from kuiper.course.engine_race import course_race, engine_race
from kuiper.course.errors import CommandError, CourseError
from kuiper.course.ladder import own_time
from kuiper.course.machine import machine_words, this_machine
from kuiper.course.manifest import read_syllabus
from kuiper.course.phrases import listed, phrase
from kuiper.course.pictures.race_card import race_card
from kuiper.course.places import root_here
from kuiper.course.quiet import ONE_THREAD, one_thread, watch_the_cores
from kuiper.course.race import Divergence, Result, candidate, model_and_inputs, race
from kuiper.course.race_history import best_before, ratio_of, remember
from kuiper.course.selection import Selection
from kuiper.course.speed import points_words
from kuiper.course.text_race import SHAKESPEARE, text_race
from kuiper.language import _, columns, noop, padded, translate
from kuiper.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from kuiper.course.pictures.picture import Picture

BAR = 30
NAMES = ("resnet20", "cifar_resnet20", SHAKESPEARE, "expressions")
ON_YOURS = {" on your engine": noop("{model} on your engine"), " on your product": noop("{model} on your product")}
PACES = {"token": noop("tokens/s"), "request": noop("requests/s")}
TITLES = {
    "run": noop("{model}: milliseconds for one run"),
    "token": noop("{model}: milliseconds for one token"),
    "request": noop("{model}: milliseconds for one request"),
}
SMALL = 0.2  # milliseconds: what a call costs before it computes anything is a large part of so little


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = _(
        "resnet20, shakespeare, expressions, or the path of a .param file (default: resnet20); or, for what your own "
        "engine can do behind courses 1 to 6: tensor, linear, convolution, formulas, photo, serving"
    )
    parser.add_argument("model", nargs="?", default="resnet20", metavar="MODEL", help=words)
    words = _("whose engine runs your layers: kuiper's, or that of exercise 5.9 (default: kuiper)")
    parser.add_argument("--engine", choices=("kuiper", "mine"), default="kuiper", help=words)
    words = _("whose matrix product your convolutions use: NumPy's, or that of exercise 3.13 (default: numpy)")
    parser.add_argument("--product", choices=("numpy", "mine"), default="numpy", help=words)
    parser.add_argument("--seconds", type=float, default=300.0, help=_("give up after this long (default: 300)"))
    words = _("write the times as a picture, to keep or to share")
    parser.add_argument("--picture", type=Path, metavar="FILE.svg", help=words)
    parser.add_argument("--result", type=Path, help=argparse.SUPPRESS)  # set for the process that runs your code


def execute(arguments: argparse.Namespace) -> int:
    if arguments.result is not None:
        return run_here(arguments.model, arguments.engine, arguments.product, arguments.result)
    if arguments.picture is not None and arguments.picture.suffix != ".svg":
        expected = phrase("a name that ends in {ending}", ending=".svg")
        raise CommandError(str(arguments.picture), expected, arguments.picture.suffix or phrase("no ending"))
    if (arguments.model, arguments.engine) == (SHAKESPEARE, "mine"):
        expected = phrase("a network of pictures, which your engine has the layers for")
        raise CommandError("--engine mine", expected, SHAKESPEARE)
    root = root_here()
    known = (*NAMES, *read_syllabus(root).races())
    if arguments.model not in known and not Path(arguments.model).exists():
        expected = phrase("one of {known}, or the path of a .param file", known=listed(known))
        raise CommandError("MODEL", expected, repr(arguments.model))
    if arguments.product == "mine":
        _check_takes_product(arguments.model, arguments.engine, root)
    result = run_apart(arguments.model, arguments.engine, arguments.product, arguments.seconds)
    history = remember(root, result)
    console = open_console(soft_wrap=True)
    show(result, history[:-1], console, read_syllabus(root).race_ratios().get(result.model, ()))
    if arguments.picture is not None:
        draw(result).save(arguments.picture)
        console.print(_("written: {file}").format(file=arguments.picture))
    return 1 if result.divergence or result.failures else 0


def _check_takes_product(model: str, engine: str, root: Path) -> None:
    """Raise CourseError unless a race replaces kuiper's layers one by one: only there it can choose a convolution."""
    if engine == "mine" or model == SHAKESPEARE or model in read_syllabus(root).races():
        expected = phrase("a network of pictures on kuiper's engine, such as {model}", model="resnet20")
        raise CommandError("--product mine", expected, f"{model} --engine {engine}")


def run_here(model: str, engine: str, product: str, path: Path) -> int:
    """Run the race in this process and write its result; the place of the moment stands in a file beside it."""
    selection, note = Selection(read_syllabus(root_here())), note_in(path.with_suffix(".place"))
    busy = watch_the_cores()
    with one_thread():
        result = _result_here(selection, model, engine, product, note)
    result = replace(result, busy=busy(), machine=this_machine())
    path.write_text(json.dumps(asdict(result)), encoding="utf-8")
    return 0


def _result_here(selection: Selection, model: str, engine: str, product: str, note: Callable[[str], None]) -> Result:
    """The race that the words ask for."""
    if model in selection.syllabus.races():
        return course_race(selection, selection.syllabus.races()[model], note)
    if model == SHAKESPEARE:
        return text_race(selection, note)
    if engine == "mine":
        param, arrays = model_and_inputs(model)
        return engine_race(selection, model, param, arrays, note)
    load, inputs = candidate(model)
    own_product = product == "mine"
    return race(selection, f"{model} on your product" if own_product else model, load, inputs, note, own_product)


def run_apart(model: str, engine: str, product: str, seconds: float) -> Result:
    """Run the race in a process of its own: a layer may crash, or never return.

    Raises
    ------
    CourseError
        If it does; the message names the operator and its exercise.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = [model, "--engine", engine, "--product", product]
        path = result_apart("race", words, Path(folder, "result.json"), seconds, ONE_THREAD)
        return _result(read_json(path, CourseError, "a result in JSON", finite=False))


def show(result: Result, earlier: list[dict[str, Any]], console: Console, ratios: Sequence[float] = ()) -> None:
    """Provenance, what went wrong, the ladder, and the points for speed of a race that has ``ratios``."""
    yours, reference = " ".join(result.yours) or _("none"), " ".join(result.reference) or _("none")
    words = _("{model}: yours: {yours}; reference: {reference}")
    console.print(words.format(model=model_words(result.model), yours=yours, reference=reference))
    if result.answer:
        console.print(printable(result.answer, keep="\n"))
    for failure in result.failures:
        console.print(_("failed, replaced by the reference: {failure}").format(failure=failure))
    if result.divergence:
        words = _("first divergence: {divergence}")
        console.print(words.format(divergence=printable(str(result.divergence))))
        explored = explore_command(result)
        if explored:
            console.print(_("both feature maps beside each other: {command}").format(command=explored))
    elif result.yours:
        agree, others = _("all outputs agree with the reference"), _("all other outputs agree with the reference")
        console.print(others if result.failures else agree)
    else:
        console.print(_("nothing of yours is in it yet: kuiper progress shows where to begin"))
    for line in ladder_lines(result):
        console.print(line)
    console.print("  " + _("on {machine}").format(machine=machine_of()))
    if result.busy:
        words = _("the machine is busy ({busy}): the times may be too long; race again when it is quiet")
        console.print(words.format(busy=result.busy))
    if words := small_case(result):
        console.print(words)
    before, now = best_before(earlier, result.model, result.machine), own_time(result.ladder)
    if now is not None and result.yours and not result.is_right:
        console.print(_("a time counts only when all outputs agree"))
    elif before is not None and now is not None and result.yours:
        words = _("your best so far: {best} ms, now {now} ms")
        console.print(words.format(best=f"{min(before, now):.2f}", now=f"{now:.2f}"))
    if ratios and result.yours and result.is_right:
        console.print(speed_words(result, ratios))


def ladder_lines(result: Result) -> list[str]:
    """A line for each time, with a bar."""
    slowest = max(result.ladder.values())
    names = {name: translate(name) for name in result.ladder}
    width, lines = max(map(columns, names.values())), []
    for name, milliseconds in result.ladder.items():
        bar = "█" * max(1, round(BAR * milliseconds / slowest))
        pace = _pace(1e3 / milliseconds, result.per) if result.per != "run" and milliseconds else ""
        lines.append(f"  {padded(names[name], width)}  {milliseconds:9.2f} ms{pace}  {bar}")
    return lines


def model_words(model: str) -> str:
    """What was raced, in the reader's language.

    >>> model_words("resnet20 on your engine")
    'resnet20 on your engine'
    """
    ending, words = next(((end, words) for end, words in ON_YOURS.items() if model.endswith(end)), ("", "{model}"))
    return translate(words).format(model=model.removesuffix(ending))


def _pace(rate: float, what: str) -> str:
    """How many in a second."""
    return f"{rate:9.{0 if rate >= 100 else 1}f} {translate(PACES.get(what, f'{what}s/s'))}"


def small_case(result: Result) -> str:
    """Why the student's is faster than kuiper, where the case is too small for anything but calls; or ""."""
    now, kuipers = own_time(result.ladder), result.ladder.get("kuiper")
    if not result.yours or now is None or kuipers is None or not now < kuipers < SMALL:
        return ""
    return _("yours is faster here because the case is tiny: kuiper checks inputs and looks up a plan in every call")


def speed_words(result: Result, ratios: Sequence[float]) -> str:
    """The points for speed of a race, or what there must be for them."""
    ratio = ratio_of(result.ladder)
    if ratio:
        return points_words(ratios, ratio, result.busy)
    if not result.reference:
        alone = _(
            "points for speed: 0 of {full} (they count when all of it is yours; "
            "missing: nothing, but there are no solutions to compare with)"
        )
        return alone.format(full=len(ratios))
    words = _("points for speed: 0 of {full} (they count when all of it is yours; missing: {exercises})")
    return words.format(full=len(ratios), exercises=" ".join(result.reference))


def explore_command(result: Result) -> str:
    """The command whose page shows where the layers differ; empty for a race that is about no file."""
    if result.model in ("resnet20", "cifar_resnet20"):
        return "kuiper explore --mine"
    return f"kuiper explore --mine {result.model}" if Path(result.model).suffix == ".param" else ""


def draw(result: Result) -> Picture:
    """The ladder as a picture, with the machine below it."""
    title = translate(TITLES.get(result.per, f"{{model}}: milliseconds for one {result.per}"))
    return race_card(result.ladder, title.format(model=model_words(result.model)), machine_of())


def machine_of() -> str:
    """What the times were measured on."""
    return _("{machine}, one thread").format(machine=machine_words(this_machine()))


def _result(table: dict[str, Any]) -> Result:
    """The result that the other process wrote, which runs a student's code."""
    try:
        divergence = table.pop("divergence")
        result = Result(**table, divergence=Divergence(**divergence) if divergence else None)
        times = [float(milliseconds) for milliseconds in result.ladder.values()]
        if (
            not times
            or not all(0 <= time < inf for time in times)
            or (result.yours and not (result.failures or result.divergence) and own_time(result.ladder) is None)
        ):
            raise ValueError("a ladder without times")
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise CourseError("race", "the result of a race", f"another: {error}") from error
    return result
