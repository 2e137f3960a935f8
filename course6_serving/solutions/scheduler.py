"""Exercise 6.5: the scheduler, which decides who is in the next step.

A server runs one step after the other. A step reads some tokens of several requests in one call of the model. When a
request has nothing left to read, its next token is drawn; that one is read in a later step, and so on until it has ended:

    waiting  --- there are pages for all that it must read --->  running  --- it has ended --->  gone
       ^                                                            |
       '---------------- pages run out: the youngest ---------------'

A step reads at most ``budget`` tokens, so that no reader waits long for it. Each running request gets one token of the
budget: so the texts that are being written go on at every step, however long the prompts of others are. What is left
goes to those who have more to read, in equal parts; who needs less than a part leaves the rest to the others. Here the
budget is 12, so 8 are left behind the first tokens:

    request   unread   first token   of the rest                                  tokens of this step
    a            1          1        nothing                                              1
    b           40          1        third: 4 are left for one                            5
    c            4          1        second: 7 are left for two, 3 each                   4
    d            2          1        first: 8 are left for three, 2 each; it needs 1      2

A running request has a table (exercise 6.2): ``table.length`` counts the tokens that were read, ``table.pages`` lists the
pages that hold them. The pool says how many pages are ``available``. No page is taken here, the step behind the plan does
that. But a plan never needs more pages than there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)
class Request:
    """What one reader asks for, and how far it has come.

    ``prompt`` is the number of tokens of the prompt, ``drawn`` the number of those drawn behind it so far, and
    ``max_tokens`` says how many are drawn at most. ``table`` is None while it waits.
    """

    prompt: int
    max_tokens: int
    drawn: int = 0
    table: Any = None

    @property
    def unread(self) -> int:
        """How many tokens the model must read before the next one can be drawn."""
        read = 0 if self.table is None else self.table.length
        return self.prompt + self.drawn - read


class Scheduler:
    """Who waits, who runs, and what the next step reads.

    ``new_table(request)`` makes the table of a request that joins. The table may have some pages already, full of tokens
    that the model has read for somebody else: a common beginning (exercise 6.3).
    """

    def __init__(self, pool: Any, new_table: Callable[[Request], Any], page_size: int, budget: int) -> None:
        self.pool, self.new_table = pool, new_table
        self.page_size, self.budget = page_size, budget
        self.pages: int = pool.available  # no request has begun: these are all pages
        self.waiting: list[Request] = []  # in the order in which they came
        self.running: list[Request] = []  # in the same order: all of them came before those that wait

    def pages_needed(self, table: Any, count: int) -> int:
        """How many pages a table must get before ``count`` more tokens fit: for all of its tokens, without those it has.

        With pages of 4 and a table of 6 tokens on 2 pages: none for 2 tokens, 1 for 3 tokens.
        """
        # BEGIN SOLUTION
        return -(-(table.length + count) // self.page_size) - len(table.pages)
        # END SOLUTION

    def add(self, request: Request) -> None:
        """Let a request wait, behind all others.

        Raises
        ------
        ValueError
            If it can never end: the prompt and the tokens drawn behind it, all but the last one, which nobody reads,
            are more than all pages of the pool can hold. The message has the word "pages".
        """
        # BEGIN SOLUTION
        if request.prompt + request.max_tokens - 1 > self.pages * self.page_size:
            raise ValueError(f"expected a request that fits {self.pages} pages of {self.page_size}, got a longer one")
        self.waiting.append(request)
        # END SOLUTION

    def remove(self, request: Request) -> None:
        """Let a request go that has ended, or whose reader has gone away: it runs, or it waits.

        If it has a table, this is closed, and becomes None. One that is not here any more is left as it is: a reader
        may go away just behind the last token.
        """
        # BEGIN SOLUTION
        for requests in (self.running, self.waiting):
            if request in requests:
                requests.remove(request)
                release(request)
        # END SOLUTION

    def join(self) -> None:
        """Let requests that wait run, the first one first, each with a new table.

        The first one joins if fewer than ``budget`` requests are running, and if there are pages for all that it must
        read, besides those that the running ones need for all that they must read (also if they joined just now). If it
        cannot, nobody else does: a request that needs little never overtakes one that needs much, which would wait for
        ever. A table that was made in vain is closed.
        """
        # BEGIN SOLUTION
        promised = sum(self.pages_needed(other.table, other.unread) for other in self.running)
        while self.waiting and len(self.running) < self.budget:
            request = self.waiting[0]
            request.table = self.new_table(request)
            promised += self.pages_needed(request.table, request.unread)
            if promised > self.pool.available:
                release(request)
                return
            self.running.append(self.waiting.pop(0))
        # END SOLUTION

    def share_out(self) -> list[tuple[Request, int]]:
        """The running requests, in their order, each with how many tokens it reads in the next step: see above.

        Each gets one. For the rest, go through those with more to read, the one with the least first (of equals the one
        that came first): it gets what it needs, but at most what is left, divided by how many have not had their part
        yet, without a remainder.
        """
        # BEGIN SOLUTION
        counts = dict.fromkeys(self.running, 1)
        left = self.budget - len(counts)
        hungry = sorted((one for one in self.running if one.unread > 1), key=lambda one: one.unread)
        for rank, request in enumerate(hungry):
            more = min(request.unread - 1, left // (len(hungry) - rank))
            counts[request] += more
            left -= more
        return list(counts.items())
        # END SOLUTION

    def put_back(self) -> None:
        """Let the youngest of those that run wait again, as the first one; its pages are given back.

        What was drawn for it stays: it is read again, with the prompt, when the request joins again.
        """
        # BEGIN SOLUTION
        request = self.running.pop()
        release(request)
        self.waiting.insert(0, request)
        # END SOLUTION

    def plan(self) -> list[tuple[Request, int]]:
        """The next step: requests, each with the number of tokens that are read; empty if there is nothing to do.

        First let requests join, then share out the budget. While this needs more pages than there are, put one back and
        share out again.
        """
        # BEGIN SOLUTION
        self.join()
        turns = self.share_out()
        while sum(self.pages_needed(request.table, count) for request, count in turns) > self.pool.available:
            self.put_back()
            turns = self.share_out()
        return turns
        # END SOLUTION


# BEGIN SOLUTION
def release(request: Request) -> None:
    """Give all pages of a request back."""
    if request.table is not None:
        request.table.close()
        request.table = None


# END SOLUTION
