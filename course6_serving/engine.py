"""What your engine can do after this course, the last: 16 readers share one language model. ``kuiper race serving``

Your scheduler (6.5) says who is in a step. Your pages (6.2) hold what the model has read, and those of the common
beginning are found again (6.3). Your ragged step (6.4, on the blocks of 6.1) writes and reads them. All other layers of
the model are kuiper's, one after the other. ``Engine`` has what your streaming (6.7) asks for, too.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from kuiper.course import load_exercise
from kuiper.course.selection import active, selected
from kuiper.language import _
from kuiper.layers import Layer, override
from kuiper.models import bundled
from kuiper.models.text import language_model
from kuiper.models.text.sampling import Sampler
from kuiper.serving import BatchEngine, Request

PARAM = bundled("shakespeare")
PAGES, PAGE_SIZE, BUDGET = 44, 16, 32

BEGINNING = "First Citizen:\nBefore we proceed any further, hear me speak.\n\n"
NAMES = (
    *("ROMEO", "JULIET", "KING RICHARD III", "MENENIUS", "Nurse", "CORIOLANUS", "All", "GLOUCESTER"),
    *("QUEEN MARGARET", "Second Citizen", "LEONTES", "DUKE VINCENTIO", "ISABELLA", "PETRUCHIO", "A", "PROSPERO"),
)
READERS = [(f"{BEGINNING}{name}:\n", 12 + 2 * number) for number, name in enumerate(NAMES)]  # prompt, tokens to draw
PER = ("request", len(READERS))


class Network:
    """The model, with its keys and values in pages: one call goes on with the rows of several texts."""

    def __init__(self) -> None:
        step = load_exercise("6.4")
        self.memory: list[np.ndarray] = []  # keys and values of each layer, (pages, heads, page_size, d)
        self.tables: list[list[int]] = []
        self.texts = self.positions = np.empty(0, np.int64)
        network = self

        class Positions(Layer):
            def forward(self, tokens: np.ndarray) -> np.ndarray:
                return network.positions

        class Cache(Layer):
            def forward(self, x: np.ndarray) -> np.ndarray:
                return x  # attention puts it into the pages

        class Attention(Layer):
            data_inputs = ("query", "key", "value")

            def __init__(self, op: Any) -> None:
                super().__init__(op)
                self.memory: list[np.ndarray] = []

            def forward(self, query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
                _, heads, _, width = key.shape
                while len(self.memory) < 2:
                    self.memory.append(np.zeros((PAGES, heads, PAGE_SIZE, width), np.float32))
                    network.memory.append(self.memory[-1])
                where = network.tables, network.texts, network.positions
                for memory, rows in zip(self.memory, (key, value), strict=True):
                    step.write_rows(memory, *where, np.ascontiguousarray(rows[0].swapaxes(0, 1)))
                mixed = step.attend(np.ascontiguousarray(query[0].swapaxes(0, 1)), *self.memory, *where)
                return np.ascontiguousarray(np.asarray(mixed).swapaxes(0, 1))[None]

        layers = {"kuiper.Positions": Positions, "kuiper.Cache": Cache, "kuiper.CausalAttention": Attention}
        with ExitStack() as stack:
            for type_name, layer in layers.items():
                stack.enter_context(override(type_name, layer))
            self.model = language_model.load(PARAM, optimize=False)
        self.step, self.piece = step, self.model.vocabulary.decoder().piece

    def read(self, pieces: list[tuple[int, int, list[int]]], tables: list[list[int]]) -> np.ndarray:
        """The scores (m, vocabulary) behind the last token of each of these m pieces."""
        tokens, self.texts, self.positions = self.step.flatten(pieces)
        self.tables = tables
        scores = self.model.graph.forward(tokens[None])
        return np.asarray(scores)[0, self.step.last_rows(pieces)]


class Engine:
    """Your engine, and what readers ask of it: ``submit``, ``cancel``, ``step``, ``has_work``."""

    def __init__(self, network: Network | None = None) -> None:
        self.network = network or Network()
        pages, prefixes = load_exercise("6.2"), load_exercise("6.3")
        self.new_request, self.page_table = load_exercise("6.5").Request, pages.PageTable
        self.pool = pages.PagePool(PAGES, PAGE_SIZE)
        self.prefixes = prefixes.PrefixCache(self.pool)
        self.scheduler = load_exercise("6.5").Scheduler(self.pool, self._new_table, PAGE_SIZE, BUDGET)
        self.tokens: dict[Any, list[int]] = {}  # of each request: the prompt, and what was drawn behind it
        self.samplers: dict[Any, Sampler] = {}

    @property
    def has_work(self) -> bool:
        """Whether somebody runs or waits."""
        return bool(self.tokens)

    def submit(self, prompt: str, max_tokens: int) -> Any:
        """A request that waits from now on; it draws no more than all pages can hold."""
        tokens = self.network.model.vocabulary.encode(prompt)
        request = self.new_request(len(tokens), min(max_tokens, PAGES * PAGE_SIZE - len(tokens) + 1))
        self.tokens[request] = tokens
        self.samplers[request] = sampler(prompt)
        self.scheduler.add(request)
        return request

    def cancel(self, request: Any) -> None:
        """Give a request up, unless it has ended."""
        if self.tokens.pop(request, None):
            self.scheduler.remove(request)

    def step(self) -> list[tuple[Any, str | None]]:
        """Go on with those whom the scheduler has chosen: the characters drawn, and None behind the last one of each."""
        self._make_room()
        plan, pieces, tables = self.scheduler.plan(), [], []
        if not plan:
            said = _(
                "the scheduler has planned an empty step; {waiting} of the readers wait, {free} of {all} pages are free"
            )
            waiting, free = len(self.scheduler.waiting), self.pool.available
            raise RuntimeError(said.format(waiting=waiting, free=free, all=PAGES))
        for number, (request, count) in enumerate(plan):
            first = request.table.length
            for old, new in request.table.append(count):
                for memory in self.network.memory:
                    memory[new] = memory[old]
            pieces.append((number, first, self.tokens[request][first : first + count]))
            tables.append(request.table.pages)
        scores = self.network.read(pieces, tables)
        told: list[tuple[Any, str | None]] = []
        for (request, _count), row in zip(plan, scores, strict=True):
            if request.unread == 0:
                told += self._drawn(request, row)
        return told

    def _drawn(self, request: Any, scores: np.ndarray) -> list[tuple[Any, str | None]]:
        """Draw the next token of a request that has been read."""
        tokens = self.tokens[request]
        if request.drawn == 0:
            self.prefixes.keep(tokens, request.table.pages)
        tokens.append(self.samplers[request](scores, tokens))
        request.drawn += 1
        told: list[tuple[Any, str | None]] = [(request, self.network.piece(tokens[-1]))]
        if request.drawn == request.max_tokens:
            self.scheduler.remove(request)
            del self.tokens[request]
            told.append((request, None))
        return told

    def _new_table(self, request: Any) -> Any:
        return self.page_table(self.pool, self.prefixes.find(self.tokens[request]))

    def _make_room(self) -> None:
        """Let pages of beginnings go where requests need them."""
        needed = 0
        for request, tokens in self.tokens.items():
            needed += -(-len(tokens) // PAGE_SIZE) - (len(request.table.pages) if request.table else 0)
        self.prefixes.make_room(min(needed, PAGES))


def application() -> Any:
    """Your engine behind your streaming, for a server that speaks ASGI, such as uvicorn."""
    return load_exercise("6.7").Application(Engine())


def sampler(prompt: str) -> Sampler:
    """What draws for a reader: the same for you and for kuiper."""
    return Sampler(temperature=0.7, seed=zlib.crc32(prompt.encode()))


def own() -> Callable[[], list[np.ndarray]]:
    """What each reader gets, by your exercises (or by the reference where one is not solved); one comes at each step."""
    network, selection = Network(), active()

    def run() -> list[np.ndarray]:
        with selected(selection):
            engine, came = Engine(network), []
            texts: dict[Any, str] = {}
            while len(came) < len(READERS) or engine.has_work:
                if len(came) < len(READERS):
                    came.append(engine.submit(*READERS[len(came)]))
                for request, piece in engine.step():
                    texts[request] = texts.get(request, "") + (piece or "")
            engine.prefixes.make_room(PAGES)
            if engine.pool.available < PAGES:
                said = _("{count} pages are lost when all readers have gone")
                raise RuntimeError(said.format(count=PAGES - engine.pool.available))
        return [np.array(network.model.vocabulary.encode(texts[request])) for request in came]

    return run


def reference() -> Callable[[], list[np.ndarray]]:
    """The same by kuiper's own engine."""
    model = language_model.load(PARAM)
    engine = BatchEngine(
        model.graph, pages=PAGES, page_size=PAGE_SIZE, step_tokens=BUDGET, max_length=PAGES * PAGE_SIZE
    )

    def run() -> list[np.ndarray]:
        came: list[Request] = []
        while len(came) < len(READERS) or engine.has_work:
            if len(came) < len(READERS):
                prompt, most = READERS[len(came)]
                came.append(Request(model.vocabulary.encode(prompt), sampler(prompt), max_tokens=most))
                engine.submit(came[-1])
            engine.step()
        return [np.array(request.tokens) for request in came]

    return run


def text(tokens: np.ndarray) -> str:
    """What a reader reads."""
    piece = language_model.load(PARAM).vocabulary.decoder().piece
    return "".join(piece(int(token)) for token in tokens)


def words(answer: list[np.ndarray]) -> str:
    """What came out."""
    tokens = sum(map(len, answer))
    said = _("{readers} readers, {tokens} tokens; the last one reads:").format(readers=len(answer), tokens=tokens)
    return f"{said}\n{NAMES[-1]}:\n{text(answer[-1])}"


def difference(got: list[np.ndarray], wanted: list[np.ndarray]) -> str:
    """Who got something else first, and what."""
    for number, (mine, right) in enumerate(zip(got, wanted, strict=True), 1):
        if mine.shape != right.shape:
            said = _("reader {number} got {count} tokens in place of {right}")
            return said.format(number=number, count=len(mine), right=len(right))
        if (mine != right).any():
            said = _("reader {number} reads {text} in place of {right}")
            return said.format(number=number, text=repr(text(mine)), right=repr(text(right)))
    return _("the same")
