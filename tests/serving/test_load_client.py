"""The client of a load, against a server of the standard library that answers as it is told."""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from kuiper.errors import ParameterError
from kuiper.serving.load import CallSizes, draw_calls
from kuiper.serving.load_client import LoadRun, TextServer

if TYPE_CHECKING:
    from collections.abc import Iterator

CALLS = draw_calls(12, CallSizes((2, 5), (3, 3), 0), vocabulary=9, pause=0.001)


class Answers(BaseHTTPRequestHandler):
    """Three pieces of text, of which the last has two tokens, or what ``status`` and ``lines`` say instead."""

    status = 200
    lines: ClassVar[list[str] | None] = None
    bodies: ClassVar[list[Any]] = []
    at_once: ClassVar[list[int]] = [0, 0]  # now, at most
    seconds = 0.0
    lock = Lock()

    def do_GET(self) -> None:
        self.say(self.status, [json.dumps({"data": [{"id": "one"}, {"id": "two"}]})])

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        with self.lock:
            self.at_once[0] += 1
            self.at_once[1] = max(self.at_once)
        time.sleep(self.seconds)
        with self.lock:  # before the answer: behind it a reader may ask again while this thread waits for the core
            self.at_once[0] -= 1
        piece = {"choices": [{"text": "x"}]}
        usage = {"choices": [], "usage": {"completion_tokens": 4}}
        lines = [f"data: {json.dumps(event)}" for event in (piece, piece, piece, usage)]
        self.say(self.status, [": a comment", *lines, "data: [DONE]"] if self.lines is None else self.lines)

    def say(self, status: int, lines: list[str]) -> None:
        self.send_response(status)
        self.end_headers()
        self.wfile.write("\n\n".join([*lines, ""]).encode())

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def answers() -> Iterator[type[Answers]]:
    class Own(Answers):
        bodies: ClassVar[list[Any]] = []
        at_once: ClassVar[list[int]] = [0, 0]

    with ThreadingHTTPServer(("127.0.0.1", 0), Own) as server:
        Own.url = f"http://127.0.0.1:{server.server_port}"  # type: ignore[attr-defined]
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Own
        server.shutdown()
        thread.join()


def server_of(answers: Any) -> TextServer:
    return TextServer(answers.url, "k3y")


def test_models_are_those_of_the_server(answers: type[Answers]) -> None:
    assert server_of(answers).models() == ["one", "two"]


def test_a_load_of_readers_sends_every_call_and_counts_tokens(answers: type[Answers]) -> None:
    answers.seconds = 0.02
    result = LoadRun(server_of(answers), "one", CALLS).of_readers(3)
    assert (result.answered, result.failures, answers.at_once[1]) == (12, [], 3)
    assert result.figures is not None
    assert result.figures.written == 4 * 12  # as the server counts
    assert result.figures.read == sum(len(call.prompt) for call in CALLS)
    assert result.figures.first.median >= 20
    assert sorted(body["prompt"] for body in answers.bodies) == sorted(call.prompt for call in CALLS)
    assert {(body["model"], body["max_tokens"], body["stream"]) for body in answers.bodies} == {("one", 3, True)}


def test_a_load_at_a_rate_does_not_wait_for_answers(answers: type[Answers]) -> None:
    answers.seconds = 0.3
    result = LoadRun(server_of(answers), "one", CALLS).at_rate()
    assert result.answered == 12
    assert answers.at_once[1] > 6


def test_a_call_that_fails_is_counted_and_the_others_go_on(answers: type[Answers]) -> None:
    for status, lines, said in (
        (429, ['{"error": {"message": "too\\nmany"}}'], "429: too many"),
        (500, ["oh"], "500: oh"),
        (200, ["data: [DONE]"], "an answer without text"),
        (200, ['data: {"choices": [{"text": "x"}]}'], "the server broke off"),
        (200, ['data: {"error": {"message": "inside"}}'], "inside"),
        (200, ["data: {"], "Expecting property name"),
    ):
        answers.status, answers.lines = status, lines
        result = LoadRun(server_of(answers), "one", CALLS).of_readers(2)
        assert (result.answered, result.figures, len(result.failures)) == (0, None, 12)
        assert said in result.failures[0]


def test_what_a_server_would_always_refuse_ends_the_load(answers: type[Answers]) -> None:
    answers.status, answers.lines = 400, ['{"error": {"message": "prompt: expected at most 3 tokens"}}']
    with pytest.raises(ParameterError, match="got 400: prompt: expected at most 3 tokens"):
        LoadRun(server_of(answers), "one", CALLS).of_readers(1)
    assert len(answers.bodies) == 1


def test_no_server_is_one_error(answers: type[Answers]) -> None:
    expected = "--serve: expected a server at .* that speaks OpenAI's protocol, got "
    with pytest.raises(ParameterError, match=f"{expected}Connection refused"):
        TextServer("http://127.0.0.1:9").models()
    answers.status = 404
    with pytest.raises(ParameterError, match=f"{expected}404: "):
        server_of(answers).models()
    with pytest.raises(ParameterError, match=expected):
        TextServer(answers.url, "key\n").models()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8000", "ftp://x", "http://", "http://x:99999", "http://x/?a=1", "http://\nx"]
)
def test_an_address_is_one(url: str) -> None:
    with pytest.raises(ParameterError, match=r"--serve: expected an address such as http://127.0.0.1:8000, got"):
        TextServer(url)


def test_an_address_may_have_a_path() -> None:
    assert TextServer("http://x:1/").url == "http://x:1/v1"
    assert TextServer("https://x/openai/v1/").url == "https://x/openai/v1"
