"""The race of course 6 under its solutions, and what it stands on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from kuiper.course.manifest import read_syllabus
from kuiper.course.own_layers import course_module
from kuiper.course.plain_loop import run
from kuiper.course.selection import Selection, selected
from kuiper.models.text.sampling import Sampler

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]
SYLLABUS = read_syllabus(ROOT)
CLOSEST = 2e-5
"""Engines differ by less than this in a probability: a draw must not be closer to its neighbours."""


@pytest.fixture
def engine() -> ModuleType:
    return course_module(SYLLABUS.races()["serving"].folder, "engine")


def test_draws_are_clear(engine: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """No draw is so near to another token that rounding might decide: so equal text can be asked for."""
    distances = []

    class Measured(Sampler):
        def __call__(self, scores: np.ndarray, text: object = ()) -> int:  # type: ignore[override]
            heights = np.cumsum(self.probabilities(scores, ()))
            chance = self._random.random() * heights[-1]
            distances.append(np.abs(heights - chance).min())
            return int(np.searchsorted(heights, chance, side="right"))

    monkeypatch.setattr(engine, "Sampler", Measured)
    engine.reference()()
    assert len(distances) == sum(count for _, count in engine.READERS)
    assert min(distances) > CLOSEST


def test_race_shares_beginnings_waits_and_puts_back(engine: ModuleType) -> None:
    """Each part has something to do: what the student wrote is used where it matters."""
    seen = {"found": 0, "waited": 0, "put back": 0, "pieces": 0}
    with selected(Selection(SYLLABUS, "solution")):
        readers = engine.Engine()
        put_back, find = readers.scheduler.put_back, readers.prefixes.find

        def counted() -> None:
            seen["put back"] += 1
            put_back()

        def found(tokens: list[int]) -> list[int]:
            pages: list[int] = find(tokens)
            seen["found"] += len(pages)
            return pages

        readers.scheduler.put_back, readers.prefixes.find = counted, found
        came = 0
        while came < len(engine.READERS) or readers.has_work:
            if came < len(engine.READERS):
                readers.submit(*engine.READERS[came])
                came += 1
            readers.step()
            seen["waited"] += len(readers.scheduler.waiting)
            seen["pieces"] += sum(request.unread > 1 for request in readers.scheduler.running)
    assert all(seen.values()), seen


def test_engine_streams_through_the_application(engine: ModuleType) -> None:
    """What 6.7 asks of an engine is what the race's has."""
    with selected(Selection(SYLLABUS, "solution")):
        from kuiper.course import load_exercise

        application = load_exercise("6.7").Application(engine.Engine())
        sent: list[bytes] = []

        async def main() -> None:
            import asyncio

            steps = asyncio.create_task(application.run_steps())
            inbox: asyncio.Queue[dict[str, object]] = asyncio.Queue()

            async def send(message: dict[str, object]) -> None:
                sent.append(message.get("body", b""))  # type: ignore[arg-type]

            await application.stream(inbox.get, send, "ROMEO:\n", 3)
            steps.cancel()

        run(main())
    assert [body[:9] for body in sent[1:4]] == [b'data: {"t'] * 3
    assert sent[4:] == [b"data: [DONE]\n\n"]
