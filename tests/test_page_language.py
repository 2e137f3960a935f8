"""Pages that speak their reader's language: what a document gets, and which texts of it the catalogues have."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo

from kuiper import language
from kuiper.page_language import in_language
from tests.pseudo_language import catalogue_maker

ROOT = Path(__file__).parents[1]
SCRIPTS = sorted((ROOT / "tests" / "page_language").glob("*.test.js"))
DOCUMENT = '<!doctype html>\n<html lang="en">\n<head>\n<title>x</title>\n</head>\n<body>Send</body>\n</html>\n'


@pytest.fixture
def catalogues() -> Any:
    return catalogue_maker()


@pytest.fixture
def zh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A language with one message for the pages of servers."""
    for domain in ("kuiper", "serve"):
        catalogue = Catalog(locale="zh", domain=domain)
        catalogue.add("Send", "</script>发送")
        path = tmp_path / "zh" / "LC_MESSAGES" / f"{domain}.mo"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            write_mo(file, catalogue)
    monkeypatch.setenv("KUIPER_LOCALE", str(tmp_path))


@pytest.mark.usefixtures("zh")
def test_in_language_puts_messages_and_tag_into_a_document() -> None:
    said = in_language(DOCUMENT, "serve", "zh")
    found = re.search(r'<script type="application/json" id="messages">([^<]*)</script>\n</head>', said)
    assert found is not None
    assert json.loads(found[1]) == {"Send": "</script>发送"}
    assert '<html lang="zh-CN">' in said
    assert said.replace(found[0], "</head>").replace("zh-CN", "en") == DOCUMENT
    assert in_language(DOCUMENT, "serve", "en") == DOCUMENT


@pytest.mark.usefixtures("zh")
def test_messages_are_those_of_the_domain() -> None:
    assert language.messages("serve", into="zh") == {"Send": "</script>发送"}
    assert language.messages("explore", into="zh") == {}
    assert language.messages("serve") == {}


@pytest.mark.usefixtures("zh")
@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("ZH-Hant-TW", "zh"),
        ("en-US,en;q=0.9,zh;q=0.8", "en"),
        ("fr, en;q=0.5, zh;q=0.7", "zh"),
        ("fr-FR", "en"),
        ("zh;q=high", "en"),
        ("zh;q=0, fr", "en"),
        ("../../zh, zh/../zh", "en"),
        ("*", "en"),
        ("", "en"),
    ],
)
def test_accepted_is_what_the_browser_likes_best(header: str, expected: str) -> None:
    assert language.accepted(header) == expected


def test_document_has_the_texts_that_a_reader_sees(catalogues: Any) -> None:
    document = catalogues.Document("page.html")
    document.feed(
        '<body><p class="a">The file\n <code>--key</code> has it. </p><p translate="no">kuiper <b>serve</b></p>'
        '<label><span>key</span><input placeholder="a key" title=""></label><p><b>now</b> <i></i></p><br>'
        '<script>const text = "no text";</script><img alt="The photo"><button title="more">+</button></body>'
    )
    assert [text for _, text in document.texts] == [
        "The file {code} has it.", "key", "a key", "now", "The photo", "more",
    ]  # fmt: skip


@pytest.mark.parametrize("markup", ["<p>a <b>b</b> c <b>d</b></p>", "<p>a</b>"])
def test_document_refuses_what_language_js_cannot_say(catalogues: Any, markup: str) -> None:
    with pytest.raises(ValueError, match=r"^page\.html:1: expected"):
        catalogues.Document("page.html").feed(markup)


@pytest.mark.parametrize("rest", [b"<<<<<<< HEAD", b'msgid "a"\nmsgstr "\xff"'], ids=["merged", "no UTF-8"])
def test_read_refuses_a_catalogue_with_something_else_in_it(
    rest: bytes, catalogues: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogues, "LOCALE", tmp_path)
    path = catalogues.catalogue_file("zh", "serve")
    path.parent.mkdir(parents=True)
    path.write_bytes(b'msgid "b"\nmsgstr "c"\n\n' + rest)
    with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: expected messages as gettext writes them, got: "):
        catalogues.read("zh", "serve")


@pytest.mark.parametrize("page", ["explore", "serve"])
def test_catalogues_have_every_message_of_the_scripts(catalogues: Any, page: str) -> None:
    """Babel's reader of JavaScript may lose its way in newer syntax: then it finds fewer than stand there."""
    folder = catalogues.PAGES[page]
    found = {str(message.id) for message in catalogues.template(page) if message.id}
    marked = re.compile(r"""(?:\b_|\bparts)\(\s*'((?:[^'\\]|\\.)*)'|\bmany\([^()',]*, '([^']*)',\s*'([^']*)'""")
    for script in folder.glob("*.js"):
        text = script.read_text(encoding="utf-8")
        wanted = [part for groups in marked.findall(text) for part in groups if part]
        calls = len(re.findall(r"(?<![\w.])_\('", text))
        assert calls <= len(wanted)
        lost = [text for text in wanted if not any(message.startswith(text) for message in found)]
        assert not lost, script.name


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_script_passes_its_own_tests() -> None:
    assert SCRIPTS
    done = subprocess.run(["node", "--test", *map(str, SCRIPTS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
