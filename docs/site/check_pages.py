"""Open every page of the site in a browser, and say where a reader would stumble.

    python docs/site/check_pages.py build/site [PAGE ...]

On narrow and wide windows, light and dark: nothing is wider than the window, no picture is missing, no script fails.
All links of these pages (default: of all) lead to a page, or to a place on it. A page says its language, and leads to
the same section of itself in another; the search of each language finds its lectures. Pictures of the first pages and
of the lectures go to ``build/site-screenshots``. Exit code 1: something is wrong; 2: there is no browser.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from kuiper.language import ENGLISH

sys.path.insert(0, str(Path(__file__).parent))
from check_languages import compare_languages, language_folders
from moved_pages import leads_on

if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WIDTHS = (400, 1280)
THEMES = ("light", "dark")
PATIENCE = 60.0  # seconds until an answer of the browser is given up
TALLEST = 16000  # pixels of a screenshot; what is below is left out
SEARCHED = {"en": ("im2col",), "zh": ("im2col", "卷积", "张量", "卷积核", "页")}
"""By the language of a search, what it is to find in a lecture; in another language, what it finds in English."""

# The browser reads from file 3 and writes to file 4.
START = "import os, sys; _, i, o, *run = sys.argv; os.dup2(int(i), 3); os.dup2(int(o), 4); os.execv(run[0], run)"

LOOK = """(() => {
    const may_scroll = "pre, .table-wrapper, .cell_output, article p, .formula", problems = [];
    const name = element => element.outerHTML.slice(0, 90).replace(/\\s+/g, " ");
    const right = element => element.getBoundingClientRect().right;
    for (const element of document.querySelectorAll("html, body, body *")) {
        const hidden = element.scrollWidth - element.clientWidth;
        const is_whole = element === document.documentElement || getComputedStyle(element).overflowX !== "visible";
        if (hidden < 2 || !is_whole || element.matches(may_scroll)) continue;
        const parts = [...element.querySelectorAll("*")].filter(part => !part.parentElement.closest(may_scroll));
        const wide = parts.find(part => right(part) > right(element) + 1);
        problems.push(`${hidden} pixels too wide: ${name(wide || element)}`);
    }
    for (const image of document.images)
        if (!image.complete || !image.naturalWidth) problems.push(`no picture: ${name(image)}`);
    return problems;
})()"""

PLACES = """({
    links: [...document.links].map(link => link.href),
    places: [...document.querySelectorAll("[id]")].map(element => element.id),
    language: document.documentElement.lang,
    sections: [...document.querySelectorAll("article section[id]")].map(section => section.id),
    alternates: [...document.querySelectorAll("link[rel=alternate]")].map(link => [link.hreflang, link.href]),
})"""


class BrowserError(Exception):
    """The browser does not answer, or refuses."""


class Browser:
    """One tab of a browser without a window, told what to do through a pipe (the Chrome DevTools protocol)."""

    def __init__(self, program: str) -> None:
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        told, self.tell = os.pipe()
        self.heard, hear = os.pipe()
        options = ["--headless=new", "--remote-debugging-pipe", "--hide-scrollbars", "--disable-gpu", "--no-first-run"]
        options += ["--disable-dev-shm-usage", "--no-sandbox", f"--user-data-dir={self.profile.name}"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", START, str(told), str(hear), program, *options, "about:blank"],
            pass_fds=(told, hear),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(told)
        os.close(hear)
        self.numbers, self.session, self.unread, self.events = itertools.count(1), "", b"", list[dict[str, Any]]()
        try:
            self.attach()
        except BrowserError:
            self.close()
            raise

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        os.close(self.tell)  # with nobody left to tell it what to do, the browser ends
        os.close(self.heard)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def attach(self) -> None:
        """Open a tab and ask to be told what happens there."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What the browser answers; what happens in the meantime goes to ``events``."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        message |= {"sessionId": self.session} if self.session else {}
        try:
            os.write(self.tell, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise BrowserError("the browser has ended") from None
        while (answer := self.read()).get("id") != number:
            self.events.append(answer)
        if "error" in answer:
            raise BrowserError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def read(self) -> dict[str, Any]:
        """The next message of the browser."""
        until = time.monotonic() + PATIENCE
        while b"\0" not in self.unread:
            if not select.select([self.heard], [], [], max(0.0, until - time.monotonic()))[0]:
                raise BrowserError(f"no answer within {PATIENCE:.0f} s")
            if not (piece := os.read(self.heard, 1 << 20)):
                raise BrowserError("the browser has ended")
            self.unread += piece
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def open(self, address: str) -> None:
        """Go to a page and wait until it is there."""
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.read())

    def run(self, script: str) -> Any:
        """The value of a script's expression on the open page."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise BrowserError(json.dumps(result["exceptionDetails"])[:300])
        return result["result"].get("value")

    def view(self, width: int, theme: str) -> None:
        """The width of the window, and what the reader's system wants: light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def errors(self) -> list[str]:
        """What scripts threw on the open page, and what could not be loaded."""
        found = []
        for event in self.events:
            details = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                thrown = details["exceptionDetails"]
                found.append(f"{thrown['text']} {thrown.get('exception', {}).get('description', '')}")
            if event.get("method") == "Log.entryAdded" and details["entry"]["level"] == "error":
                found.append(f"{details['entry']['text']} {details['entry'].get('url', '')}")
        return found

    def screenshot(self, file: Path) -> None:
        """The whole page as a picture."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], TALLEST), "scale": 1}
        shot = self.call("Page.captureScreenshot", format="jpeg", quality=80, clip=clip, captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))


class Site:
    """The pages, what is wrong with them, and where their links lead."""

    def __init__(self, root: Path, screenshots: Path, pages: Sequence[Path] = ()) -> None:
        self.root, self.screenshots = root, screenshots
        self.folders = language_folders(root)
        found = pages or [path for path in root.rglob("*.html") if path != root / "index.html"]
        self.pages = sorted(path for path in found if not leads_on(path))
        self.problems: list[str] = []
        self.links: dict[str, str] = {}  # from an address to a page that has it
        self.places: dict[Path, set[str]] = {}
        self.found: dict[Path, dict[str, Any]] = {}  # what a page says of its language and its sections

    def name(self, page: Path) -> str:
        return page.relative_to(self.root).as_posix().removesuffix(".html")

    def look_at(self, browser: Browser, page: Path) -> None:
        """Pages that show source are all alike: the narrow window is enough."""
        name = self.name(page)
        is_source = name.startswith("source/")
        is_shown = page.parent.name == "notebooks" or (page.parent in self.folders.values() and page.stem == "README")
        browser.open(page.as_uri())
        for width, theme in itertools.product(WIDTHS[:1] if is_source else WIDTHS, THEMES[:1] if is_source else THEMES):
            browser.view(width, theme)
            self.problems += [f"{name} ({width} pixels, {theme}): {problem}" for problem in browser.run(LOOK)]
            if is_shown:
                browser.screenshot(self.screenshots / f"{name.replace('/', '-')}-{width}-{theme}.jpeg")
        self.problems += [f"{name}: {error}" for error in browser.errors()]
        found = browser.run(PLACES)
        self.places[page] = set(found["places"])
        self.links |= {link: name for link in found["links"] if link.startswith("file:")}
        self.found[page] = found

    def follow_links(self) -> None:
        """Every link has been seen, and so has every page."""
        for link, name in sorted(self.links.items()):
            address, _, place = unquote(link.removeprefix("file://")).partition("#")
            path = Path(address.partition("?")[0])
            is_page = path.is_file() and path.is_relative_to(self.root)
            if not is_page or (place and place not in self.places.get(path, {place})):
                self.problems.append(f"{name}: leads nowhere: {link.removeprefix(self.root.as_uri())}")

    def search(self, browser: Browser, patience: float = PATIENCE) -> None:
        """What is shown of each hit cannot be loaded from files, so errors do not count here."""
        for language, folder in self.folders.items():
            for word in SEARCHED.get(language, SEARCHED[ENGLISH]):
                browser.open(f"{(folder / 'search.html').as_uri()}?q={quote(word)}")
                until = time.monotonic() + patience
                while not browser.run("document.querySelector('#search-results a[href*=\"notebooks/\"]') !== null"):
                    if time.monotonic() > until:
                        self.problems.append(f"search ({language}): expected a lecture with {word!r}, got none")
                        break
                    time.sleep(0.1)


def find_program() -> str | None:
    """The browser that $CHROMIUM names, or the first that is installed."""
    names = [os.environ["CHROMIUM"]] if os.environ.get("CHROMIUM") else PROGRAMS
    return next((path for name in names if (path := shutil.which(name))), None)


def main(root: Path, pages: Sequence[Path] = ()) -> int:
    """Look at these pages, or at all; the exit code."""
    program = find_program()
    if program is None:
        print(f"no browser: expected $CHROMIUM or {', '.join(PROGRAMS)}; apt-get install chromium", file=sys.stderr)
        return 2
    if not (root / "index.html").is_file():
        print(f"{root}: expected the built site, got no index.html; make site", file=sys.stderr)
        return 1
    screenshots = root.parent / "site-screenshots"
    screenshots.mkdir(exist_ok=True)
    site = Site(root, screenshots, pages)
    try:
        with Browser(program) as browser:
            for page in site.pages:
                site.look_at(browser, page)
            site.problems += compare_languages(browser, root, site.found)
            site.search(browser)
    except BrowserError as error:
        site.problems.append(f"{program}: {error}")
    else:
        site.follow_links()
    print("\n".join(site.problems) or f"{len(site.pages)} pages, {len(site.links)} links: all is well")
    return 1 if site.problems else 0


if __name__ == "__main__":
    folder, *names = sys.argv[1:] or ["build/site"]
    sys.exit(main(Path(folder).resolve(), [Path(name).resolve() for name in names]))
