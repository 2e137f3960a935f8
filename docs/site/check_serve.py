"""Open the page of ``kuiper serve`` in a browser, and use it as a reader does.

    python docs/site/check_serve.py

A server is started with a key, with a bundled model that goes on with a text, and a model of random weights that has a
template for chats; then one that speaks in brackets, outside of which no word may stand. On narrow and wide windows,
light and dark: the door, a text, a chat, many readers, the stop button, errors, in English and for a browser that wants
Chinese; nothing is wider than the window, no script fails, every field has a name. Pictures go to
``build/serve-screenshots``. Exit code 1: something is wrong; 2: there is no browser.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from check_explore import HARM, Reader
from check_pages import PROGRAMS, THEMES, WIDTHS, Browser, BrowserError, find_program
from page_words import brackets, words_outside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
KEY = "k3y"

STOP_AT_FIRST = """new Promise(resolve => {
    const said = document.getElementById("said");
    new MutationObserver((changes, observer) => {
        if (!said.querySelector(".writing .answer")?.textContent) return;
        observer.disconnect();
        document.getElementById("stop").click();
        resolve(true);
    }).observe(said, {subtree: true, childList: true, characterData: true});
    document.getElementById("ask").requestSubmit();
})"""

PAINTED = """(() => {
    const canvas = document.getElementById("steps"), {width, height} = canvas;
    const pixels = canvas.getContext("2d").getImageData(0, 0, Math.floor(width * 0.8), height).data;
    return pixels.filter((value, at) => at % 4 === 3 && value).length;
})()"""


class Visitor(Reader):
    """Somebody who uses the page of one server."""

    def __init__(self, browser: Browser, address: str, screenshots: Path, name: str = "serve") -> None:
        super().__init__(browser, Path(name), screenshots)
        self.address = address

    def open(self, state: str = "") -> None:
        """Once the page knows whether the server has a key, and with which models."""
        self.browser.open(f"{self.address}/")
        self.expect("the page to know what to show", "globalThis.kuiper?.app && !(DOOR.hidden && MAIN.hidden)")

    def expect(self, what: str, script: str) -> None:
        for name in ("door", "main"):
            script = script.replace(name.upper(), f"document.getElementById('{name}')")
        super().expect(what, script)

    def fill(self, field: str, text: str) -> None:
        """Type into a field, which is empty before."""
        self.run(f"document.getElementById('{field}').value = '', document.getElementById('{field}').focus()")
        self.browser.call("Input.insertText", text=text)

    def choose(self, model: str) -> None:
        self.run(
            f"(list => {{ list.value = {json.dumps(model)}; list.dispatchEvent(new Event('change')); }})"
            "(document.getElementById('model'))"
        )
        self.expect(f"the model {model}", f"kuiper.app.talk.model.id === {json.dumps(model)}")

    def submit(self) -> None:
        self.run("document.getElementById('ask').requestSubmit()")

    def expect_answers(self, count: int) -> None:
        self.expect(
            f"{count} whole answers",
            f"document.querySelectorAll('.turn .note').length === {count} && document.getElementById('stop').disabled",
        )

    def enter(self) -> None:
        """The door: a wrong key, then the right one, which the tab keeps."""
        self.open()
        self.place = "door"
        self.expect("the door", "!DOOR.hidden && MAIN.hidden")
        self.expect("no complaint before a key was given", "!document.getElementById('refused').textContent")
        self.browser.events.clear()  # the first answer was 401, which browsers tell
        for width, theme in itertools.product(WIDTHS, THEMES):
            self.browser.view(width, theme)
            self.look("door", width, theme)
        self.place = "door"
        self.fill("key", "wrong")
        self.key("Enter")
        self.expect("a complaint", "document.getElementById('refused').textContent.includes('API key')")
        self.fill("key", KEY)
        self.key("Enter")
        self.expect("the page", "DOOR.hidden && !MAIN.hidden")
        self.open()
        self.expect("the key to be kept", "!MAIN.hidden")

    def write(self) -> None:
        """A text that goes on, its numbers and its picture."""
        self.open()
        self.place = "text"
        self.choose("shakespeare")
        self.fill("words", "ROMEO:")
        self.submit()
        self.expect_answers(1)
        self.expect("a text", "document.querySelector('.answer').textContent.length === 200")
        self.expect("what it was behind", "document.querySelector('.given').textContent === 'ROMEO:'")
        self.expect("its costs", "/^200 tokens behind 6 · /.test(document.querySelector('.turn .note').textContent)")
        self.expect("a picture", f"{PAINTED} > 100")
        self.expect("all pages to come back", "kuiper.app.costs.state.pages === 0")

    def ask_as_many(self) -> None:
        """Many readers are in one step, and what they share is found."""
        self.place = "readers"
        self.fill("readers", "8")
        self.fill("words", "ROMEO:\n" * 20)
        self.submit()
        self.expect("eight in one step", "kuiper.app.costs.steps.list.some(step => step.drawn === 8)")
        self.expect_answers(1)
        self.submit()
        self.expect_answers(1)
        self.expect("a beginning that is found", "kuiper.app.costs.state.totals.found > 0")
        self.expect(
            "its size", "/behind 140, 128 of them found/.test(document.querySelector('.turn .note').textContent)"
        )
        self.fill("readers", "1")

    def stop(self) -> None:
        """The stop button, while a text comes; then everything is as before."""
        self.place = "stop"
        self.fill("readers", "16")
        self.fill("words", "ROMEO:")
        self.browser.call("Runtime.evaluate", expression=STOP_AT_FIRST, awaitPromise=True)
        self.expect("a note", "document.querySelector('.turn .note').textContent === 'stopped'")
        self.expect("a part of the text", "document.querySelector('.answer').textContent.length < 200")
        self.expect("all pages to come back", "kuiper.app.costs.state.pages === 0 && !kuiper.app.costs.state.running")
        self.expect("the button to be ready", "!document.getElementById('send').disabled")
        self.fill("readers", "1")

    def chat(self) -> None:
        """Two messages, of which the first means harm."""
        self.place = "chat"
        self.choose("chat")
        self.fill("tokens", "40")
        for count, words in enumerate((HARM, "And now?"), 1):
            self.fill("words", words)
            self.key("Enter")
            self.expect_answers(count)
        self.expect("a conversation", "kuiper.app.talk.messages.length === 4")
        self.expect(
            "the words as they were", f"document.querySelector('.user .text').textContent === {json.dumps(HARM)}"
        )
        if self.run("window.harm !== undefined || document.getElementById('harm') !== null"):
            self.problems.append("chat: expected words to stay text, got markup")
        self.run("document.getElementById('anew').click()")
        self.expect("nothing", "!document.querySelector('.turn') && !kuiper.app.talk.messages.length")

    def be_refused(self) -> None:
        """An error is said, and the words are not lost."""
        self.place = "error"
        self.choose("shakespeare")
        self.fill("words", "é")
        self.submit()
        self.expect(
            "the server's words", "document.getElementById('problem').textContent.includes('the model has learned')"
        )
        self.expect("the words", "document.getElementById('words').value === 'é'")
        self.browser.events.clear()  # the answer was 400

    def read(self) -> None:
        """In the language of brackets: the door, a text, a chat, and one that is stopped."""
        browser, self.place = self.browser, "brackets"
        browser.view(1280, "light")
        self.open()
        self.hear()
        self.fill("key", KEY)
        self.key("Enter")
        self.expect("the page", "DOOR.hidden && !MAIN.hidden")
        self.hear()
        self.fill("tokens", "30")
        for model in ("shakespeare", "chat"):
            self.choose(model)
            self.hear()
            for count in (1, 2):
                self.fill("words", "ROMEO:\n" * 20)
                self.submit()
                self.expect_answers(count if model == "chat" else 1)
            self.expect("steps", "kuiper.app.costs.steps.list.length > 0")
            self.hear()
        self.choose("shakespeare")
        self.fill("readers", "16")
        self.fill("tokens", "200")
        self.fill("words", "ROMEO:")
        browser.call("Runtime.evaluate", expression=STOP_AT_FIRST, awaitPromise=True)
        self.expect("no one who writes", "!document.querySelector('.writing')")
        self.hear()

    def hear(self) -> None:
        """No word of this state may stand outside of the brackets, but what models and their server say."""
        found = words_outside(self.run, ".text, .turn h3, #model, #problem, #refused", ())
        self.problems += [f"{self.place}: {problem}" for problem in found]

    def see(self, width: int, theme: str) -> None:
        """A text and a chat in this window."""
        self.browser.view(width, theme)
        self.open()
        self.choose("shakespeare")
        self.fill("readers", "5")
        self.fill("words", "ROMEO:\n" * 8)
        self.submit()
        self.expect_answers(1)
        self.look("text", width, theme)
        self.choose("chat")
        self.fill("readers", "3")
        self.fill("tokens", "60")
        for count, words in enumerate(("How large is the moon?", "And the sun, which is so much farther away?"), 1):
            self.fill("words", words)
            self.submit()
            self.expect_answers(count)
        self.look("chat", width, theme)


@contextmanager
def server(*words: str) -> Iterator[str]:
    """The address of a server that was started with these words."""
    command = [sys.executable, "-m", "kuiper", "serve", "--port", "0", *words]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().partition("/v1")[0]
        try:
            while True:
                try:
                    urllib.request.urlopen(f"{address}/v2/health/ready").close()
                    break
                except urllib.error.URLError:
                    time.sleep(0.05)
            yield address
        finally:
            process.terminate()


def language_models(folder: Path) -> list[str]:
    """What serves both models, with a key."""
    from tests.models.text.folders import chat_folder

    model = chat_folder(folder / "chat")
    (folder / "key").write_text(KEY, encoding="utf-8")
    return ["shakespeare", str(model), "--api-key-file", str(folder / "key"), "--memory", "16M"]


def check_without_texts(browser: Browser, address: str, screenshots: Path) -> list[str]:
    """A server of other models has nothing to show, and says so."""
    visitor = Visitor(browser, address, screenshots)
    visitor.open()
    visitor.expect("words", "document.getElementById('refused').textContent.includes('no language model')")
    visitor.expect("no lock", "document.getElementById('lock').hidden")
    visitor.look("nothing", WIDTHS[0], THEMES[0])
    return visitor.problems


def check(browser: Browser, address: str, screenshots: Path) -> list[str]:
    """Everything a reader does; what went wrong."""
    visitor = Visitor(browser, address, screenshots)
    acts: list[Callable[[], None]] = [
        visitor.enter,
        visitor.write,
        visitor.ask_as_many,
        visitor.stop,
        visitor.chat,
        visitor.be_refused,
    ]
    browser.view(1280, "light")
    for act in acts:
        act()
        visitor.problems += [f"{visitor.place}: {error}" for error in browser.errors() if " 401 " not in error]
        browser.events.clear()
    for width, theme in itertools.product(WIDTHS, THEMES):
        visitor.see(width, theme)
    return visitor.problems + check_in_chinese(browser, address, screenshots)


def check_in_chinese(browser: Browser, address: str, screenshots: Path) -> list[str]:
    """The page of the same server for a browser that wants Chinese; the tab has the key."""
    browser.call("Network.enable")
    browser.call("Network.setExtraHTTPHeaders", headers={"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"})
    visitor = Visitor(browser, address, screenshots, "serve-zh")
    visitor.open()
    visitor.expect("a page in Chinese", "document.documentElement.lang === 'zh-CN'")
    visitor.expect("Chinese words", "document.getElementById('stop').textContent === '停止'")
    for width, theme in itertools.product(WIDTHS, THEMES):
        visitor.see(width, theme)
    browser.call("Network.setExtraHTTPHeaders", headers={})
    browser.call("Network.disable")  # or it would tell of every piece of a stream
    return visitor.problems


def check_in_brackets(browser: Browser, folder: Path, screenshots: Path) -> list[str]:
    """A server that speaks in brackets."""
    folder.mkdir()
    with brackets(folder / "locale"), server(*language_models(folder)) as address:
        visitor = Visitor(browser, address, screenshots, "serve-in-brackets")
        visitor.read()
        browser.open("about:blank")
        return visitor.problems


def main() -> int:
    """Use the page; the exit code."""
    program = find_program()
    if program is None:
        print(f"no browser: expected $CHROMIUM or {', '.join(PROGRAMS)}; apt-get install chromium", file=sys.stderr)
        return 2
    screenshots = ROOT / "build" / "serve-screenshots"
    screenshots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        try:
            with Browser(program) as browser:
                with server(*language_models(Path(folder))) as address:
                    problems = check(browser, address, screenshots)
                    browser.open("about:blank")  # or the page would ask for steps again when the server has gone
                with server("cifar_resnet20") as address:
                    problems += check_without_texts(browser, address, screenshots)
                    browser.open("about:blank")
                problems += check_in_brackets(browser, Path(folder, "brackets"), screenshots)
        except BrowserError as error:
            problems = [f"{program}: {error}"]
    print("\n".join(problems) or "the page of kuiper serve: all is well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
