"""The page at ``/``, and the stream of steps that it draws."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.serving.http import steps as steps_module
from kuiper.serving.http.application import create_application
from kuiper.serving.http.limits import Limits
from kuiper.serving.http.served import Served

if TYPE_CHECKING:
    from collections.abc import Iterator

SCRIPTS = sorted((Path(__file__).parent / "page").glob("*.test.js"))


@pytest.fixture
def served() -> Iterator[Served]:
    limits = Limits()
    found = Served("shakespeare", language_model.load(bundled("shakespeare")), memory=8 << 20, limits=limits)
    yield found
    found.worker.stop(finish=False)


def test_the_page_is_whole_and_its_policy_allows_its_own_parts_only(served: Served) -> None:
    answer = TestClient(create_application([served], api_key="k3y")).get("/")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = answer.headers["content-security-policy"]
    for kind in ("script", "style"):
        parts = re.findall(rf"<{kind}>(.*?)</{kind}>", answer.text, re.DOTALL)
        hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in parts]
        assert f"{kind}-src " + " ".join(f"'sha256-{one}'" for one in hashes) in policy.split("; ")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert not re.search(r'\b(src|href|style|on\w+)="', answer.text)
    assert "http:" not in answer.text
    assert "https:" not in answer.text


def test_the_page_is_in_the_language_of_the_browser_unless_the_server_has_one(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = TestClient(create_application([served]))

    def page(wishes: str) -> Any:
        return client.get("/", headers={"accept-language": wishes})

    monkeypatch.setenv("KUIPER_LANG", "")
    chinese, english = page("zh-CN,zh;q=0.9,en;q=0.8"), page("en")
    assert '<html lang="zh-CN">' in chinese.text
    assert 'id="messages">{' in chinese.text
    assert '<html lang="en">' in english.text
    assert 'id="messages"' not in english.text
    assert english.headers["vary"] == "Accept-Language"
    assert chinese.headers["content-security-policy"] == english.headers["content-security-policy"]
    monkeypatch.setenv("KUIPER_LANG", "zh")
    assert page("en").text == chinese.text
    monkeypatch.setenv("KUIPER_LANG", "en")
    assert page("zh").text == english.text


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_scripts_of_the_page_pass_their_own_tests() -> None:
    assert SCRIPTS
    done = subprocess.run(["node", "--test", *map(str, SCRIPTS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:]


def test_steps_need_the_key_and_a_model(served: Served) -> None:
    client = TestClient(create_application([served], api_key="k3y"))
    assert client.get("/v1/kuiper/steps?model=shakespeare").status_code == 401
    headers = {"authorization": "Bearer k3y"}
    assert client.get("/v1/kuiper/steps", headers=headers).status_code == 404
    assert client.get("/v1/kuiper/steps?model=%00%ff", headers=headers).status_code == 404


def test_models_say_what_the_page_draws(served: Served) -> None:
    (model,) = TestClient(create_application([served])).get("/v1/models").json()["data"]
    assert model["kuiper"]["has_template"] is False
    assert model["kuiper"]["context"] == 256
    assert model["kuiper"]["pages"] == served.worker.engine.batch.paging.pages


class Watcher:
    """A client of the stream, which leaves when it has seen enough; or the server leaves."""

    def __init__(self, served: Served, *, application: Any = None) -> None:
        self.application = application or create_application([served])
        self.messages: list[Any] = []
        self.leaves = asyncio.Event()
        self.has_asked = False

    @property
    def events(self) -> list[Any]:
        text = b"".join(message.get("body", b"") for message in self.messages).decode()
        return [json.loads(event.removeprefix("data: ")) for event in text.split("\n\n") if event.startswith("data")]

    async def receive(self) -> Any:
        if not self.has_asked:
            self.has_asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.leaves.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.messages.append(message)

    async def watch(self) -> None:
        scope = {
            "type": "http",
            "method": "GET",
            "path": "/v1/kuiper/steps",
            "raw_path": b"/v1/kuiper/steps",
            "query_string": b"model=shakespeare",
            "headers": [],
            "root_path": "",
        }
        await self.application(scope, self.receive, self.send)


async def until(condition: Any) -> None:
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it has not come")


def test_steps_are_told_as_they_happen(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps_module, "_STILL", 0.05)

    async def run() -> Watcher:
        watcher = Watcher(served)
        watching = asyncio.ensure_future(watcher.watch())
        await until(lambda: watcher.events)
        client = TestClient(watcher.application)
        body = {"model": "shakespeare", "prompt": "ROMEO:", "max_tokens": 20, "n": 3}
        answer = await asyncio.to_thread(client.post, "/v1/completions", json=body)
        assert answer.status_code == 200
        await until(lambda: watcher.events[-1]["totals"]["tokens"] == 60 and not watcher.events[-1]["running"])
        await until(lambda: watcher.messages[-1].get("body", b"").startswith(b":"))
        watcher.leaves.set()
        await watching
        return watcher

    watcher = asyncio.run(run())
    assert watcher.events[0]["totals"]["steps"] == 0
    steps = [step for event in watcher.events for step in event["steps"]]
    numbers = [step["number"] for step in steps]
    assert numbers == sorted(set(numbers))
    assert watcher.events[-1]["totals"]["steps"] == numbers[-1]
    assert watcher.events[-1]["pages"] == 0
    assert max(step["drawn"] for step in steps) == 3


def test_a_server_that_leaves_ends_the_stream(served: Served) -> None:
    async def run() -> Watcher:
        watcher = Watcher(served)
        is_leaving = False
        watcher.application.state.is_leaving = lambda: is_leaving
        watching = asyncio.ensure_future(watcher.watch())
        await until(lambda: watcher.events)
        is_leaving = True
        await asyncio.wait_for(watching, 20)
        return watcher

    watcher = asyncio.run(run())
    assert watcher.messages[-1] == {"type": "http.response.body", "body": b""}


def test_only_so_many_can_watch(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps_module, "WATCHERS", 2)

    async def run() -> list[Watcher]:
        application = create_application([served])
        watchers = [Watcher(served, application=application) for _ in range(3)]
        watching = []
        for watcher in watchers:
            watching.append(asyncio.ensure_future(watcher.watch()))
            await until(lambda watcher=watcher: watcher.messages)
        for watcher in watchers:
            watcher.leaves.set()
        await asyncio.gather(*watching)
        again = Watcher(served, application=application)
        watching = [asyncio.ensure_future(again.watch())]
        await until(lambda: again.messages)
        again.leaves.set()
        await asyncio.gather(*watching)
        return [*watchers, again]

    found = asyncio.run(run())
    assert [watcher.messages[0]["status"] for watcher in found] == [200, 200, 429, 200]


def test_the_first_event_has_the_last_steps(served: Served) -> None:
    async def run() -> Watcher:
        watcher = Watcher(served)
        body = {"model": "shakespeare", "prompt": "ROMEO:", "max_tokens": steps_module.MOST + 9}
        await asyncio.to_thread(TestClient(watcher.application).post, "/v1/completions", json=body)
        watching = asyncio.ensure_future(watcher.watch())
        await until(lambda: watcher.events)
        watcher.leaves.set()
        await watching
        return watcher

    numbers = [step["number"] for step in asyncio.run(run()).events[0]["steps"]]
    assert numbers == [*range(10, steps_module.MOST + 10)]
