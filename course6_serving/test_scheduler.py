"""Exercise 6.5."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling, same
from kuiper.course.properties import given, st
from kuiper.language import translate


def after(impl, sizes, running, waiting, method, who=""):
    """Call one method; what it returns, who runs and waits then, how many pages are free, and what has a table.

    ``sizes`` are pages, page_size, budget; a running request is (name, prompt, drawn, read), a waiting one (name, prompt,
    drawn, full pages of a common beginning).
    """
    pages, page_size, budget = sizes

    class Pool:
        available = pages

    class Table:
        def __init__(self, length, shared=0):
            self.length, self.shared, self.pages = length, shared, ["page"] * -(-length // page_size)
            Pool.available -= len(self.pages) - shared

        def close(self):
            Pool.available += len(self.pages) - self.shared
            self.length, self.shared, self.pages = 0, 0, []

    def new_table(request):
        return Table(beginnings[request] * page_size, beginnings[request])

    scheduler = impl.Scheduler(Pool, new_table, page_size, budget)
    names, beginnings, tables = {}, {}, []
    for name, prompt, drawn, read in running:
        request = impl.Request(prompt, 100, drawn, Table(read))
        names[request], beginnings[request] = name, 0
        tables.append(request.table)
        scheduler.running.append(request)
    for name, prompt, drawn, shared in waiting:
        request = impl.Request(prompt, 100, drawn)
        names[request], beginnings[request] = name, shared
        scheduler.waiting.append(request)
    requests = {name: request for request, name in names.items()}
    stranger = impl.Request(1, 1)
    answer = getattr(scheduler, method)(*([requests.get(who, stranger)] if who else []))
    return {
        "answer": answer and [(names[request], count) for request, count in answer],
        "running": [names[request] for request in scheduler.running],
        "waiting": [names[request] for request in scheduler.waiting],
        "free pages": Pool.available,
        "with a table": [name for name, request in requests.items() if request.table is not None],
    }


def needed(impl, page_size, read, count, pages=None):
    """Pages that a table of ``read`` tokens needs before ``count`` more fit; it has just enough, or as many as said."""

    class Pool:
        available = 100

    class Table:
        length = read

    Table.pages = ["page"] * (-(-read // page_size) if pages is None else pages)
    return impl.Scheduler(Pool, None, page_size, 8).pages_needed(Table, count)


def added(impl, sizes, requests):
    """Who waits when these requests (prompt, max_tokens) have been added one by one."""
    pages, page_size, budget = sizes

    class Pool:
        available = pages

    scheduler = impl.Scheduler(Pool, None, page_size, budget)
    for prompt, max_tokens in requests:
        scheduler.add(impl.Request(prompt, max_tokens))
    return [(request.prompt, request.max_tokens) for request in scheduler.waiting], len(scheduler.running)


def test_pages_needed_by_the_first_tokens(impl):
    calling(needed, impl, 4, 0, 1).gives(1)
    calling(needed, impl, 4, 0, 4).gives(1)
    calling(needed, impl, 4, 0, 5).gives(2)


def test_pages_needed_behind_others(impl):
    calling(needed, impl, 4, 6, 2).gives(0)
    calling(needed, impl, 4, 6, 3).gives(1)
    calling(needed, impl, 4, 8, 1).gives(1)
    calling(needed, impl, 4, 7, 10).gives(3)


def test_pages_needed_without_those_of_the_table(impl):
    calling(needed, impl, 3, 6, 4, 2).gives(2)
    calling(needed, impl, 3, 6, 4, 3).gives(1)


def test_add_behind_all_others(impl):
    calling(added, impl, (9, 4, 8), [(5, 2), (3, 9), (1, 1)]).gives(([(5, 2), (3, 9), (1, 1)], 0))


def test_add_what_just_fits(impl):
    calling(added, impl, (3, 4, 8), [(12, 1), (7, 6), (1, 12)]).gives(([(12, 1), (7, 6), (1, 12)], 0))


@pytest.mark.parametrize(("prompt", "max_tokens"), [(13, 1), (7, 7), (12, 2), (1, 13)])
def test_add_what_can_never_end(impl, prompt, max_tokens):
    calling(added, impl, (3, 4, 8), [(2, 2), (prompt, max_tokens)]).raises(ValueError, "pages")


RUNNING = [("a", 5, 2, 6), ("b", 9, 0, 4), ("c", 2, 3, 4)]  # on 2, 1 and 1 pages of 4
WAITING = [("d", 6, 0, 0), ("e", 3, 0, 0)]


def state(answer, running, waiting, free, tables=None):
    """What ``after`` gives."""
    return {
        "answer": answer,
        "running": list(running),
        "waiting": list(waiting),
        "free pages": free,
        "with a table": list(running if tables is None else tables),
    }


def test_remove_one_that_runs(impl):
    calling(after, impl, (10, 4, 8), RUNNING, WAITING, "remove", "a").gives(state(None, "bc", "de", 8))
    calling(after, impl, (10, 4, 8), RUNNING, WAITING, "remove", "c").gives(state(None, "ab", "de", 7))


def test_remove_one_that_waits(impl):
    calling(after, impl, (10, 4, 8), RUNNING, WAITING, "remove", "e").gives(state(None, "abc", "d", 6))


def test_remove_one_that_is_not_here(impl):
    calling(after, impl, (10, 4, 8), RUNNING, WAITING, "remove", "x").gives(state(None, "abc", "de", 6))
    calling(after, impl, (10, 4, 8), [], [], "remove", "x").gives(state(None, "", "", 10))


def test_join_in_order(impl):
    calling(after, impl, (10, 4, 8), [], [("a", 5, 0, 0), ("b", 2, 0, 0), ("c", 9, 0, 0)], "join").gives(
        state(None, "abc", "", 10)
    )


def test_join_behind_those_that_run(impl):
    calling(after, impl, (20, 4, 8), [("a", 5, 2, 6)], WAITING, "join").gives(state(None, "ade", "", 18))


def test_join_nobody(impl):
    calling(after, impl, (10, 4, 8), RUNNING, [], "join").gives(state(None, "abc", "", 6))


def test_join_no_more_than_the_budget(impl):
    waiting = [("a", 1, 0, 0), ("b", 1, 0, 0), ("c", 1, 0, 0)]
    calling(after, impl, (10, 4, 2), [], waiting, "join").gives(state(None, "ab", "c", 10))
    calling(after, impl, (10, 4, 3), [("r", 5, 2, 6), ("s", 1, 0, 0)], waiting, "join").gives(
        state(None, "rsa", "bc", 8)
    )


def test_join_only_with_pages_for_all_that_is_to_be_read(impl):
    calling(after, impl, (2, 4, 8), [], [("a", 8, 0, 0)], "join").gives(state(None, "a", "", 2))
    calling(after, impl, (2, 4, 8), [], [("a", 9, 0, 0)], "join").gives(state(None, "", "a", 2))
    calling(after, impl, (2, 4, 8), [], [("a", 6, 3, 0)], "join").gives(state(None, "", "a", 2))


def test_join_besides_what_joined_just_now(impl):
    waiting = [("a", 5, 0, 0), ("b", 5, 0, 0), ("c", 5, 0, 0)]
    calling(after, impl, (5, 4, 8), [], waiting, "join").gives(state(None, "ab", "c", 5))


def test_join_besides_what_the_running_ones_must_read(impl):
    running = [("a", 12, 0, 4), ("b", 4, 1, 4)]  # 2 pages and 1 page are still to be taken
    calling(after, impl, (6, 4, 8), running, [("c", 4, 0, 0)], "join").gives(state(None, "abc", "", 4))
    calling(after, impl, (6, 4, 8), running, [("c", 5, 0, 0)], "join").gives(state(None, "ab", "c", 4))


def test_join_without_overtaking(impl):
    waiting = [("a", 4, 0, 0), ("b", 30, 0, 0), ("c", 1, 0, 0)]
    calling(after, impl, (5, 4, 8), [], waiting, "join").gives(state(None, "a", "bc", 5))


def test_join_with_a_common_beginning(impl):
    calling(after, impl, (2, 4, 8), [], [("a", 14, 0, 2)], "join").gives(state(None, "a", "", 2))
    calling(after, impl, (2, 4, 8), [], [("a", 14, 0, 2), ("b", 5, 0, 1)], "join").gives(state(None, "a", "b", 2))


def test_share_out_one_token_each(impl):
    running = [("a", 5, 2, 6), ("b", 4, 1, 4), ("c", 2, 3, 4)]
    calling(after, impl, (10, 4, 8), running, [], "share_out").gives(
        state([("a", 1), ("b", 1), ("c", 1)], "abc", "", 6)
    )
    calling(after, impl, (10, 4, 8), [], WAITING, "share_out").gives(state([], "", "de", 10, ""))


def test_share_out_a_prompt_in_pieces(impl):
    calling(after, impl, (10, 4, 8), [("a", 20, 0, 0)], [], "share_out").gives(state([("a", 8)], "a", "", 10))
    calling(after, impl, (10, 4, 8), [("a", 20, 0, 16)], [], "share_out").gives(state([("a", 4)], "a", "", 6))
    calling(after, impl, (10, 4, 8), [("a", 7, 2, 4)], [], "share_out").gives(state([("a", 5)], "a", "", 9))


def test_share_out_beside_texts_that_are_written(impl):
    running = [("a", 20, 0, 0), ("b", 4, 1, 4), ("c", 2, 3, 4)]
    calling(after, impl, (10, 4, 8), running, [], "share_out").gives(
        state([("a", 6), ("b", 1), ("c", 1)], "abc", "", 8)
    )


def test_share_out_equal_parts(impl):
    running = [("a", 30, 0, 0), ("b", 20, 0, 0), ("c", 9, 1, 9)]
    calling(after, impl, (20, 4, 9), running, [], "share_out").gives(
        state([("a", 4), ("b", 4), ("c", 1)], "abc", "", 17)
    )
    calling(after, impl, (20, 4, 10), running, [], "share_out").gives(
        state([("a", 5), ("b", 4), ("c", 1)], "abc", "", 17)
    )


def test_share_out_what_others_leave(impl):
    running = [("a", 5, 1, 5), ("b", 40, 0, 0), ("c", 4, 0, 0), ("d", 2, 0, 0)]
    calling(after, impl, (20, 4, 12), running, [], "share_out").gives(
        state([("a", 1), ("b", 5), ("c", 4), ("d", 2)], "abcd", "", 18)
    )


def test_share_out_to_the_first_of_equals(impl):
    running = [("a", 20, 0, 0), ("b", 20, 0, 0), ("c", 20, 0, 0)]
    calling(after, impl, (20, 4, 8), running, [], "share_out").gives(
        state([("a", 2), ("b", 3), ("c", 3)], "abc", "", 20)
    )


def test_share_out_a_budget_that_is_used_up(impl):
    running = [("a", 20, 0, 0), ("b", 20, 0, 0), ("c", 20, 0, 0)]
    calling(after, impl, (20, 4, 3), running, [], "share_out").gives(
        state([("a", 1), ("b", 1), ("c", 1)], "abc", "", 20)
    )


def test_put_back_the_youngest(impl):
    calling(after, impl, (10, 4, 8), RUNNING, WAITING, "put_back").gives(state(None, "ab", "cde", 7))
    calling(after, impl, (10, 4, 8), RUNNING[:1], [], "put_back").gives(state(None, "", "a", 10))


def drawn_then(impl, drawn):
    """What is left to read of a request with 5 tokens of prompt, that is put back."""

    class Pool:
        available = 9

    class Table:
        length, pages = 5 + drawn, [0, 1]

        def close(self):
            pass

    scheduler = impl.Scheduler(Pool, None, 4, 8)
    request = impl.Request(5, 100, drawn, Table())
    scheduler.running.append(request)
    scheduler.put_back()
    return request.drawn, request.unread


def test_put_back_keeps_what_was_drawn(impl):
    calling(drawn_then, impl, 3).gives((3, 8))


def test_plan_nothing(impl):
    calling(after, impl, (10, 4, 8), [], [], "plan").gives(state([], "", "", 10))


def test_plan_begins_with_those_who_join(impl):
    calling(after, impl, (20, 4, 8), [("a", 5, 2, 6)], WAITING, "plan").gives(
        state([("a", 1), ("d", 4), ("e", 3)], "ade", "", 18)
    )


def test_plan_puts_one_back(impl):
    running = [("a", 4, 1, 4), ("b", 3, 1, 3), ("c", 4, 1, 4)]  # a and c need a page each
    calling(after, impl, (4, 4, 8), running, [], "plan").gives(state([("a", 1), ("b", 1)], "ab", "c", 2))


def test_plan_puts_back_no_more_than_needed(impl):
    running = [("a", 4, 1, 4), ("b", 3, 1, 3), ("c", 4, 1, 4)]
    calling(after, impl, (5, 4, 8), running, [], "plan").gives(state([("a", 1), ("b", 1), ("c", 1)], "abc", "", 2))


def test_plan_puts_several_back(impl):
    running = [("a", 8, 1, 8), ("b", 2, 1, 2), ("c", 8, 1, 8), ("d", 2, 1, 2)]
    calling(after, impl, (6, 4, 8), running, [], "plan").gives(state([("a", 1), ("b", 1)], "ab", "cd", 3))
    running = [("a", 8, 1, 8), ("b", 4, 1, 4), ("c", 1, 1, 1)]
    calling(after, impl, (4, 4, 8), running, [], "plan").gives(state([("a", 1)], "a", "bc", 2))


def test_plan_shares_out_again(impl):
    running = [("a", 30, 0, 4), ("b", 30, 0, 4)]  # 7 tokens each would need 4 pages
    calling(after, impl, (5, 4, 14), running, [], "plan").gives(state([("a", 14)], "a", "b", 4))


def served(impl, sizes, arrivals, leaving, most=600):
    """Serve requests to the end. ``arrivals`` are (step, prompt, max_tokens), ``leaving`` who goes away before a step.

    For each step: what was planned, as (who, tokens), who was there before, in the order of arrival, and the free pages
    behind it. At last the free pages at the end. A plan that needs more pages than there are raises MemoryError.
    """
    pages, page_size, budget = sizes

    class Pool:
        available = pages

    class Table:
        def __init__(self, request):
            self.length, self.pages = 0, []

        def append(self, count):
            new = -(-(self.length + count) // page_size) - len(self.pages)
            if new > Pool.available:
                raise MemoryError(f"the plan needs {new} pages, {Pool.available} are free")
            Pool.available -= new
            self.pages += ["page"] * new
            self.length += count

        def close(self):
            Pool.available += len(self.pages)
            self.length, self.pages = 0, []

    scheduler = impl.Scheduler(Pool, Table, page_size, budget)
    names, there, steps = {}, [], []
    while len(steps) <= most:
        for who, (step, prompt, max_tokens) in enumerate(arrivals):
            if step == len(steps):
                request = impl.Request(prompt, max_tokens)
                names[request] = who
                scheduler.add(request)
                there.append(request)
        for step, who in leaving:
            if step == len(steps):
                for request in [request for request in there if names[request] == who]:
                    scheduler.remove(request)
                    there.remove(request)
        if not there and len(steps) > max([0, *(step for step, *_ in arrivals)]):
            return steps, Pool.available
        before, plan = [names[request] for request in there], scheduler.plan()
        for request, count in plan:
            if count > request.unread:
                raise ValueError(f"the plan reads {count} tokens where {request.unread} are there")
            request.table.append(count)
        for request, _ in plan:
            if request.unread == 0:
                request.drawn += 1
                if request.drawn == request.max_tokens:
                    scheduler.remove(request)
                    there.remove(request)
        steps.append(([(names[request], count) for request, count in plan], before, Pool.available))
    raise RuntimeError(f"expected an end within {most} steps, but {[names[one] for one in there]} are still there")


def test_plan_of_two_readers_to_the_end(impl):
    calling(served, impl, (3, 4, 6), [(0, 7, 2), (1, 3, 3)], []).gives(
        (
            [
                ([(0, 6)], [0], 1),
                ([(0, 1), (1, 3)], [0, 1], 0),
                ([(0, 1), (1, 1)], [0, 1], 2),
                ([(1, 1)], [1], 3),
            ],
            3,
        )
    )


def test_plan_reads_again_what_was_put_back(impl):
    calling(served, impl, (2, 4, 8), [(0, 3, 4), (0, 3, 3)], []).gives(
        (
            [
                ([(0, 3), (1, 3)], [0, 1], 0),
                ([(0, 1), (1, 1)], [0, 1], 0),
                ([(0, 1)], [0, 1], 0),
                ([(0, 1)], [0, 1], 2),
                ([(1, 5)], [1], 2),
            ],
            2,
        )
    )


def test_plan_goes_on_when_a_reader_goes_away(impl):
    calling(served, impl, (2, 4, 8), [(0, 5, 4), (0, 5, 3), (1, 1, 1)], [(2, 0), (9, 7)]).gives(
        (
            [
                ([(0, 5)], [0, 1], 0),
                ([(0, 1)], [0, 1, 2], 0),
                ([(1, 5)], [1, 2], 0),
                ([(1, 1)], [1, 2], 0),
                ([(1, 1)], [1, 2], 2),
                ([(2, 1)], [2], 2),
            ],
            2,
        )
    )


def check(sizes, found):
    """What must hold of every plan."""
    pages, _, budget = sizes
    steps, free = found
    for plan, there, _ in steps:
        where = {"plan": plan, "names": there, "budget": budget}
        counts, who = [count for _, count in plan], [name for name, _ in plan]
        same(
            translate("a step of at most {budget} tokens in the plan {plan} for {names}").format(**where),
            sum(counts) <= budget,
            True,
        )
        same(
            translate("at least one token for each in the plan {plan} for {names}").format(**where),
            all(count >= 1 for count in counts),
            True,
        )
        first = translate("those that came first are in the step, in their order in the plan {plan} for {names}")
        same(first.format(**where), who, there[: len(who)])
        same(
            translate("somebody is in the step in the plan {plan} for {names}").format(**where), bool(who), bool(there)
        )
    same(translate("free pages at the end"), free, pages)


SIZES = st.tuples(st.integers(4, 12), st.integers(1, 5), st.integers(1, 9))


@given(
    sizes=SIZES,
    requests=st.lists(st.tuples(st.integers(0, 12), st.integers(1, 30), st.integers(1, 12)), min_size=1, max_size=8),
    leaving=st.lists(st.tuples(st.integers(0, 20), st.integers(0, 7)), max_size=3),
)
def test_plan_lets_nobody_starve_and_loses_no_page(impl, sizes, requests, leaving):
    pages, page_size, _ = sizes
    fitting = [(at, prompt, most) for at, prompt, most in requests if prompt + most - 1 <= pages * page_size]
    check(sizes, calling(served, impl, sizes, fitting, leaving).answer())


@pytest.mark.parametrize("seed", range(12))
def test_plan_for_many_readers(impl, seed):
    random = np.random.default_rng(seed)
    pages, page_size, budget = (int(random.integers(*ends)) for ends in ((6, 20), (2, 9), (3, 24)))
    arrivals = []
    for _ in range(24):
        prompt, most = int(random.integers(1, 40)), int(random.integers(1, 20))
        if prompt + most - 1 <= pages * page_size:
            arrivals.append((int(random.integers(0, 30)), prompt, most))
    leaving = [(int(random.integers(0, 60)), int(random.integers(0, 24))) for _ in range(4)]
    sizes = (pages, page_size, budget)
    check(sizes, calling(served, impl, sizes, arrivals, leaving, 3000).answer())
