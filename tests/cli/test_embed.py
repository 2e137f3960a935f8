"""``kuiper embed``: vectors of texts, of files and of lines, and how similar they are."""

from __future__ import annotations

import io
import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.cells import cell_len

from kuiper.cli.similarity import show_similarity
from kuiper.models import bundled
from kuiper.models.text import embedding_model
from tests.cli.program import command
from tests.encoders import encoder_folder, sentence_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sentence_folder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def embed(folder: Path) -> Callable[..., int]:
    return command("embed", folder)


def test_embed_prints_one_text_as_json(embed: Any, folder: Path, capsys: Capture) -> None:
    assert embed("a cat") == 0
    said = capsys.readouterr()
    (record,) = map(json.loads, said.out.splitlines())
    assert record.pop("embedding") == embedding_model.load(folder).encode(["a cat"])[0].tolist()
    assert record == {"text": "a cat", "tokens": 7, "left_off": 0}
    assert said.err.startswith("1 text, 7 tokens, ")


def test_embed_shows_how_similar_texts_are(embed: Any, capsys: Capture) -> None:
    assert embed("a cat", "a cat\nsleeps", "春" * 9) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["1", "2", "3"]
    assert [line[:41].split("  ")[1] for line in lines] == ["a cat", "a cat sleeps", "春" * 9]
    assert {cell_len(line) for line in [head, *lines]} == {80}
    assert all(float(line.split()[at - 4]) == 1 for at, line in enumerate(lines, 1))


def test_embed_takes_files_and_lines(embed: Any, tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.txt").write_text("a cat\n", encoding="utf-8")
    (tmp_path / "b.txt").write_text("one\n\ntwo\n", encoding="utf-8")
    assert embed("a dog", "--file", tmp_path / "a.txt", "--lines", tmp_path / "b.txt", "--json") == 0
    records = [*map(json.loads, capsys.readouterr().out.splitlines())]
    assert [one.get("text", one.get("file")) for one in records] == ["a dog", str(tmp_path / "a.txt"), "one", "two"]
    assert [one["tokens"] for one in records] == [7, 8, 5, 5]


def test_embed_reads_stdin(embed: Any, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    for option, count in (("--file", 1), ("--lines", 2)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Grüße\nzwei".encode())))
        assert embed(option, "-", "--json") == 0
        assert len(capsys.readouterr().out.splitlines()) == count
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\xff")))
    assert embed("--file", "-") == 1
    assert capsys.readouterr().err == "kuiper embed: stdin: expected a text, in UTF-8, got the byte 0xff\n"


def test_embed_writes_arrays_and_lines(embed: Any, folder: Path, tmp_path: Path, capsys: Capture) -> None:
    expected = embedding_model.load(folder).encode(["a", "b"])
    assert embed("a", "b", "-o", tmp_path / "v.npy") == 0
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), expected)
    assert embed("a", "b", "--output", tmp_path / "v.jsonl") == 0
    records = [json.loads(line) for line in (tmp_path / "v.jsonl").read_text(encoding="utf-8").splitlines()]
    np.testing.assert_array_equal(np.float32([one["embedding"] for one in records]), expected)
    said = capsys.readouterr()
    assert f"wrote {tmp_path / 'v.npy'}\n" in said.err
    assert said.out.count("1.00") == 4  # the tables of both
    assert embed("a", "-o", tmp_path / "w.npy") == 0
    assert capsys.readouterr().out == ""


def test_embed_says_what_it_leaves_off(embed: Any, capsys: Capture) -> None:
    assert embed("a" * 31, "a" * 30, "b" * 99) == 0
    assert "2 of 3 texts have more than 32 tokens: only their beginning is encoded\n" in capsys.readouterr().err
    assert embed("a" * 99, "--max-length", "20") == 0
    said = capsys.readouterr()
    assert "the text has more than 20 tokens: only its beginning is encoded\n" in said.err
    assert json.loads(said.out)["left_off"] == 81


def test_embed_takes_pooling_and_length(embed: Any, folder: Path, capsys: Capture) -> None:
    assert embed("a cat", "--pooling", "cls", "--no-normalize") == 0
    expected = embedding_model.load(folder, pooling="cls", normalize=False).encode(["a cat"])[0]
    assert json.loads(capsys.readouterr().out)["embedding"] == expected.tolist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "TEXT: expected a text, --file or --lines with one, got none"),
        (["--file", "nowhere.txt"], "nowhere.txt: expected a text, got nothing there"),
        (["a", "-o", "v.csv"], "-o: expected a file name that ends in .npy or .jsonl, got v.csv"),
        (["a", "--max-length", "65"], "max_length: expected at most the 64 tokens that the network reads, got 65"),
    ],
)
def test_embed_says_what_is_wrong(embed: Any, capsys: Capture, words: list[str], message: str) -> None:
    assert embed(*words) == 1
    assert capsys.readouterr().err == f"kuiper embed: {message}\n"


def test_embed_needs_an_encoder(capsys: Capture, tmp_path: Path) -> None:
    run = command("embed")
    assert run(tmp_path / "nothing", "a") == 1
    assert run(bundled("shakespeare"), "a") == 1
    assert run(encoder_folder(tmp_path / "tiny"), "a", "--pooling", "last") == 0
    (tmp_path / "tiny" / "model.safetensors").unlink()
    assert run(tmp_path / "tiny", "a") == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("kuiper embed")]
    assert "nothing: expected a folder with config.json and model.safetensors, got nothing there" in errors[0]
    assert "expected a folder with config.json and model.safetensors, got a file" in errors[1]
    assert "expected model.safetensors or model.safetensors.index.json, got neither" in errors[2]


def test_generate_points_at_embed(tmp_path: Path, capsys: Capture) -> None:
    assert command("generate")("--model", encoder_folder(tmp_path / "tiny"), "a") == 1
    assert "got 'bert'; kuiper embed and kuiper serve take encoders\n" in capsys.readouterr().err


def test_many_texts_are_shown_by_their_closest_pairs(capsys: Capture) -> None:
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((12, 16), np.float32)
    vectors[7] = 2 * vectors[3]
    vectors[9] = 0
    names = [f"text {at} " + "春 " * 4 * at for at in range(12)]
    show_similarity(names, vectors)
    head, first, *rest = capsys.readouterr().out.splitlines()
    assert head == "the closest 20 of 66 pairs"
    assert first == " 1.00  text 3 春 春 春 春 春 春 春 春 春 .. text 7 春 春 春 春 春 春 春 春 春 .."
    assert len(rest) == 19
    assert max(map(cell_len, [head, first, *rest])) <= 80
    show_similarity(["a"] * 1001, np.zeros((1001, 2), np.float32))
    assert capsys.readouterr().err == "similarities are shown of at most 1000 texts\n"
