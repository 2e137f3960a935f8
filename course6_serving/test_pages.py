"""Exercise 6.2."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st


def available(impl, pages, taken):
    """How many of these pages are free when so many have been taken."""
    pool = impl.PagePool(pages, 4)
    for _ in range(taken):
        pool.take()
    return pool.available


@pytest.mark.parametrize(("pages", "taken"), [(3, 0), (3, 2), (5, 5)])
def test_available(impl, pages, taken):
    calling(available, impl, pages, taken).gives(pages - taken)


def taken_pages(impl, pages):
    """The numbers of all pages, in the order in which they are taken."""
    pool = impl.PagePool(pages, 4)
    return [pool.take() for _ in range(pages)]


@pytest.mark.parametrize("pages", [1, 4])
def test_take_the_lowest_number_first(impl, pages):
    calling(taken_pages, impl, pages).gives(list(range(pages)))


def users_of_new_pages(impl, pages, taken):
    """The users of all pages, when so many have been taken."""
    pool = impl.PagePool(pages, 4)
    for _ in range(taken):
        pool.take()
    return [pool.references(page) for page in range(pages)]


def test_init_has_no_users(impl):
    calling(users_of_new_pages, impl, 3, 0).gives([0, 0, 0])


def test_take_makes_a_user(impl):
    calling(users_of_new_pages, impl, 4, 2).gives([1, 1, 0, 0])


def take_too_many(impl, pages):
    pool = impl.PagePool(pages, 4)
    for _ in range(pages + 1):
        pool.take()


@pytest.mark.parametrize("pages", [1, 3])
def test_take_when_none_is_free(impl, pages):
    calling(take_too_many, impl, pages).raises(MemoryError, "pages")


def two_pools(impl, pages):
    """Each of two pools gives a page."""
    first, second = impl.PagePool(pages, 4), impl.PagePool(pages, 8)
    return first.take(), second.take(), first.available, second.available


def test_init_of_two_pools(impl):
    calling(two_pools, impl, 2).gives((0, 0, 1, 1))


def pool_after(impl, pages, acts):
    """What take has given, the users of all pages, and how many are free, after these acts."""
    pool = impl.PagePool(pages, 4)
    taken = []
    for act, *page in acts:
        if act == "take":
            taken.append(pool.take())
        else:
            getattr(pool, act)(*page)
    return {"taken": taken, "users": [pool.references(n) for n in range(pages)], "free": pool.available}


TAKE = ("take",)


def share(page):
    return "share", page


def back(page):
    return "give_back", page


def test_share(impl):
    calling(pool_after, impl, 3, [TAKE, TAKE, share(1)]).gives({"taken": [0, 1], "users": [1, 2, 0], "free": 1})


def test_share_several_times(impl):
    calling(pool_after, impl, 2, [TAKE, share(0), share(0), share(0)]).gives({"taken": [0], "users": [4, 0], "free": 1})


def test_give_back(impl):
    calling(pool_after, impl, 3, [TAKE, TAKE, back(0)]).gives({"taken": [0, 1], "users": [0, 1, 0], "free": 2})


def test_give_back_while_others_use_it(impl):
    calling(pool_after, impl, 2, [TAKE, share(0), share(0), back(0)]).gives({"taken": [0], "users": [2, 0], "free": 1})


def test_give_back_by_all_users(impl):
    calling(pool_after, impl, 2, [TAKE, share(0), back(0), back(0)]).gives({"taken": [0], "users": [0, 0], "free": 2})


def test_give_back_and_take_again(impl):
    """What was given back last is taken first; then come those that nobody has had."""
    calling(pool_after, impl, 4, [TAKE, TAKE, TAKE, back(0), back(2), TAKE, TAKE, TAKE]).gives(
        {"taken": [0, 1, 2, 2, 0, 3], "users": [1, 1, 1, 1], "free": 0}
    )


def test_take_again_makes_one_user(impl):
    calling(pool_after, impl, 1, [TAKE, share(0), back(0), back(0), TAKE]).gives(
        {"taken": [0, 0], "users": [1], "free": 0}
    )


def last_act(impl, pages, acts):
    """Nothing but these acts on a pool."""
    pool = impl.PagePool(pages, 4)
    for act, *page in acts:
        getattr(pool, act)(*page)


@pytest.mark.parametrize("before", [[], [TAKE, TAKE, back(1)]])
def test_share_of_a_free_page(impl, before):
    calling(last_act, impl, 3, [*before, share(1)]).raises(ValueError, "1")


@pytest.mark.parametrize("before", [[], [TAKE, TAKE, back(1)], [TAKE, TAKE, share(1), back(1), back(1)]])
def test_give_back_of_a_free_page(impl, before):
    calling(last_act, impl, 3, [*before, back(1)]).raises(ValueError, "1")


def tables_after(impl, pages, page_size, acts):
    """The pages and lengths of texts after these acts, all copies that were asked for, and the pool.

    Acts are (name of a text, what it does, with what); the first act of a name begins the text.
    """
    pool, tables, copies = impl.PagePool(pages, page_size), {}, []
    for name, act, *what in acts:
        if name not in tables:
            tables[name] = impl.PageTable(pool)
        if act == "append":
            try:
                copies += tables[name].append(*what)
            except MemoryError:
                copies.append("refused")
        elif act == "fork":
            tables[what[0]] = tables[name].fork()
        else:
            getattr(tables[name], act)(*what)
    found = {name: (table.pages, table.length) for name, table in tables.items()}
    return {**found, "copies": copies, "users": [pool.references(page) for page in range(pages)]}


def test_append(impl):
    calling(tables_after, impl, 4, 2, [("a", "append", 3)]).gives(
        {"a": ([0, 1], 3), "copies": [], "users": [1, 1, 0, 0]}
    )


def test_append_to_a_page_that_has_room(impl):
    calling(tables_after, impl, 4, 4, [("a", "append", 2), ("a", "append", 2)]).gives(
        {"a": ([0], 4), "copies": [], "users": [1, 0, 0, 0]}
    )


def test_append_behind_a_full_page(impl):
    calling(tables_after, impl, 4, 2, [("a", "append", 2), ("a", "append", 1)]).gives(
        {"a": ([0, 1], 3), "copies": [], "users": [1, 1, 0, 0]}
    )


def test_append_several_pages(impl):
    calling(tables_after, impl, 5, 3, [("a", "append", 1), ("a", "append", 9)]).gives(
        {"a": ([0, 1, 2, 3], 10), "copies": [], "users": [1, 1, 1, 1, 0]}
    )


def test_append_token_by_token(impl):
    calling(tables_after, impl, 3, 2, [("a", "append", 1)] * 5).gives(
        {"a": ([0, 1, 2], 5), "copies": [], "users": [1, 1, 1]}
    )


def test_append_nothing(impl):
    calling(tables_after, impl, 3, 2, [("a", "append", 0), ("b", "append", 3), ("b", "append", 0)]).gives(
        {"a": ([], 0), "b": ([0, 1], 3), "copies": [], "users": [1, 1, 0]}
    )


def test_append_to_two_texts_in_turn(impl):
    acts = [("a", "append", 2), ("b", "append", 1), ("a", "append", 1), ("b", "append", 2)]
    calling(tables_after, impl, 4, 2, acts).gives(
        {"a": ([0, 2], 3), "b": ([1, 3], 3), "copies": [], "users": [1, 1, 1, 1]}
    )


def test_append_up_to_the_last_page(impl):
    calling(tables_after, impl, 2, 3, [("a", "append", 4), ("a", "append", 2)]).gives(
        {"a": ([0, 1], 6), "copies": [], "users": [1, 1]}
    )


def append_in_parts(impl, pages, page_size, counts):
    table = impl.PageTable(impl.PagePool(pages, page_size))
    for count in counts:
        table.append(count)


@pytest.mark.parametrize("counts", [[7], [6, 1], [1, 2, 3, 1]])
def test_append_when_no_page_is_free(impl, counts):
    calling(append_in_parts, impl, 2, 3, counts).raises(MemoryError, "pages")


def test_append_too_much_changes_nothing(impl):
    """Two pages are free, and three would be needed: none of the two is lost."""
    acts = [("a", "append", 1), ("a", "append", 6), ("b", "append", 4)]
    calling(tables_after, impl, 3, 2, acts).gives(
        {"a": ([0], 1), "b": ([1, 2], 4), "copies": ["refused"], "users": [1, 1, 1]}
    )


def test_place(impl):
    calling(places, impl, [2, 0], 2, [0, 1, 2, 3]).gives([(2, 0), (2, 1), (0, 0), (0, 1)])


def places(impl, pages, page_size, positions):
    """Where these positions of a text lie that has these pages."""
    return [impl.PageTable(impl.PagePool(9, page_size), pages).place(position) for position in positions]


def test_place_in_large_pages(impl):
    calling(places, impl, [5, 3, 8], 16, [15, 16, 33, 47]).gives([(5, 15), (3, 0), (8, 1), (8, 15)])


def place_in(impl, page_size, length, position):
    """Where a position of a text of this length lies."""
    table = impl.PageTable(impl.PagePool(9, page_size))
    table.append(length)
    return table.place(position)


@pytest.mark.parametrize("position", [3, 4, 11, -1, -3])
def test_place_of_no_token(impl, position):
    calling(place_in, impl, 4, 3, position).raises(ValueError, str(position))


def test_place_in_a_text_without_tokens(impl):
    calling(place_in, impl, 4, 0, 0).raises(ValueError, "0")


def test_fork(impl):
    calling(tables_after, impl, 3, 2, [("a", "append", 3), ("a", "fork", "b")]).gives(
        {"a": ([0, 1], 3), "b": ([0, 1], 3), "copies": [], "users": [2, 2, 0]}
    )


def test_fork_of_a_fork(impl):
    calling(tables_after, impl, 3, 2, [("a", "append", 4), ("a", "fork", "b"), ("b", "fork", "c")]).gives(
        {"a": ([0, 1], 4), "b": ([0, 1], 4), "c": ([0, 1], 4), "copies": [], "users": [3, 3, 0]}
    )


def test_fork_of_a_text_without_tokens(impl):
    calling(tables_after, impl, 2, 2, [("a", "fork", "b"), ("b", "append", 1)]).gives(
        {"a": ([], 0), "b": ([0], 1), "copies": [], "users": [1, 0]}
    )


def test_append_to_a_shared_page(impl):
    """The text that writes gets a page of its own; the other one keeps the old page for itself."""
    calling(tables_after, impl, 3, 4, [("a", "append", 2), ("a", "fork", "b"), ("b", "append", 1)]).gives(
        {"a": ([0], 2), "b": ([1], 3), "copies": [(0, 1)], "users": [1, 1, 0]}
    )


def test_append_to_a_shared_page_and_beyond(impl):
    """First the page that replaces the shared one, then those behind it."""
    calling(tables_after, impl, 6, 2, [("a", "append", 3), ("a", "fork", "b"), ("b", "append", 4)]).gives(
        {"a": ([0, 1], 3), "b": ([0, 2, 3, 4], 7), "copies": [(1, 2)], "users": [2, 1, 1, 1, 1, 0]}
    )


def test_append_behind_shared_pages_that_are_full(impl):
    calling(tables_after, impl, 4, 2, [("a", "append", 4), ("a", "fork", "b"), ("b", "append", 1)]).gives(
        {"a": ([0, 1], 4), "b": ([0, 1, 2], 5), "copies": [], "users": [2, 2, 1, 0]}
    )


def test_append_to_a_page_that_is_shared_no_more(impl):
    """When b has its own page, a writes to the old one; nothing is copied a second time."""
    acts = [("a", "append", 1), ("a", "fork", "b"), ("b", "append", 1), ("a", "append", 1), ("b", "append", 1)]
    calling(tables_after, impl, 3, 4, acts).gives(
        {"a": ([0], 2), "b": ([1], 3), "copies": [(0, 1)], "users": [1, 1, 0]}
    )


def test_append_to_its_own_page_behind_a_shared_one(impl):
    """Both share page 0, which is full. Page 1 belongs to a alone since b has a copy."""
    acts = [("a", "append", 3), ("a", "fork", "b"), ("b", "append", 1), ("a", "append", 1)]
    calling(tables_after, impl, 4, 2, acts).gives(
        {"a": ([0, 1], 4), "b": ([0, 2], 4), "copies": [(1, 2)], "users": [2, 1, 1, 0]}
    )


def test_append_by_each_of_three_texts(impl):
    acts = [("a", "append", 1), ("a", "fork", "b"), ("a", "fork", "c"), ("a", "append", 1), ("b", "append", 1)]
    calling(tables_after, impl, 4, 4, [*acts, ("c", "append", 1)]).gives(
        {"a": ([1], 2), "b": ([2], 2), "c": ([0], 2), "copies": [(0, 1), (0, 2)], "users": [1, 1, 1, 0]}
    )


def test_append_nothing_to_a_shared_page(impl):
    calling(tables_after, impl, 3, 4, [("a", "append", 2), ("a", "fork", "b"), ("b", "append", 0)]).gives(
        {"a": ([0], 2), "b": ([0], 2), "copies": [], "users": [2, 0, 0]}
    )


def test_append_to_a_shared_page_when_none_is_free(impl):
    """Position 3 has room, but the page is shared, and there is no page for a copy."""
    calling(tables_after, impl, 1, 4, [("a", "append", 3), ("a", "fork", "b"), ("b", "append", 1)]).gives(
        {"a": ([0], 3), "b": ([0], 3), "copies": ["refused"], "users": [2]}
    )


def test_append_needs_a_page_for_the_copy_too(impl):
    """One page is free; two are needed, one for a copy and one behind it."""
    calling(tables_after, impl, 2, 2, [("a", "append", 1), ("a", "fork", "b"), ("b", "append", 2)]).gives(
        {"a": ([0], 1), "b": ([0], 1), "copies": ["refused"], "users": [2, 0]}
    )


@pytest.mark.parametrize(
    ("length", "pages"), [(6, [0, 1, 2]), (5, [0, 1, 2]), (4, [0, 1]), (3, [0, 1]), (1, [0]), (0, [])]
)
def test_cut(impl, length, pages):
    calling(tables_after, impl, 3, 2, [("a", "append", 6), ("a", "cut", length)]).gives(
        {"a": (pages, length), "copies": [], "users": [1] * len(pages) + [0] * (3 - len(pages))}
    )


def test_cut_gives_the_last_page_back_first(impl):
    """So its first page is the one that is taken next."""
    acts = [("a", "append", 6), ("a", "cut", 1), ("b", "append", 4)]
    calling(tables_after, impl, 4, 2, acts).gives(
        {"a": ([0], 1), "b": ([1, 2], 4), "copies": [], "users": [1, 1, 1, 0]}
    )


def test_cut_of_shared_pages(impl):
    acts = [("a", "append", 5), ("a", "fork", "b"), ("b", "cut", 2)]
    calling(tables_after, impl, 3, 2, acts).gives(
        {"a": ([0, 1, 2], 5), "b": ([0], 2), "copies": [], "users": [2, 1, 1]}
    )


def test_cut_and_append(impl):
    acts = [("a", "append", 5), ("a", "cut", 3), ("a", "append", 1), ("a", "append", 1)]
    calling(tables_after, impl, 4, 2, acts).gives({"a": ([0, 1, 2], 5), "copies": [], "users": [1, 1, 1, 0]})


def cut_to(impl, appended, length):
    table = impl.PageTable(impl.PagePool(4, 4))
    table.append(appended)
    table.cut(length)


@pytest.mark.parametrize("length", [4, 7, -1, -3])
def test_cut_to_where_nothing_is(impl, length):
    calling(cut_to, impl, 3, length).raises(ValueError, str(length))


def after_a_wrong_cut(impl, appended, length):
    from contextlib import suppress

    table = impl.PageTable(impl.PagePool(4, 2))
    table.append(appended)
    with suppress(ValueError):
        table.cut(length)
    return table.pages, table.length


@pytest.mark.parametrize("length", [4, -1])
def test_cut_to_where_nothing_is_changes_nothing(impl, length):
    calling(after_a_wrong_cut, impl, 3, length).gives(([0, 1], 3))


def begun_with_pages(impl, page_size, kept, length, count):
    """A text begins with pages that somebody else keeps, is cut to a length, and goes on."""
    pool = impl.PagePool(kept + 3, page_size)
    pages = [pool.take() for _ in range(kept)]
    for page in pages:
        pool.share(page)
    table = impl.PageTable(pool, pages)
    table.cut(length)
    copies = table.append(count)
    return table.pages, table.length, copies, [pool.references(page) for page in range(kept + 3)]


def test_append_to_pages_that_somebody_keeps(impl):
    calling(begun_with_pages, impl, 4, 2, 8, 2).gives(([0, 1, 2], 10, [], [2, 2, 1, 0, 0]))


def test_append_into_a_page_that_somebody_keeps(impl):
    calling(begun_with_pages, impl, 4, 2, 6, 1).gives(([0, 2], 7, [(1, 2)], [2, 1, 1, 0, 0]))


def test_close(impl):
    calling(tables_after, impl, 3, 2, [("a", "append", 5), ("a", "close")]).gives(
        {"a": ([], 0), "copies": [], "users": [0, 0, 0]}
    )


def test_close_leaves_others_their_pages(impl):
    acts = [("a", "append", 3), ("a", "fork", "b"), ("b", "append", 1), ("a", "close")]
    calling(tables_after, impl, 3, 2, acts).gives(
        {"a": ([], 0), "b": ([0, 2], 4), "copies": [(1, 2)], "users": [1, 0, 1]}
    )


def test_close_twice(impl):
    acts = [("a", "append", 3), ("a", "fork", "b"), ("a", "close"), ("a", "close")]
    calling(tables_after, impl, 2, 2, acts).gives({"a": ([], 0), "b": ([0, 1], 3), "copies": [], "users": [1, 1]})


def test_close_and_begin_again(impl):
    acts = [("a", "append", 3), ("b", "append", 1), ("a", "close"), ("a", "append", 1)]
    calling(tables_after, impl, 3, 2, acts).gives({"a": ([0], 1), "b": ([2], 1), "copies": [], "users": [1, 0, 1]})


def texts_read_back(impl, pages, page_size, acts):
    """What is read of each text from a memory with pages, where each act has written or forgotten something.

    In the end all texts are closed, and the number of free pages is told.
    """
    pool, tables, memory = impl.PagePool(pages, page_size), {}, {}
    for name, act, what in acts:
        table = tables.setdefault(name, impl.PageTable(pool))
        if act == "write":
            first = table.length
            for old, new in table.append(len(what)):
                memory.update({(new, i): memory.get((old, i), "?") for i in range(page_size)})
            for i, letter in enumerate(what):
                memory[table.place(first + i)] = letter
        elif act == "fork":
            if what in tables:
                tables[what].close()
            tables[what] = table.fork()
        else:
            table.cut(min(what, table.length))
    read = {name: "".join(memory[table.place(i)] for i in range(table.length)) for name, table in tables.items()}
    for table in tables.values():
        table.close()
    return read, pool.available


def expected_texts(acts):
    """The same with texts as they are."""
    texts = {}
    for name, act, what in acts:
        texts.setdefault(name, "")
        if act == "write":
            texts[name] += what
        elif act == "fork":
            texts[what] = texts[name]
        else:
            texts[name] = texts[name][:what]
    return texts


def some_acts(seed, count=25):
    """Acts of up to four texts: they write, fork and cut."""
    random = np.random.default_rng(seed)
    acts = []
    for number in range(count):
        name, other = (str(each) for each in random.permutation(list("abcd"))[:2])
        kind = random.integers(0, 10)
        if kind < 6:
            letters = "abcdefghijklmnopqrstuvwxyz"[number % 26] * int(random.integers(1, 6))
            acts.append((name, "write", letters))
        else:
            acts.append((name, "fork", other) if kind < 8 else (name, "cut", int(random.integers(0, 9))))
    return acts


@pytest.mark.parametrize("seed", range(12))
def test_append_keeps_all_texts_apart(impl, seed):
    acts = some_acts(seed)
    page_size = 1 + seed % 4
    calling(texts_read_back, impl, 500, page_size, acts).gives((expected_texts(acts), 500))


ACTS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("abc"), st.just("write"), st.text("xyz", min_size=1, max_size=4)),
        st.tuples(st.sampled_from("abc"), st.just("fork"), st.sampled_from("de")),
        st.tuples(st.sampled_from("abcde"), st.just("cut"), st.integers(0, 6)),
        st.tuples(st.sampled_from("de"), st.just("write"), st.text("uvw", min_size=1, max_size=4)),
    ),
    max_size=12,
)


@given(acts=ACTS, page_size=st.integers(1, 4))
def test_append_keeps_any_texts_apart(impl, acts, page_size):
    calling(texts_read_back, impl, 100, page_size, acts).gives((expected_texts(acts), 100))
