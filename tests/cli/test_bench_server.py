"""``kuiper bench --serve`` against the server that ``kuiper serve`` starts, and what it says where there is none."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from kuiper.cli import main

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("uvicorn")

from tests.serving.http.servers import address, key_file

__all__ = ["address", "key_file"]  # fixtures

SMALL = ["--prompt-tokens", "4-20", "--answer-tokens", "2-6", "--shared-tokens", "8", "--requests", "6"]


@pytest.mark.parametrize("load", [["--readers", "3"], ["--rate", "200"]])
def test_bench_times_a_server(
    address: str, key_file: Path, load: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "--serve", address, "--api-key-file", str(key_file), *SMALL, *load]
    assert main(words) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{address}/v1  shakespeare"
    assert lines[1].endswith("; 6 requests answered, 0 failed")
    assert max(map(len, lines)) <= 80
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["answered"], found["failed"], found["model"]) == (6, 0, "shakespeare")
    assert 12 <= found["written"] <= 36
    assert 0 < found["first_ms"]["median"] <= found["whole_ms"]["p99"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            [],
            "--serve: expected a server at URL/v1 that speaks OpenAI's protocol, got 401: authorization: expected the",
        ),
        (["--api-key-file", "KEY", "nobody"], "MODEL: expected one of shakespeare, got nobody"),
        (["--api-key-file", "KEY", "--prompt-tokens", "300"], "got 400: prompt: expected at most 256 tokens, got 300"),
        (["--api-key-file", "KEY", "--readers", "0"], "--readers: expected a number of at least 1, got 0"),
        (["--api-key-file", "KEY", "--rate", "nan"], "--rate: expected a number above 0, got nan"),
    ],
)
def test_what_cannot_be_timed_is_one_sentence(
    address: str, key_file: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(key_file) if word == "KEY" else word for word in words]
    assert main(["bench", *words, "--serve", address]) == 1
    said = capsys.readouterr().err
    assert message.replace("URL", re.escape(address).replace("\\", "")) in said
    assert said.count("\n") == 1


def test_no_server_and_no_model_are_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--serve", "http://127.0.0.1:9"]) == 1
    assert capsys.readouterr().err == (
        "kuiper bench: --serve: expected a server at http://127.0.0.1:9/v1 that speaks OpenAI's protocol, got "
        "Connection refused\n"
    )
    assert main(["bench"]) == 1
    assert (
        capsys.readouterr().err == "kuiper bench: MODEL: expected a .param or an .onnx file, or --serve URL, got none\n"
    )
