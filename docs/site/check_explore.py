"""Open pages of ``kuiper explore`` in a browser, and use them as a reader does.

    python docs/site/check_explore.py [PAGE.html ...]

Without arguments, pages of three bundled models are written first, of one whose names mean harm, of one that was not
run, and one in Chinese; and pages in a language of brackets, outside of which no word may stand. On narrow and wide
windows, light and dark: every tab, clicks, zoom, search, keys, links; nothing is wider than the window, no script
fails, every button has a name. Pictures go to ``build/explore-screenshots``. Exit code 1: something is wrong; 2: there
is no browser.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from check_pages import LOOK, PROGRAMS, THEMES, WIDTHS, Browser, BrowserError, find_program
from page_words import brackets, language, words_outside

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAGES = {
    "classifier": [],
    "detector": ["digits_yolo", str(ROOT / "kuiper/models/assets/digits.png")],
    "text": ["shakespeare"],
}
HARM = '</script><img src=x onerror="window.harm = 1"><b id=harm>&amp;\u2028 卷积 \'"`${1}'
NOTHING = {
    **dict.fromkeys(("memory", "input", "machine")),
    "plan": {"steps": [], "refusal": ""},
    "runs": [],
    "values": {},
    "windows": {},
    "fields": [],
    "answers": {"kind": "values"},
}
MINE = {
    "operators": {
        "conv": {"exercise": "3.13", "error": 0.5, "alone": None, "agrees": False, "form": ""},
        "relu": {"exercise": "3.2", "error": 0.0, "alone": None, "agrees": True, "form": ""},
    },
    "first": "conv",
    "shapes": [[1, 2], [1, 3]],
    "others": "",
    "failures": [],
}
"""Of a student whose convolution has another shape."""

NAMES = """(({operators, values, stages, plan, model, machine, answers, mine}) => [
    ...Object.keys(operators), ...Object.keys(values), ...Object.keys(mine?.operators ?? {}), model.name, model.file,
    ...Object.values(operators).flatMap(({type, params, weights}) =>
        [type, ...Object.keys({...params, ...weights}), ...Object.values({...params, ...weights})]),
    ...Object.values(values).map(value => value.type), ...[...model.inputs, ...model.outputs].map(end => end.type),
    ...stages.slice(1).filter(stage => stage.name !== "plan").map(stage => stage.name.replaceAll("_", " ")),
    ...plan.steps.flatMap(step => [step.algorithm, step.source, ...step.rejected.map(other => other.algorithm)]),
    ...(answers.top ?? answers.after ?? []).map(answer => answer.label), machine?.cpu ?? ""])(kuiper.page.network)"""

PATIENCE = 5.0  # seconds until what a click causes must be there

NAMELESS = """[...document.querySelectorAll("button, input, select, [tabindex='0'], [role=img]")].filter(element => {
    const label = element.closest("label"), by = element.getAttribute("aria-labelledby");
    const text = element.getAttribute("aria-label") || element.textContent || (label && label.textContent);
    return !(text || (by && document.getElementById(by).textContent) || "").trim();
}).map(element => `no name: ${element.outerHTML.slice(0, 90)}`)"""

FRAMES = """new Promise(resolve => {
    const {graph} = kuiper.page, began = performance.now();
    let frames = 0, drawn = 0;
    const move = () => {
        const before = performance.now();
        graph.pan(0, frames % 40 < 20 ? -30 : 30);
        graph.paint();
        drawn += performance.now() - before;
        frames++;
        const time = performance.now() - began;
        if (time < 1500) requestAnimationFrame(move);
        else resolve({frames: Math.round(frames / time * 1000), drawn: drawn / frames});
    };
    requestAnimationFrame(move);
})"""


# Tables, tabs and many bars may be pushed sideways.
LOOK_HERE = LOOK.replace('.formula"', '.formula, .scroll, #tabs, .contributions"')


class Reader:
    """Somebody who uses one page, and notes what goes wrong."""

    def __init__(self, browser: Browser, page: Path, screenshots: Path) -> None:
        self.browser, self.page, self.screenshots = browser, page, screenshots
        self.problems: list[str] = []
        self.place = page.stem

    def open(self, state: str = "") -> None:
        self.browser.open("about:blank")
        self.browser.open(f"{self.page.as_uri()}{'#' if state else ''}{state}")

    def run(self, script: str) -> Any:
        return self.browser.run(script)

    def expect(self, what: str, script: str) -> None:
        """A script's expression must become true; it has a moment for that."""
        until = time.monotonic() + PATIENCE
        while not self.run(script):
            if time.monotonic() > until:
                self.problems.append(f"{self.place}: expected {what}")
                return
            time.sleep(0.05)

    def key(self, key: str, text: str = "") -> None:
        codes = {"Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Tab": 9}
        event: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0]))}
        if len(key) == 1 or key == "Enter":
            event["text"] = text or ("\r" if key == "Enter" else key)
        self.browser.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.browser.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def middle(self, selector: str) -> tuple[float, float]:
        """The middle of an element, which is brought into sight first."""
        script = """(() => { const element = document.querySelector(%s); element.scrollIntoView({block: "center"});
            const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()"""
        x, y = self.run(script % json.dumps(selector))
        return x, y

    def read(self) -> None:
        """All tabs, in the language of brackets, for all kinds of operators, and all stages."""
        self.browser.view(1280, "light")
        self.open()
        names = self.run(NAMES)
        kinds = (
            "Object.values(Object.fromEntries(kuiper.page.network.stages.flatMap(stage => stage.nodes)"
            ".map(node => [node.type, node.operator])))"
        )
        addresses = [f"stage={index}" for index in range(self.run("kuiper.page.network.stages.length"))]
        tabs = self.run("kuiper.page.tabs.map(tab => tab.id)")
        addresses += [f"operator={quote(name)}&tab={tab}" for name in self.run(kinds) for tab in tabs]
        for address in [*addresses, "tab=time&run=0&against=1", "tab=maps", "tab=operator"]:
            self.run(f"location.hash = {json.dumps(address)}; kuiper.page.follow()")
            found = words_outside(self.run, ".on-span", names)  # there, names are cut
            self.problems += [f"{self.page.stem} {address}: {problem}" for problem in found]
        self.run("kuiper.page.graph.foldAll(true)")
        groups = "[...kuiper.page.graph.looks.values()].filter(look => look.isGroup)"
        self.expect("groups in brackets", f"{groups}.every(look => /^\\d+⟦[^⟦]*⟧$/.test(look.line))")

    def look(self, name: str, width: int, theme: str) -> None:
        """What every state of the page must have, and a picture of it."""
        self.place = f"{self.page.stem} {name} ({width} pixels, {theme})"
        self.problems += [f"{self.place}: {problem}" for problem in self.run(LOOK_HERE) + self.run(NAMELESS)]
        self.problems += [f"{self.place}: {error}" for error in self.browser.errors()]
        self.browser.screenshot(self.screenshots / f"{self.page.stem}-{name}-{width}-{theme}.jpeg")

    def see_all_tabs(self, width: int, theme: str) -> None:
        """Each tab, for the operator with the largest window."""
        self.browser.view(width, theme)
        self.open()
        name = self.run(
            "(({operators, windows, stages}) => Object.keys(operators).find(name => windows?.[name]?.kernel?.[1] > 1)"
            " ?? stages.at(-1).nodes[1].operator)(kuiper.page.network)"
        )
        for tab in self.run("kuiper.page.tabs.map(tab => tab.id)"):  # those without data are not among them
            self.open(f"operator={quote(name)}&tab={tab}")
            self.expect(
                f"the tab {tab}", f"document.querySelector('#tab-{tab}').getAttribute('aria-selected') === 'true'"
            )
            self.expect(f"something in {tab}", "document.getElementById('panel').textContent.trim().length > 40")
            self.look(tab, width, theme)

    def use_graph(self) -> None:
        """Mouse, wheel, keys, folding and stages."""
        self.browser.view(1280, "light")
        self.open("tab=overview")
        self.place = f"{self.page.stem} graph"
        x, y = self.middle("#graph")
        scale = self.run("kuiper.page.graph.camera.scale")
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240)
        self.expect("the wheel to zoom in", f"kuiper.page.graph.camera.scale > {scale}")
        left = self.run("kuiper.page.graph.camera.x")
        self.mouse("mousePressed", x, y, button="left", clickCount=1)
        self.mouse("mouseMoved", x + 60, y + 10, button="left", buttons=1)
        self.mouse("mouseReleased", x + 60, y + 10, button="left", clickCount=1)
        self.expect("dragging to move the graph", f"Math.abs(kuiper.page.graph.camera.x - {left} - 60) < 1")
        self.expect("dragging to choose nothing", "!kuiper.page.state.operator")
        place = """(() => { const {graph} = kuiper.page; graph.start(); graph.foldAll(false); graph.start();
            const node = graph.stage.nodes[0], box = graph.layout.boxes.get(graph.graph.keys.get(node.id));
            const frame = graph.canvas.getBoundingClientRect(), {x, y, scale} = graph.camera;
            return [frame.x + x + (box.x + 20) * scale, frame.y + y + (box.y + 20) * scale, node.operator]; })()"""
        x, y, name = self.run(place)
        self.click(x, y)
        self.expect("a click to choose an operator", f"kuiper.page.state.operator === {json.dumps(name)}")
        self.expect("its name in the panel", f"document.querySelector('#panel h2').textContent === {json.dumps(name)}")
        self.expect("its name in the address", "location.hash.includes('operator=')")
        self.run("document.getElementById('graph').focus()")
        self.key("ArrowDown")
        first = self.run("kuiper.page.graph.graph.nodes[0].key")
        self.expect("an arrow key to go on", f"kuiper.page.graph.current !== {json.dumps(first)}")
        self.key("ArrowUp")
        self.expect("an arrow key to come back", f"kuiper.page.graph.current === {json.dumps(first)}")
        self.expect("the operator there", f"kuiper.page.state.operator === {json.dumps(name)}")
        for key, compared in (("+", ">"), ("-", "<=")):
            scale = self.run("kuiper.page.graph.camera.scale")
            self.key(key)
            self.expect(f"{key} to zoom", f"kuiper.page.graph.camera.scale {compared} {scale}")
        self.key("0")
        self.run("document.activeElement.blur()")
        stages = self.run("kuiper.page.network.stages.length")
        for _ in range(stages):
            self.key("[")
        self.expect("the first stage", "kuiper.page.stage === 0")
        for index in range(1, stages):
            self.key("]")
            self.expect(
                f"stage {index}", f"kuiper.page.stage === {index} && document.getElementById('stage').value == {index}"
            )
        if self.run("kuiper.folding.groupsOf(kuiper.page.graph.stage).size"):
            self.run("document.getElementById('fold-all').click()")
            self.expect("folded groups", "kuiper.page.graph.graph.nodes.some(entry => entry.members)")
            self.run("document.getElementById('unfold-all').click()")
            self.expect("open groups", "!kuiper.page.graph.graph.nodes.some(entry => entry.members)")

    def search(self) -> None:
        """A slash, a part of a name, Enter; then what the address keeps."""
        self.open()
        self.place = f"{self.page.stem} search"
        name = self.run("kuiper.page.network.stages[kuiper.page.stage].nodes.at(-2).operator")
        self.key("/")
        self.expect("the field", "document.activeElement.id === 'search'")
        self.browser.call("Input.insertText", text=name)
        self.expect("a list", "document.querySelectorAll('#found option').length > 0")
        self.key("Enter")
        self.expect("the operator", f"kuiper.page.state.operator === {json.dumps(name)}")
        self.expect("an empty field", "document.getElementById('search').value === ''")
        address = self.run("location.href")
        self.browser.open("about:blank")
        self.browser.open(address)
        self.expect(
            "the operator where the address is opened anew", f"kuiper.page.state.operator === {json.dumps(name)}"
        )

    def use_maps(self) -> None:
        """A pixel by mouse and by keys; the sum must be what the network has."""
        script = """(() => {
            const {operators, values, windows} = kuiper.page.network;
            const whole = name => values[name]?.exact && values[name].maps;
            return Object.keys(operators).filter(name => windows[name]?.weights && windows[name].kind === "convolution"
                && whole(operators[name].outputs[0]) && whole(operators[name].inputs[0]))[1]; })()"""
        self.open()
        self.place = f"{self.page.stem} maps"
        name = self.run(script)
        if name is None:
            return
        self.open(f"operator={quote(name)}&tab=maps")
        x, y = self.middle(".map-frame")
        self.click(x - 20, y - 20)
        self.expect("the pixel in the address", "/pixel=\\d+%2C\\d+/.test(location.hash)")
        before = self.run("kuiper.page.state.pixel")
        self.run("document.querySelector('.map-frame').focus()")
        self.key("ArrowRight")
        self.expect("the next pixel", f"kuiper.page.state.pixel !== {json.dumps(before)}")
        self.expect("its receptive field", "document.querySelector('.field .cross').getAttribute('width') > 0")
        parts = "document.querySelector('.total').textContent.split('·')"
        number = "text => Number(text.match(/[\\d.,e\\u2212-]+(?!.*\\d)/)[0].replaceAll('\\u2212', '-'))"
        near = "Math.abs(sum - there) <= 2e-3 * Math.max(1, Math.abs(there))"
        self.expect("the sum to be what the network has", f"(([sum, there]) => {near})({parts}.map({number}))")
        self.run("document.querySelectorAll('.cells button')[1].click()")
        self.expect(
            "channel 1",
            "kuiper.page.state.channel == 1 && /^\\D*1\\D/.test(document.querySelector('.pixel').textContent)",
        )

    def measure_frames(self) -> str:
        self.browser.view(1280, "light")
        self.open()
        self.run("kuiper.page.graph.foldAll(false), kuiper.page.graph.start()")
        answer = self.browser.call("Runtime.evaluate", expression=FRAMES, returnByValue=True, awaitPromise=True)[
            "result"
        ]["value"]
        count = self.run("kuiper.page.graph.graph.nodes.length")
        return f"{self.page.stem}: {count} boxes, {answer['frames']} frames a second, {answer['drawn']:.1f} ms each"


def write_pages(folder: Path) -> list[Path]:
    """Pages of bundled models, one of a model whose every name means harm, and one of a model that was not run."""
    pages = [_written(folder, name, arguments) for name, arguments in PAGES.items()]
    with language("zh"):
        pages.append(_written(folder, "chinese", PAGES["classifier"]))
    data = _data_of(pages[0])
    return [*pages, _changed(folder, "harm", _renamed(data)), _changed(folder, "bare", data | NOTHING)]


def write_bracketed_pages(folder: Path) -> list[Path]:
    """Pages that speak in brackets: of the bundled models, of one that was not run, and of a student's layers."""
    with brackets(folder / "locale"):
        pages = [_written(folder, f"{name}-in-brackets", arguments) for name, arguments in PAGES.items()]
        data = _data_of(pages[0])
        pages.append(_changed(folder, "bare-in-brackets", data | NOTHING))
        pages.append(_changed(folder, "mine-in-brackets", data | {"mine": MINE}))
        agreeing = {name: entry | {"agrees": True} for name, entry in MINE["operators"].items()}
        mine = {**MINE, "operators": agreeing, "first": None, "failures": []}
        return [*pages, _changed(folder, "good-in-brackets", data | {"mine": mine})]


def _written(folder: Path, name: str, arguments: list[str]) -> Path:
    page = folder / f"{name}.html"
    subprocess.run([sys.executable, "-m", "kuiper", "explore", *arguments, "-o", str(page)], cwd=ROOT, check=True)
    return page


def _data_of(page: Path) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(page.read_text("utf-8").partition('id="network">')[2].partition("</script>")[0])
    return data


def _changed(folder: Path, name: str, data: dict[str, Any]) -> Path:
    """A page of other data, in the language that is spoken now."""
    from kuiper.explore.page import Page

    Page(data).save(folder / f"{name}.html")
    return folder / f"{name}.html"


def _renamed(data: dict[str, Any]) -> dict[str, Any]:
    """The data with harm in the name of the model, of all operators, values, types, groups, classes and parameters."""
    names = {name: f"{HARM} {name}" for name in [*data["operators"], *data["values"]]}

    def changed(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {names.get(name, name): changed(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [changed(each, key) for each in value]
        if not isinstance(value, str) or key in {"kind", "data", "family", "change", "picture", "shape"}:
            return value
        return names.get(value, f"{HARM} {value}" if key != "type" or "." in value else value)

    renamed: dict[str, Any] = changed(data)
    return renamed


def check(page: Path, browser: Browser, screenshots: Path) -> list[str]:
    """Everything a reader does with one page; what went wrong."""
    reader = Reader(browser, page, screenshots)
    acts: list[Callable[[], None]] = [reader.use_graph, reader.search, reader.use_maps]
    for width, theme in itertools.product(WIDTHS, THEMES):
        reader.see_all_tabs(width, theme)
    browser.view(1280, "light")
    for act in acts:
        act()
        reader.problems += [f"{reader.place}: {error}" for error in browser.errors()]
    if reader.run("window.harm !== undefined || document.getElementById('harm') !== null"):
        reader.problems.append(f"{page.stem}: expected names to stay text, got markup")
    print(reader.measure_frames())
    return reader.problems


def main(arguments: list[str]) -> int:
    """Look at all pages; the exit code."""
    program = find_program()
    if program is None:
        print(f"no browser: expected $CHROMIUM or {', '.join(PROGRAMS)}; apt-get install chromium", file=sys.stderr)
        return 2
    screenshots = ROOT / "build" / "explore-screenshots"
    screenshots.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        pages = [Path(argument).resolve() for argument in arguments] or write_pages(Path(folder))
        bracketed = [] if arguments else write_bracketed_pages(Path(folder))
        try:
            with Browser(program) as browser:
                for page in pages:
                    problems += check(page, browser, screenshots)
                for page in bracketed:
                    reader = Reader(browser, page, screenshots)
                    reader.read()
                    problems += reader.problems
        except BrowserError as error:
            problems.append(f"{program}: {error}")
    print("\n".join(problems) or f"{len(pages) + len(bracketed)} pages: all is well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
