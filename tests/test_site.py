"""The site: the check of its pages finds what it is there to find.

The check needs a browser; .ci/run installs one.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kuiper.course.pictures import grid, steps
from kuiper.course.pictures.attention import attention_map

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[1] / "docs" / "site"
SPECIFICATION = importlib.util.spec_from_file_location("check_pages", FOLDER / "check_pages.py")
assert SPECIFICATION
assert SPECIFICATION.loader
check_pages: Any = importlib.util.module_from_spec(SPECIFICATION)
SPECIFICATION.loader.exec_module(check_pages)

needs_browser = pytest.mark.skipif(
    sys.platform == "win32" or check_pages.find_program() is None, reason="no browser: apt-get install chromium"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with check_pages.Browser(check_pages.find_program()) as opened:
        yield opened


def page(body: str) -> str:
    return f"<!doctype html><html lang='en'><body><article>{body}</article></body></html>"


def site(root: Path, body: str) -> Any:
    (root / "notebooks").mkdir()
    (root / "README.html").write_text(page(f'<p id="here">text</p>{body}'), encoding="utf-8")
    (root / "notebooks" / "a.html").write_text(page('<a href="../README.html#here">back</a>'), encoding="utf-8")
    return check_pages.Site(root, root)


def test_moved_pages_lead_to_documents_and_are_not_looked_at(tmp_path: Path) -> None:
    moved_pages: Any = sys.modules["moved_pages"]
    ignored = (FOLDER.parents[1] / ".gitignore").read_text(encoding="utf-8").split()  # made for the site alone
    (tmp_path / "docs").mkdir()
    moved_pages.write_pages(tmp_path)
    for old, new in moved_pages.MOVED.items():
        assert (FOLDER.parent / f"{new}.md").is_file() or f"docs/{new}.md" in ignored, new
        assert not (FOLDER.parent / f"{old}.md").exists(), old
        assert f'location.replace("{new}.html" + location.hash)' in (tmp_path / "docs" / f"{old}.html").read_text(
            "utf-8"
        )
    assert check_pages.Site(tmp_path, tmp_path).pages == []


def test_site_has_all_pages_or_those_that_are_asked_for(tmp_path: Path) -> None:
    one, other = tmp_path / "one.html", tmp_path / "docs" / "other.html"
    other.parent.mkdir()
    for page in (one, other, tmp_path / "index.html"):
        page.touch()
    assert check_pages.Site(tmp_path, tmp_path).pages == [other, one]
    assert check_pages.Site(tmp_path, tmp_path, [one]).pages == [one]


@needs_browser
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('<a href="notebooks/a.html">link</a><pre style="overflow-x: auto">' + "long " * 400 + "</pre>", ""),
        ('<div style="width: 500px">wide</div>', "README (400 pixels, light): "),
        ('<div style="overflow: hidden"><div style="width: 1500px">cut</div></div>', "README (1280 pixels, dark): "),
        ('<img src="missing.png">', "no picture"),
        ("<script>throw new Error('boom')</script>", "boom"),
        ('<script src="missing.js"></script>', "missing.js"),
        ('<a href="missing.html">link</a>', "leads nowhere: /missing.html"),
        ('<a href="../outside.html">link</a>', "leads nowhere"),
        ('<a href="notebooks/a.html#missing">link</a>', "leads nowhere: /notebooks/a.html#missing"),
    ],
)
def test_check_finds_what_is_wrong(tmp_path: Path, browser: Any, body: str, problem: str) -> None:
    (tmp_path / "outside.html").write_text(page(""), encoding="utf-8")
    root = tmp_path / "site"
    root.mkdir()
    checked = site(root, body)
    for each in checked.pages:
        checked.look_at(browser, each)
    checked.follow_links()
    found = "\n".join(checked.problems)
    assert (problem in found) if problem else not found
    assert len(list(root.glob("*.jpeg"))) == 8  # two pages, two widths, two themes


@needs_browser
@pytest.mark.parametrize(("hit", "is_found"), [("notebooks/a.html", True), ("genindex.html", False)])
def test_search_wants_a_lecture(tmp_path: Path, browser: Any, hit: str, is_found: bool) -> None:
    checked = site(tmp_path, "")
    (tmp_path / "search.html").write_text(page(f'<ul id="search-results"><a href="{hit}">x</a></ul>'), encoding="utf-8")
    checked.search(browser, patience=0.0)
    assert (checked.problems == []) == is_found


@needs_browser
@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("卷积", ["卷积"]),
        ("页", ["页"]),
        ("用 im2col 做卷积核", ["用", "im2col", "做卷", "卷积", "积核"]),
        ("Cython、tile_16：3.4", ["Cython", "tile_16", "3", "4"]),
        ("「」", []),
    ],
)
def test_a_question_in_chinese_is_split_as_the_pages_are(browser: Any, query: str, asked: list[str]) -> None:
    pytest.importorskip("sphinx")
    chinese_search = importlib.import_module("chinese_search")
    browser.open("about:blank")
    split = f"(() => {{ {chinese_search.SearchChinese.js_splitter_code} return splitQuery({query!r}); }})()"
    assert browser.run(split) == asked
    assert set(asked) <= set(chinese_search.SearchChinese({}).split(query))


def test_the_template_of_a_page_escapes_what_catalogues_say() -> None:
    """Sphinx's own environment escapes nothing by itself."""
    jinja2 = pytest.importorskip("jinja2")
    words, label = '<b title="x">', "Toggle table of contents sidebar"
    theme = f'{{% block body %}}<div class="content-icon-container"><i title="{label}">{{% endblock %}}'
    own = (FOLDER / "templates" / "page.html").read_text(encoding="utf-8")
    pages = jinja2.Environment(loader=jinja2.DictLoader({"!page.html": theme, "page.html": own}))
    pages.globals["_"] = lambda message: words
    switch = {"name": words, "tag": "zh-CN", "address": "zh/README.html", "title": words}
    html = pages.get_template("page.html").render(switches=[switch], alternates=[])
    assert words not in html
    assert html.count("&lt;b title=&#34;x&#34;&gt;") == 3


ENGLISH, CHINESE = "docs/a.html", "zh/docs/a.html"
SECTIONS = "".join(f'<section id="{name}"><h2>{name}</h2><p style="height: 2000px"></p></section>' for name in "bcd")


def in_two_languages(root: Path, language: str, to_english: str, changes: dict[str, str]) -> str:
    """A page of a pair, with the scripts and links that it has on the site; ``changes`` are made in the Chinese one."""
    here, there = (ENGLISH, CHINESE) if language == "en" else (CHINESE, ENGLISH)
    alternates = (("en", ENGLISH), ("zh-CN", CHINESE), ("x-default", ENGLISH))
    head = "".join(f'<link rel="alternate" hreflang="{tag}" href="{to_english}{at}">' for tag, at in alternates)
    script = (FOLDER / "static" / "language.js").read_text(encoding="utf-8")
    text = (
        f'<!doctype html><html lang="{language}"><head>{head}</head><body><article><section id="a"><h1>a</h1>{SECTIONS}'
        f'</section></article><a class="language" data-same-page href="{to_english}{there}">switch</a>'
        f"<script>{script}</script></body></html>"
    )
    for old, new in (changes if language != "en" else {}).items():
        assert old in text
        text = text.replace(old, new)
    (root / here).parent.mkdir(parents=True, exist_ok=True)
    (root / here).write_text(text, encoding="utf-8")
    return here


@needs_browser
@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, ""),
        ({'lang="zh"': 'lang="en"'}, "zh/docs/a: expected lang='zh-CN', got 'en'"),
        ({'hreflang="en"': 'hreflang="fr"'}, "zh/docs/a: expected links to its languages"),
        ({'id="c"': 'id="id3"'}, "zh/docs/a: expected the sections ['a', 'b', 'c', 'd'], got ['a', 'b', 'id3', 'd']"),
        ({"data-same-page": ""}, "zh/docs/a: expected the switch at #c to lead to a.html, got "),
    ],
)
def test_a_page_leads_to_its_section_in_the_other_language(
    tmp_path: Path, browser: Any, changes: dict[str, str], problem: str
) -> None:
    changes = {'lang="zh"': 'lang="zh-CN"', **changes}
    made = [in_two_languages(tmp_path, "en", "../", {}), in_two_languages(tmp_path, "zh", "../../", changes)]
    checked = check_pages.Site(tmp_path, tmp_path, [tmp_path / name for name in made])
    for each in checked.pages:
        checked.look_at(browser, each)
    checked.follow_links()
    found = "\n".join([*checked.problems, *check_pages.compare_languages(browser, tmp_path, checked.found)])
    assert (problem in found) if problem else not found


@needs_browser
def test_the_switch_leads_to_the_section_that_was_asked_for_while_it_is_in_view(tmp_path: Path, browser: Any) -> None:
    here = tmp_path / in_two_languages(tmp_path, "zh", "../../", {"height: 2000px": "height: 100px"})
    there = (tmp_path / ENGLISH).as_uri()
    press = "(() => { const link = document.querySelector('a'); link.focus(); return link.href; })()"
    for place, led_to in (("", ""), ("#d", "#d"), ("#missing", "")):
        browser.open("about:blank")
        browser.open(f"{here.as_uri()}{place}")
        assert browser.run(press) == f"{there}{led_to}"


def test_main_without_a_browser_is_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "missing"))
    assert check_pages.main(tmp_path) == 2
    assert "no browser" in capsys.readouterr().err


@needs_browser
def test_steps_go_through_their_pictures(tmp_path: Path, browser: Any) -> None:
    shown = steps([grid([1]), grid([2]), grid([3])], ["one", "two", "three"], caption="all")
    (tmp_path / "steps.html").write_text(page(shown.html() + shown.html()), encoding="utf-8")
    browser.open((tmp_path / "steps.html").as_uri())
    look = """[...document.querySelectorAll(".kp-steps")].map(root =>
        [...root.querySelectorAll(".kp-frame")].findIndex(frame => getComputedStyle(frame).visibility === "visible"))"""
    press = "document.querySelectorAll('.kp-steps')[0].querySelectorAll('button')[{}].click()"
    key = "document.querySelector('.kp-steps').dispatchEvent(new KeyboardEvent('keydown', {{key: '{}'}}))"
    assert browser.run(look) == [0, 0]
    for act, place in (
        (press.format(1), 1),  # next
        (key.format("ArrowRight"), 2),
        (key.format("ArrowRight"), 2),
        (press.format(0), 1),  # previous
        (key.format("Home"), 0),
        (key.format("End"), 2),
        (key.format("ArrowLeft"), 1),
    ):
        browser.run(act)
        assert browser.run(look) == [place, 0]
    names = "[...document.querySelector('.kp-steps').querySelectorAll('button')].map(each => each.textContent)"
    assert browser.run(names) == ["previous", "next", "play"]
    browser.run(press.format(2))
    assert browser.run(names)[2] == "stop"
    assert browser.errors() == []


@needs_browser
def test_steps_do_not_play_for_those_who_want_less_motion(tmp_path: Path, browser: Any) -> None:
    (tmp_path / "calm.html").write_text(page(steps([grid([1])], ["one"]).html()), encoding="utf-8")
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    browser.open((tmp_path / "calm.html").as_uri())
    names = "[...document.querySelectorAll('button')].map(each => each.textContent)"
    assert browser.run(names) == ["previous", "next"]
    browser.call("Emulation.setEmulatedMedia", features=[])


@needs_browser
def test_steps_without_scripts_show_all_pictures(tmp_path: Path, browser: Any) -> None:
    without = steps([grid([1]), grid([2])], ["one", "two"]).html().partition("<script>")[0]
    (tmp_path / "plain.html").write_text(page(without), encoding="utf-8")
    browser.open((tmp_path / "plain.html").as_uri())
    tops = "[...document.images].map(image => image.naturalWidth && image.getBoundingClientRect().top)"
    first, second = browser.run(tops)
    assert 0 < first < second


@needs_browser
@pytest.mark.parametrize("width", [400, 1280])
def test_a_place_that_one_points_at_says_what_it_holds(tmp_path: Path, browser: Any, width: int) -> None:
    """Of the frame that is shown, not of those that lie below it; also where the picture is as wide as the window."""
    first, second = ([[1.0, 0.0], [share, 1 - share]] for share in (0.25, 0.75))
    shown = steps([attention_map(weights, "ab") for weights in (first, second)], ["one", "two"])
    style = '<meta charset="utf-8"><style>img { max-width: max(100%, 560px); height: auto }</style>'  # as on the site
    (tmp_path / "point.html").write_text(page(style + shown.html()), encoding="utf-8")
    browser.view(width, "light")
    browser.open((tmp_path / "point.html").as_uri())
    said = "[...document.querySelectorAll('.kp-said')].map(each => each.textContent)"
    begin = "Point at a cell, or tap it: the row looks at the column."
    assert browser.run(said) == [begin, begin]
    places = """[...document.querySelectorAll('.kp-over')].map(over =>
        [over, over.parentElement.querySelector('img')].map(each => each.getBoundingClientRect())
        .map(box => [box.left, box.top, box.width, box.height].map(Math.round)))"""
    assert all(over == image for over, image in browser.run(places))
    cell = "document.querySelector('.kp-over').querySelectorAll('rect')[1].getBoundingClientRect()"
    middle = f"(box => [box.left + box.width / 2, box.top + box.height / 2])({cell})"
    x, y = browser.run(middle)
    point = {"type": "mouseMoved", "y": y}
    browser.call("Input.dispatchMouseEvent", **point, x=x)
    assert browser.run(said) == ["“b” (2) looks at “a” (1): 25%", begin]
    browser.run("document.querySelectorAll('button')[1].click()")  # next
    browser.call("Input.dispatchMouseEvent", **point, x=x + 15)
    assert browser.run(said) == ["“b” (2) looks at “a” (1): 25%", "“b” (2) looks at itself: 25%"]
    assert browser.errors() == []
