"""Who is in the next step, with how many tokens: continuous batching.

    waiting  --(there are pages for what is to be read)-->  running  --(ends)-->  gone
        ^                                                       |
        '---------------(pages run out: the youngest)-----------'

A step has a budget of tokens, which is smaller while a few write, so that they do not wait. Each running request whose
prompt is read has one of them, so no reader waits for another one's prompt. Of what is left, the prompt that came first
has half, so that each is read in the end; those with the least left to read have the other half, as in equal parts all
would be read late. Requests join by priority, then in the order in which they came; none overtakes another of its
priority, so none waits for ever. One that is put back comes first among its equals. What is left of the budget then
goes to guesses of those who write.

Of several prompts with one beginning, the first is read, and the others wait for its pages, one by one: so the texts
of one prompt share what has been read of it, also if they all come at once.

Sources: G. Yu et al., "Orca", 2022 (requests join and leave at every step); A. Agrawal et al., "Sarathi-Serve", 2024
(prompts in pieces).
"""

from __future__ import annotations

from bisect import insort
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

from kuiper.graph.page_pool import BEGIN

if TYPE_CHECKING:
    from kuiper.graph.batch import Batch
    from kuiper.serving.guesses import Guesses
    from kuiper.serving.request import Request


class Turn(NamedTuple):
    """A request in a step, how many of its unread tokens are read there, and guesses that are read behind them."""

    request: Request
    size: int
    guesses: list[int]


class Scheduler:
    """Decides on each step; it reads and writes nothing but pages and the ``text`` of requests.

    Parameters
    ----------
    batch : has the pages
    budget : tokens of a step, at most
    guesses : tells how requests may go on
    most_guesses : of a request in a step; 0 asks for none
    """

    def __init__(self, batch: Batch, budget: int, guesses: Guesses, most_guesses: int = 0) -> None:
        self.running: list[Request] = []  # the first to be served comes first
        self.waiting: list[Request] = []
        self._batch, self._budget, self._guesses, self._most_guesses = batch, budget, guesses, most_guesses
        self._arrivals: dict[Request, int] = {}
        self._next_arrival = count()
        self.found = 0
        """How many tokens did not have to be read, as pages had them."""
        self._followers: set[Request] = set()  # who waits for a page that another one reads

    def add(self, request: Request) -> None:
        """A request that waits from now on."""
        self._arrivals[request] = next(self._next_arrival)
        insort(self.waiting, request, key=self._order)

    def has(self, request: Request) -> bool:
        """Whether it waits or runs."""
        return request in self._arrivals

    def remove(self, request: Request) -> None:
        """A request that has ended, wherever it was; its pages are given back."""
        self._release(request)
        self._guesses.forget(request)
        self._followers.discard(request)
        (self.running if request in self.running else self.waiting).remove(request)
        del self._arrivals[request]

    def turns(self) -> list[Turn]:
        """The next step. Its pages are there: whoever would have to do without was put back."""
        self._admit()
        self._followers = self._following()
        turns = self._shared_out()
        while self._pages_needed(turns) > self._batch.pool.available:
            self._put_back(self.running[-1])
            turns = self._shared_out()
        if not self._most_guesses:
            return turns
        guessed = self._with_guesses(turns)
        return guessed if self._pages_needed(guessed) <= self._batch.pool.available else turns

    def _admit(self) -> None:
        """Let those join, in order, who find pages for all that they have to read."""
        if not self.waiting:
            return
        promised = sum(self._batch.pages_needed(one.text, one.unread) for one in self.running if one.text)
        while self.waiting and len(self.running) < min(self._batch.paging.texts, self._budget):
            request = self.waiting[0]
            text = self._batch.begin(request.all_tokens)
            needed = self._batch.pages_needed(text, len(request.all_tokens) - text.length)
            if promised + needed > self._batch.pool.available:
                self._batch.end(text)
                return
            promised += needed
            self._note_found(request, text.length)
            request.text = text
            insort(self.running, self.waiting.pop(0), key=self._order)

    def _note_found(self, request: Request, tokens: int) -> None:
        self.found += tokens
        request.found += tokens

    def _following(self) -> set[Request]:
        """Those whose next page an earlier one is reading; who waited for such a page finds it here."""
        size = self._batch.paging.page_size
        found: set[Request] = set()
        being_read: set[tuple[int, tuple[int, ...]]] = set()
        for request in self.running:
            if request.text is None or request.unread < 2:
                continue
            text, tokens = request.text, request.all_tokens
            if request in self._followers:
                before = text.length
                self._batch.catch_up(text, tokens)
                self._note_found(request, text.length - before)
            first = text.length // size * size
            page = (text.places[-1] if text.places else BEGIN, tuple(tokens[first : first + size]))
            if page in being_read and text.length == first and first + size < len(tokens):
                found.add(request)
            elif first + size <= len(tokens):
                being_read.add(page)
        return found

    def _shared_out(self) -> list[Turn]:
        """The budget, shared out: one token for each who writes; of the rest, half for the first prompt, then all of it
        for the others, the shortest rest first, then for the first one again."""
        able = [request for request in self.running if request not in self._followers]
        prompts = [request for request in able if request.unread > 1]
        writers = len(able) - len(prompts)
        left = self._budget_beside(writers) - writers
        parts = dict.fromkeys(prompts, 0)
        first, half = prompts[:1], (left + 1) // 2
        for rank, request in enumerate([*first, *sorted(prompts[1:], key=lambda one: one.unread), *first]):
            more = min(request.unread - parts[request], left if rank else half)
            parts[request] += more
            left -= more
        return [Turn(one, size, []) for one in able if (size := parts.get(one, 1))]

    def _budget_beside(self, writers: int) -> int:
        """All of the budget where nobody writes, or more than a third of it does; else two thirds."""
        return self._budget if not writers or 3 * writers > self._budget else 2 * self._budget // 3

    def _with_guesses(self, turns: list[Turn]) -> list[Turn]:
        """The same, with equal parts of what is left of the budget for guesses of those who draw."""
        writers = [turn.request for turn in turns if turn.request.unread == 1]
        left = self._budget_beside(len(writers)) - sum(turn.size for turn in turns)
        counts: dict[Request, int] = {}
        for rank, request in enumerate(writers):
            wanted = request.max_tokens - len(request.tokens) - 1  # the last one is drawn, and nothing behind it
            capacity = self._batch.max_length - len(request.all_tokens)
            counts[request] = max(0, min(self._most_guesses, left // (len(writers) - rank), wanted, capacity))
            left -= counts[request]
        guesses = self._guesses.guess({request: count for request, count in counts.items() if count})
        return [turn._replace(guesses=guesses.get(turn.request, [])) for turn in turns]

    def _pages_needed(self, turns: list[Turn]) -> int:
        return sum(
            self._batch.pages_needed(one.text, size + len(guesses))
            for one, size, guesses in turns
            if one.text is not None
        )

    def _put_back(self, request: Request) -> None:
        """Its pages are needed; full ones can still be found, if nobody takes them before it joins again."""
        self.running.remove(request)
        self._release(request)
        request.put_back += 1
        insort(self.waiting, request, key=self._order)

    def _release(self, request: Request) -> None:
        if request.text is not None:
            self._batch.end(request.text)
            request.text = None

    def _order(self, request: Request) -> tuple[int, int]:
        return request.priority, self._arrivals[request]
