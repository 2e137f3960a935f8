"""The Chinese texts say what the English ones say: the same numbers, code, formulas and links, in the glossary's terms.

What has no translation, or an old one, is shown in English (kuiper/course/translations.py, kuiper/language.py) and does
not count here: ``make translations`` lists it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest
from markdown_it import MarkdownIt

from kuiper.course.translations import WRITTEN, english_words, read_translation, sources, translation_file
from tests.pseudo_language import WITHOUT_FIELDS, catalogue_maker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "learn" / "glossary.md"
pytest.importorskip("babel")
catalogues = catalogue_maker()

FORBIDDEN = {
    "滤波器": "卷积核",
    "步幅": "步长",
    "矢量": "向量",
    "缓存线": "缓存行",
    "比例因子": "缩放系数",
    "缩放因子": "缩放系数",
    "注册表": "注册器",
    "行优先": "行主序",
    "列优先": "列主序",
    "常数折叠": "常量折叠",
    "令牌": "词元",
    "权值": "权重",
    "逆卷积": "反卷积",
    "解卷积": "反卷积",
    "引发异常": "抛出异常",
    "课文": "讲义",
    "您": "你",
}
ORDINARY = {
    *("block", "cell", "cycle", "embedding", "groups", "instruction", "kernel", "key", "layer", "least recently used"),
    *("model card", "overflow", "pass", "queue", "ready", "register", "sample", "scale", "score", "stack", "state"),
    *("token", "value", "view"),
}
"""Terms of the glossary that are everyday words as well, or that a sentence may say otherwise."""

MORE = {
    "00_how_to_use_this_course.ipynb: fb6e9501",
    "README.md: the-course",
    "README.md: try-it",
    "install.md: from-a-wheel",
}
"""Where Chinese readers are told more: of mirrors, of interviews, of the course that this one comes from."""
HAN = "[\u4e00-\u9fff]"
CODE = re.compile(r"(`+)([^\n]+?)\1")
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$|\n]+\$", re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
FIELD = re.compile(r"\{[^{}]*\}")
EXAMPLE = re.compile(r"^ *>>> .*$", re.MULTILINE)
NUMBER = re.compile(
    r"(?<![\w.])(\d[\d,]*(?:\.\d+)?)(?:st|nd|rd|th|s)?"
    r"(?:\$?[ ]?(thousand|million|billion|万|百万|亿))?(?![0-9A-Za-z_])",
    re.ASCII,
)
SCALES = {"": 1, "thousand": 10**3, "万": 10**4, "million": 10**6, "百万": 10**6, "亿": 10**8, "billion": 10**9}
MAX_WORD = 20
"""English writes small numbers as words."""


class Pair(NamedTuple):
    """A text in both languages, and where it stands."""

    where: str
    english: str
    chinese: str


@cache
def pairs() -> list[Pair]:
    """What is translated, and of the English words of today."""
    found = []
    for domain in catalogues.DOMAINS:
        said = [message for message in catalogues.read("zh", domain) if message.id and message.string]
        texts = [(str(message.id), str(message.string)) for message in said if not message.fuzzy]
        found += [Pair(f"{domain}: {english[:60]!r}", english, chinese) for english, chinese in texts]
    for source in sources(ROOT):
        passages = read_translation(translation_file(source, "zh"))
        for english in english_words(source):
            passage = passages.get(english.key)
            if passage is not None and passage.fits(english):
                words = "\n".join(passage.text.splitlines()[1::2]) if english.is_code else passage.text
                found.append(Pair(f"{source.name}: {english.key}", english.words, WRITTEN.sub("", words)))
    return found


def different(found: Callable[[str], Iterable[object]], among: Iterable[Pair]) -> list[str]:
    """The pairs in which one language has what the other has not."""
    lines = []
    for pair in among:
        english, chinese = set(found(pair.english)), set(found(pair.chinese))
        if not english <= chinese or (english != chinese and pair.where not in MORE):
            lines.append(f"{pair.where}: only English {english - chinese}, only Chinese {chinese - english}")
    return lines


def code(text: str) -> set[str]:
    """Names of code; a placeholder in angle brackets is words."""
    return {re.sub(r"<[^>]*>", "<>", name) for _, name in CODE.findall(text)}


def formulas(text: str) -> set[str]:
    """Formulas, without the words in them."""
    return {re.sub(r"\\text\{[^}]*\}|\s", "", formula) for formula in FORMULA.findall(text)}


def links(text: str) -> set[str]:
    """Pages that links lead to; a translated page and its headings have names of their own."""
    return {link.replace(".zh-CN.", ".").partition("#")[0] for link in LINK.findall(text)}


def numbers(text: str) -> set[float]:
    """Large numbers, however they are written: 4.8 million is 480 万."""
    found = set()
    for digits, scale in NUMBER.findall(text):
        found.add(round(float(digits.rstrip(",").replace(",", "")) * SCALES[scale], 6))
    return {value for value in found if value > MAX_WORD or value % 1}


def plain(text: str) -> str:
    """The words of a text: no code, no formulas, no targets of links."""
    text = re.sub(r"^ {0,3}(```|~~~).*?^ {0,3}\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return LINK.sub("]", FORMULA.sub("$", CODE.sub("`", text)))


@pytest.mark.parametrize("found", [links, numbers, EXAMPLE.findall], ids=["links", "numbers", "examples"])
def test_both_languages_have_the_same(found: Callable[[str], Iterable[object]]) -> None:
    assert different(found, pairs()) == []


def test_no_formula_is_lost() -> None:
    """A sentence may say one more, in place of a word that would be ambiguous."""
    assert [pair.where for pair in pairs() if not formulas(pair.english) <= formulas(pair.chinese)] == []


def test_both_languages_name_the_same_code() -> None:
    assert different(code, pairs()) == []


def test_messages_have_the_same_fields() -> None:
    """Whole, with how a number is written: a translation asks for nothing else that a field has."""
    filled = [pair for pair in pairs() if pair.where.partition(": ")[0] in set(catalogues.DOMAINS) - {*WITHOUT_FIELDS}]
    assert different(FIELD.findall, filled) == []


@pytest.mark.parametrize(("variant", "term"), FORBIDDEN.items())
def test_no_other_word_stands_for_a_term(variant: str, term: str) -> None:
    assert [pair.where for pair in pairs() if variant in pair.chinese] == [], f"say {term}"


def glossary() -> dict[str, tuple[re.Pattern[str], set[str]]]:
    """What a term looks like in English, and all that it may be called in Chinese; a word in two senses has more."""
    found: dict[str, tuple[re.Pattern[str], set[str]]] = {}
    for english, chinese in re.findall(
        r"^\| ([^|]+) \| ([^|]+) \|", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE
    )[2:]:
        term = english.partition(" (")[0]
        names = {name.strip() for name in re.split("[\uff08\uff09\uff0c\u3001]", chinese)} - {""}
        pattern = re.compile(rf"(?<![\w.-]){re.escape(term)}s?(?![\w-])", re.IGNORECASE)
        found[term] = pattern, names | {term} | (found[term][1] if term in found else set())
    return found


@pytest.mark.parametrize("term", sorted(glossary().keys() - ORDINARY))
def test_a_term_is_called_as_the_glossary_calls_it(term: str) -> None:
    pattern, names = glossary()[term]
    said = [pair for pair in pairs() if pattern.search(plain(pair.english))]
    assert [pair.where for pair in said if not any(name.lower() in pair.chinese.lower() for name in names)] == []


def test_the_glossary_has_the_terms_that_are_everyday_words() -> None:
    assert glossary().keys() >= ORDINARY


def test_chinese_and_latin_letters_have_a_space_between_them() -> None:
    beside = re.compile(rf"{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}")
    assert [(pair.where, match[0]) for pair in pairs() for match in beside.finditer(plain(pair.chinese))] == []


def test_bold_words_in_pages_are_bold() -> None:
    """Markdown takes no `**` for an end that has a mark before it and a letter behind it."""
    reader = MarkdownIt("commonmark").enable("table")
    left = []
    for pair in pairs():
        for token in reader.parse(pair.chinese) if pair.where.partition(":")[0].endswith(("md", "ipynb")) else ():
            left += [
                (pair.where, part.content)
                for part in token.children or ()
                if part.type == "text" and "**" in part.content
            ]
    assert left == []
