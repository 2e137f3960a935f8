"""Exercise 6.3."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st


def after(impl, page_size, users, acts):
    """What find and make_room have answered, and the users of all pages, after these acts.

    At first each page has as many users as ``users`` says: texts that use it. ("end", pages) takes one away from
    each of these, and ("drop",) from what find has answered last.
    """

    class Pool:
        def __init__(self):
            self.page_size, self.users = page_size, list(users)
            self.pages = len(self.users)

        available = property(lambda self: self.users.count(0))

        def references(self, page):
            return self.users[page]

        def share(self, page):
            if not self.users[page]:
                raise ValueError(f"share: page {page} is free")
            self.users[page] += 1

        def give_back(self, page):
            if not self.users[page]:
                raise ValueError(f"give_back: page {page} is free")
            self.users[page] -= 1

    pool = Pool()
    cache, answers = impl.PrefixCache(pool), []
    for act, *what in acts:
        if act in ("end", "drop"):
            for page in what if act == "end" else answers[-1]:
                pool.give_back(page)
        elif act == "keep":
            cache.keep(*what)
        else:
            answers.append(getattr(cache, act)(*what))
    return {"answers": answers, "users": pool.users}


def keep(tokens, pages):
    return "keep", tokens, pages


def find(*tokens):
    return "find", list(tokens)


def room(pages):
    return "make_room", pages


def end(*pages):
    return "end", *pages


def test_keep(impl):
    calling(after, impl, 2, [1, 0], [keep([3, 1], [0])]).gives({"answers": [], "users": [2, 0]})


def test_keep_several_pages(impl):
    calling(after, impl, 2, [1, 1, 1], [keep([3, 1, 4, 1, 5, 9], [2, 0, 1])]).gives({"answers": [], "users": [2, 2, 2]})


def test_keep_full_pages_only(impl):
    calling(after, impl, 3, [1, 1, 1], [keep([3, 1, 4, 1, 5, 9, 2, 6], [0, 1, 2])]).gives(
        {"answers": [], "users": [2, 2, 1]}
    )


def test_keep_less_than_a_page(impl):
    calling(after, impl, 4, [1], [keep([3, 1, 4], [0])]).gives({"answers": [], "users": [1]})


def test_keep_twice(impl):
    text = [3, 1, 4, 1]
    calling(after, impl, 2, [1, 1], [keep(text, [0, 1]), keep(text, [0, 1])]).gives({"answers": [], "users": [2, 2]})


def test_keep_what_has_grown(impl):
    calling(after, impl, 2, [1, 1], [keep([3, 1, 4], [0, 1]), keep([3, 1, 4, 1, 5], [0, 1])]).gives(
        {"answers": [], "users": [2, 2]}
    )


def test_keep_the_same_tokens_on_other_pages(impl):
    """Page 0 is kept already: page 2 is not needed. Page 3 is new."""
    acts = [keep([3, 1, 4, 1], [0, 1]), keep([3, 1, 5, 9], [2, 3])]
    calling(after, impl, 2, [1, 1, 1, 1], acts).gives({"answers": [], "users": [2, 2, 1, 2]})


def test_keep_the_same_tokens_behind_others(impl):
    acts = [keep([3, 1, 4, 1], [0, 1]), keep([2, 7, 4, 1], [2, 3])]
    calling(after, impl, 2, [1, 1, 1, 1], acts).gives({"answers": [], "users": [2, 2, 2, 2]})


def test_find(impl):
    calling(after, impl, 2, [1, 1], [keep([3, 1], [1]), find(3, 1, 5)]).gives({"answers": [[1]], "users": [1, 3]})


def test_find_several_pages(impl):
    acts = [keep([3, 1, 4, 1, 5, 9], [2, 0, 1]), find(3, 1, 4, 1, 5, 9, 2)]
    calling(after, impl, 2, [1, 1, 1], acts).gives({"answers": [[2, 0, 1]], "users": [3, 3, 3]})


def test_find_nothing(impl):
    calling(after, impl, 2, [1], [find(3, 1, 4), keep([3, 1], [0]), find(1, 3, 4), find(3, 2, 4), find()]).gives(
        {"answers": [[], [], [], []], "users": [2]}
    )


def test_find_a_part(impl):
    """The second page has other tokens: only the first one is found."""
    acts = [keep([3, 1, 4, 1, 5, 9], [0, 1, 2]), find(3, 1, 4, 2, 5, 9, 2)]
    calling(after, impl, 2, [1, 1, 1], acts).gives({"answers": [[0]], "users": [3, 2, 2]})


def test_find_less_than_is_kept(impl):
    acts = [keep([3, 1, 4, 1, 5, 9], [0, 1, 2]), find(3, 1, 4, 1, 5)]
    calling(after, impl, 2, [1, 1, 1], acts).gives({"answers": [[0, 1]], "users": [3, 3, 2]})


@pytest.mark.parametrize(
    ("tokens", "pages"), [([3, 1, 4, 1], [0]), ([3, 1, 4, 1, 5], [0, 1]), ([3, 1], []), ([3, 1, 4], [0]), ([3], [])]
)
def test_find_leaves_a_token_over(impl, tokens, pages):
    users = [3 if page in pages else 2 for page in (0, 1)]
    calling(after, impl, 2, [1, 1], [keep([3, 1, 4, 1], [0, 1]), find(*tokens)]).gives(
        {"answers": [pages], "users": users}
    )


def test_find_looks_at_all_tokens_before(impl):
    """Page 1 has the tokens 4 and 1, but behind 3 and 1; page 3 has them behind 2 and 7."""
    acts = [keep([3, 1, 4, 1], [0, 1]), keep([2, 7, 4, 1], [2, 3])]
    acts += [find(2, 7, 4, 1, 0), find(3, 1, 4, 1, 0), find(4, 1, 0), find(7, 2, 4, 1, 0)]
    calling(after, impl, 2, [1, 1, 1, 1], acts).gives({"answers": [[2, 3], [0, 1], [], []], "users": [3, 3, 3, 3]})


def test_find_again(impl):
    acts = [keep([3, 1], [0]), find(3, 1, 5), find(3, 1, 4), find(3, 1, 5)]
    calling(after, impl, 2, [1], acts).gives({"answers": [[0], [0], [0]], "users": [5]})


def test_find_when_the_text_has_ended(impl):
    acts = [keep([3, 1, 4, 1], [0, 1]), end(1, 0), find(3, 1, 4, 1, 5)]
    calling(after, impl, 2, [1, 1], acts).gives({"answers": [[0, 1]], "users": [2, 2]})


def test_find_what_was_kept_first(impl):
    """Two pages have the same tokens: the first one is kept."""
    acts = [keep([3, 1], [1]), keep([3, 1], [0]), end(0, 1), find(3, 1, 5)]
    calling(after, impl, 2, [1, 1], acts).gives({"answers": [[1]], "users": [0, 2]})


def test_find_in_a_tree(impl):
    """Three texts begin alike, and part at different places."""
    acts = [keep([1, 2, 3], [0, 1, 2]), keep([1, 2, 4], [0, 1, 3]), keep([1, 5, 4], [0, 4, 5])]
    acts += [find(1, 2, 4, 0), find(1, 5, 4, 0), find(1, 2, 3, 0), find(1, 4, 0), find(5, 0)]
    calling(after, impl, 1, [3, 2, 1, 1, 1, 1], acts).gives(
        {"answers": [[0, 1, 3], [0, 4, 5], [0, 1, 2], [0], []], "users": [8, 5, 3, 3, 3, 3]}
    )


def two_caches(impl, tokens):
    """What is found in a cache when it was kept in another one."""

    class Pool:
        page_size = 2

        def share(self, page):
            pass

    first, second = impl.PrefixCache(Pool()), impl.PrefixCache(Pool())
    first.keep(tokens, [0])
    return second.find([*tokens, 0])


def test_init_of_two_caches(impl):
    calling(two_caches, impl, [3, 1]).gives([])


def kept_and_changed(impl, tokens):
    """What is found when the list that was given to keep has grown since then."""

    class Pool:
        page_size = 2

        def share(self, page):
            pass

    cache, given = impl.PrefixCache(Pool()), list(tokens)
    cache.keep(given, [0])
    given[0] = 99
    return cache.find([*tokens, 0]), cache.find([*given, 0])


def test_keep_keeps_the_tokens_not_the_list(impl):
    calling(kept_and_changed, impl, [3, 1]).gives(([0], []))


def test_make_room(impl):
    calling(after, impl, 2, [1, 0], [keep([3, 1], [0]), end(0), room(2)]).gives({"answers": [True], "users": [0, 0]})


def test_make_room_where_there_is_enough(impl):
    calling(after, impl, 2, [1, 0], [keep([3, 1], [0]), end(0), room(1), room(0)]).gives(
        {"answers": [True, True], "users": [1, 0]}
    )


def test_make_room_so_that_nothing_is_found(impl):
    acts = [keep([3, 1], [0]), end(0), room(1), find(3, 1, 5)]
    calling(after, impl, 2, [1], acts).gives({"answers": [True, []], "users": [0]})


def test_make_room_leaves_pages_in_use(impl):
    """A text uses page 0: it would not become free."""
    acts = [keep([3, 1], [0]), keep([4, 1], [1]), end(1), room(1)]
    calling(after, impl, 2, [1, 1], acts).gives({"answers": [True], "users": [2, 0]})


def test_make_room_when_all_are_in_use(impl):
    acts = [keep([3, 1], [0]), keep([4, 1], [1]), room(1)]
    calling(after, impl, 2, [1, 1], acts).gives({"answers": [False], "users": [2, 2]})


def test_make_room_as_far_as_possible(impl):
    acts = [keep([3, 1], [0]), keep([4, 1], [1]), end(1), room(3)]
    calling(after, impl, 2, [1, 1, 0], acts).gives({"answers": [False], "users": [2, 0, 0]})


def test_make_room_without_pages(impl):
    calling(after, impl, 2, [0, 1, 0], [room(2), room(3)]).gives({"answers": [True, False], "users": [0, 1, 0]})


def test_make_room_gives_back_what_was_kept_first(impl):
    acts = [keep([3, 1], [0]), keep([4, 1], [1]), keep([5, 9], [2]), end(0, 1, 2), room(1), room(2)]
    calling(after, impl, 2, [1, 1, 1], acts).gives({"answers": [True, True], "users": [0, 0, 1]})


def test_make_room_gives_back_the_least_recently_found(impl):
    acts = [keep([3, 1], [0]), keep([4, 1], [1]), end(0, 1), find(3, 1, 5), end(0), room(1)]
    calling(after, impl, 2, [1, 1], acts).gives({"answers": [[0], True], "users": [1, 0]})


def test_make_room_gives_back_the_least_recently_kept(impl):
    """Page 0 was kept first, but its tokens came once more."""
    acts = [keep([3, 1], [0]), keep([4, 1], [1]), keep([3, 1], [2]), end(0, 1, 2), room(2)]
    calling(after, impl, 2, [1, 1, 1], acts).gives({"answers": [True], "users": [1, 0, 0]})


def test_make_room_gives_back_the_end_of_a_text_first(impl):
    """What is left can still be found from the beginning on."""
    acts = [keep([3, 1, 4, 1, 5, 9], [0, 1, 2]), end(0, 1, 2), room(1), find(3, 1, 4, 1, 5, 9, 2)]
    calling(after, impl, 2, [1, 1, 1], acts).gives({"answers": [True, [0, 1]], "users": [2, 2, 0]})


def test_make_room_gives_back_the_end_of_what_was_found(impl):
    """Pages 0 and 1 have been found just now, and page 0, the beginning, counts as used last."""
    acts = [keep([3, 1, 4, 1], [0, 1]), keep([2, 7], [2]), end(0, 1, 2), find(3, 1, 4, 1, 5), end(0, 1)]
    calling(after, impl, 2, [1, 1, 1], [*acts, room(2)]).gives({"answers": [[0, 1], True], "users": [1, 0, 0]})


def test_make_room_counts_only_what_was_found_as_used(impl):
    """Page 0 is found, page 1 behind it is not: of the pages 1 and 2, page 1 was used less recently."""
    acts = [keep([3, 1, 4, 1], [0, 1]), keep([2, 7], [2]), end(0, 1, 2), find(3, 1, 5), end(0)]
    calling(after, impl, 2, [1, 1, 1], [*acts, room(1)]).gives({"answers": [[0], True], "users": [1, 0, 1]})


def test_make_room_and_keep_again(impl):
    """Page 0 has gone, and another page gets the same tokens."""
    acts = [keep([3, 1], [0]), end(0), room(1), keep([3, 1], [1]), find(3, 1, 5)]
    calling(after, impl, 2, [1, 1], acts).gives({"answers": [True, [1]], "users": [0, 3]})


def test_find_stops_at_a_gap(impl):
    """Page 3 is in use and stays; page 0, behind which it stands, has gone."""
    acts = [keep([3, 1, 4, 1], [0, 1]), keep([3, 1, 9, 9], [2, 3]), end(0, 1), room(2), find(3, 1, 9, 9, 5)]
    calling(after, impl, 2, [1, 1, 1, 1], acts).gives({"answers": [True, []], "users": [0, 0, 1, 2]})


def expected_after(page_size, users, acts):
    """The same, word for word: a list of (tokens up to the end, page), the least recently used one first."""
    users, kept, answers = list(users), [], []
    for act, *what in acts:
        if act in ("end", "drop"):
            for page in what if act == "end" else answers[-1]:
                users[page] -= 1
        elif act == "keep":
            tokens, pages = what
            for number in range(len(tokens) // page_size - 1, -1, -1):
                key = tuple(tokens[: (number + 1) * page_size])
                known = [entry for entry in kept if entry[0] == key]
                if known:
                    kept.remove(known[0])
                else:
                    users[pages[number]] += 1
                kept.append(known[0] if known else (key, pages[number]))
        elif act == "find":
            tokens, chain = what[0], []
            while len(tokens) > (len(chain) + 1) * page_size:
                key = tuple(tokens[: (len(chain) + 1) * page_size])
                known = [entry for entry in kept if entry[0] == key]
                if not known:
                    break
                chain += known
            for entry in chain[::-1]:
                users[entry[1]] += 1
                kept.remove(entry)
                kept.append(entry)
            answers.append([page for _, page in chain])
        else:
            for entry in list(kept):
                if users.count(0) < what[0] and users[entry[1]] == 1:
                    users[entry[1]] = 0
                    kept.remove(entry)
            answers.append(users.count(0) >= what[0])
    return {"answers": answers, "users": users}


def requests(seed, count=14):
    """Texts of the tokens 1 and 2 come, each on pages of its own, and end; now and then somebody needs room."""
    random = np.random.default_rng(seed)
    page_size, acts, pages = int(random.integers(1, 4)), [], 0
    for _ in range(count):
        tokens = [int(token) for token in random.integers(1, 3, random.integers(1, 9))]
        own = list(range(pages, pages + -(-len(tokens) // page_size)))
        pages += len(own)
        acts.append(find(*tokens))
        if random.random() < 0.8:
            acts.append(("drop",))
        acts.append(keep(tokens, own))
        if random.random() < 0.8:
            acts.append(end(*own))
        if random.random() < 0.4:
            acts.append(room(int(random.integers(1, max(2, pages)))))
    return page_size, [1] * pages, acts


@pytest.mark.parametrize("seed", range(15))
def test_make_room_between_requests(impl, seed):
    page_size, users, acts = requests(seed)
    calling(after, impl, page_size, users, acts).gives(expected_after(page_size, users, acts))


@given(seed=st.integers(100, 10_000), count=st.integers(1, 8))
def test_make_room_between_any_requests(impl, seed, count):
    page_size, users, acts = requests(seed, count)
    calling(after, impl, page_size, users, acts).gives(expected_after(page_size, users, acts))
