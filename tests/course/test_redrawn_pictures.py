"""Stored pictures in another language: drawn over the English ones, and only where these are as they were."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nbformat.v4 import new_output
from PIL import Image

from kuiper.course.contents import contents
from kuiper.course.errors import CourseError
from kuiper.course.handout import start, update
from kuiper.course.handout_record import digest
from kuiper.course.material import gather, pack, picture_digest
from kuiper.course.notebooks import notebook_files
from kuiper.course.picture_texts import drawn_over, write_pictures
from kuiper.course.picture_words import into
from kuiper.course.pictures import grid, steps
from kuiper.course.pictures.chart import chart, subplots
from kuiper.course.pictures.machine import memory_levels
from kuiper.course.pictures.photo import photo
from kuiper.course.redrawn_pictures import (
    FONT,
    drawn_digest,
    form_digest,
    images,
    pictures_file,
    put_pictures,
    redrawn,
)
from kuiper.course.stored_forms import read_form
from kuiper.course.stored_pictures import points, store_picture

ROOT = Path(__file__).parents[2]
FONT_FILE = ROOT / "notebooks/zh/pictures" / FONT
LECTURES = pytest.mark.parametrize("path", notebook_files(ROOT), ids=lambda path: path.name)
WORDS = {"number": "数", "two numbers": "两个数", "a number": "一个数", "rate": "速率"}


def say(text: str) -> str:
    return WORDS.get(text, text)


def stored(thing: Any) -> dict[str, Any]:
    output = new_output("execute_result", data=thing._repr_mimebundle_())
    store_picture(output)
    return {"cells": [{"id": "c", "outputs": [output]}]}


def plotted() -> Any:
    figure, axes = subplots()
    axes.plot([1, 2], [3, 4])
    axes.set_ylabel("rate")
    return chart(figure, "two numbers")


def colours(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGBA").convert("RGB")).astype(int)


THINGS = {
    "grid": grid([[1, 2], [3, 4]], "number").captioned("two numbers"),
    "steps": steps([grid([1], "number"), grid([2], "number")], ["a number", "other"], "two numbers"),
    "chart": plotted(),
    "photo": photo(Image.new("RGB", (200, 90), "#20a050"), "two numbers"),
}


@pytest.mark.parametrize("name", THINGS)
def test_redrawn_is_the_picture_with_other_words(name: str) -> None:
    """Outside of the places of the old and of the new texts no point has changed."""
    lecture = stored(THINGS[name])
    ((key, output, kind),) = images(lecture)
    entry = json.loads(json.dumps(drawn_over(lecture, say)))[key]
    data = base64.b64decode(output["data"][kind])
    made = redrawn(data, kind, entry, FONT_FILE)
    before, after = colours(data), colours(made)
    assert before.shape == after.shape
    changed = np.abs(before - after).max(axis=2) > (60 if kind == "image/jpeg" else 0)
    assert changed.any()
    for left, top, right, bottom, _ in entry["cleared"]:
        changed[top:bottom, left:right] = False
    assert not changed.any()  # these texts are shorter than the English ones
    assert entry["alt"] == read_form(output["data"]["text/vnd.kuiper.page"]).said(say).alt


def test_redrawn_without_new_words_is_the_picture_without_the_old_ones() -> None:
    lecture = stored(memory_levels())
    ((key, output, kind),) = images(lecture)
    entry = drawn_over(lecture, into("zh"))[key]
    bare = redrawn(base64.b64decode(output["data"][kind]), kind, {**entry, "texts": []}, FONT_FILE)
    wanted = points(read_form(output["data"]["text/vnd.kuiper.page"]).said(lambda text: "").still().svg())[1]
    low = min(colours(bare).shape[0], colours(wanted).shape[0]) - 24  # above the edge below the caption
    outside = np.abs(colours(bare)[:low] - colours(wanted)[:low]).max(axis=2) > 40
    assert outside.mean() < 0.02  # what is no word, such as 2 KB, stays


def test_drawn_over_needs_room_for_a_caption() -> None:
    lecture = stored(grid([1]).captioned("two numbers"))
    with pytest.raises(CourseError, match="a caption of at most 1 lines"):
        drawn_over(lecture, lambda text: "数" * 60 if text == "two numbers" else text)


def test_write_pictures_needs_the_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "01.ipynb"
    source.write_text(json.dumps(stored(grid([1]).captioned("two numbers"))), encoding="utf-8")
    pictures_file(source, "zh").parent.mkdir(parents=True)
    (pictures_file(source, "zh").parent / FONT).write_bytes(FONT_FILE.read_bytes())
    monkeypatch.setattr("kuiper.course.picture_texts.into", lambda name: lambda text: text.replace("two", "\u4e02"))
    with pytest.raises(CourseError, match="a font with all letters"):
        write_pictures(source, "zh")


def test_put_pictures_leaves_an_english_picture_that_has_changed(tmp_path: Path) -> None:
    lecture, source = stored(memory_levels()), tmp_path / "01.ipynb"
    source.write_text(json.dumps(lecture), encoding="utf-8")
    put_pictures(lecture, source, "zh")  # there is no file
    assert json.loads(source.read_text()) == json.loads(json.dumps(lecture))
    folder = pictures_file(source, "zh").parent
    folder.mkdir(parents=True)
    (folder / FONT).write_bytes(FONT_FILE.read_bytes())
    assert write_pictures(source, "zh") == 1
    ((_, output, kind),) = images(lecture)
    before = output["data"][kind]
    pixels = bytearray(base64.b64decode(before))
    pixels[pixels.index(b"PLTE") + 4] ^= 1
    output["data"][kind] = changed = base64.b64encode(pixels).decode()
    put_pictures(lecture, source, "zh")
    assert output["data"][kind] == changed
    output["data"][kind] = before
    put_pictures(lecture, source, "zh")
    assert output["data"][kind] != before
    assert "存储器" in output["metadata"][kind]["alt"]


@LECTURES
def test_stored_pictures_in_chinese_are_those_of_today(path: Path) -> None:
    """Write them again if this fails: kuiper course translations zh --pictures."""
    lecture, translate = json.loads(path.read_text(encoding="utf-8")), into("zh")
    known = json.loads(pictures_file(path, "zh").read_text(encoding="utf-8"))
    wanted = {}
    for key, output, kind in images(lecture):
        english = read_form("".join(output["data"]["text/vnd.kuiper.page"]))
        if english.said(translate) != english:
            shown = english.said(translate).html()
            wanted[key] = picture_digest("".join(output["data"][kind])), form_digest(shown)
    assert {key: (entry["of"], entry["shows"]) for key, entry in known.items()} == wanted


def lecture_in_chinese() -> bytes:
    path = ROOT / "notebooks/01_tensors.ipynb"
    lecture = json.loads(path.read_text(encoding="utf-8"))
    put_pictures(lecture, path, "zh")
    return json.dumps(lecture).encode()


def test_digest_of_a_lecture_says_what_its_pictures_are_drawn_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """And not with which bytes: another Pillow, or another zlib, writes others."""
    before = lecture_in_chinese()
    with monkeypatch.context() as patch:
        patch.setattr("kuiper.course.redrawn_pictures._LEVEL", 1)
        other_bytes = lecture_in_chinese()
    assert other_bytes != before
    assert digest(other_bytes) == digest(before)
    assert digest(before.replace(b"ensor", b"ensors", 1)) != digest(before)
    entry: dict[str, object] = {
        "of": "1",
        "cleared": [[0, 0, 8, 8, 3]],
        "texts": [[1.0, 8.0, "start", 12.0, "#000000", False, False, "x"]],
    }
    of = drawn_digest(entry, FONT_FILE)
    others: list[dict[str, object]] = [{"of": "2"}, {"cleared": []}, {"texts": []}, {"below": "eA=="}]
    assert len({of, *(drawn_digest({**entry, **other}, FONT_FILE) for other in others)}) == 5
    assert drawn_digest({**entry, "alt": "y", "shows": "z"}, FONT_FILE) == of
    assert drawn_digest(entry, FONT_FILE.with_name("OFL.txt")) != of


@pytest.mark.parametrize("text", ['{"drawn"', '["drawn"]', '{"cells": ["drawn"]}', '{"cells": 3, "drawn": 4}'])
def test_digest_takes_a_file_that_is_no_lecture_as_it_is(text: str) -> None:
    assert digest(text.encode()) != digest(f"{text} ".encode())


def test_update_leaves_a_chinese_lecture_that_was_run_with_another_pillow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "notebooks/01_tensors.ipynb"
    monkeypatch.setattr("kuiper.course.handout.contents", lambda *_: {name: lecture_in_chinese()})
    for folder in (tmp_path / "run", tmp_path / "fresh"):
        start(folder, language="zh")
    run = json.loads((tmp_path / "run" / name).read_bytes())
    run["cells"][1]["outputs"] = []
    (tmp_path / "run" / name).write_text(json.dumps(run))
    monkeypatch.setattr("kuiper.course.redrawn_pictures._LEVEL", 1)
    assert list(update(tmp_path / "run")) == list(update(tmp_path / "fresh")) == []
    assert json.loads((tmp_path / "run" / name).read_bytes()) == run


def test_a_student_gets_pictures_in_chinese_and_nothing_that_makes_them(tmp_path: Path) -> None:
    handed_out = contents(solutions=False, language="zh")
    assert not [name for name in handed_out if name.startswith("notebooks/zh")]
    lecture = json.loads(handed_out["notebooks/03c_speed.ipynb"])
    english = json.loads((ROOT / "notebooks/03c_speed.ipynb").read_text(encoding="utf-8"))
    pairs = list(zip(images(lecture), images(english), strict=True))
    assert sum(new["data"][kind] != old["data"][kind] for (_, new, kind), (_, old, _) in pairs) > 10
    assert any(name.startswith("notebooks/zh/pictures/") for name in gather(ROOT))
    pack(ROOT, tmp_path / "material", pictures=False)
    assert not (tmp_path / "material/notebooks/zh/pictures").exists()
