"""The book-keeping of pages: nothing leaks, nothing is taken from a user, the longest unused goes first."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ParameterError
from kuiper.graph.page_pool import BEGIN, PagePool


def filled(pool: PagePool, tokens: list[int], place: int = BEGIN) -> tuple[int, int]:
    """A page that was full and has no user any more, and its place."""
    page = pool.take()
    place = pool.keep(place, tokens, page)
    pool.give_back(page)
    return page, place


def test_take_gives_each_page_once() -> None:
    pool = PagePool(3, 4)
    assert sorted(pool.take() for _ in range(3)) == [0, 1, 2]
    assert (pool.available, pool.in_use) == (0, 3)
    with pytest.raises(MemoryError, match="3 pages of 4 positions are in use"):
        pool.take()


def test_give_back_frees_a_page_with_its_last_user() -> None:
    pool = PagePool(1, 4)
    page = pool.take()
    pool.share(page)
    pool.give_back(page)
    assert pool.available == 0
    pool.give_back(page)
    assert pool.take() == page


def test_find_follows_the_tokens_as_far_as_they_are_known() -> None:
    pool = PagePool(4, 2)
    first, place = filled(pool, [1, 2])
    second, _ = filled(pool, [3, 4], place)
    other, _ = filled(pool, [5, 6], place)
    assert [page for page, _ in pool.find([1, 2, 3, 4, 9])] == [first, second]
    assert [page for page, _ in pool.find([1, 2, 5, 6])] == [first, other]
    assert [page for page, _ in pool.find([1, 2, 9, 9])] == [first]
    assert pool.find([3, 4]) == []  # the same tokens behind another beginning
    assert pool.find([1]) == []


def test_keep_leaves_the_page_that_is_known_already() -> None:
    pool = PagePool(2, 2)
    first, place = filled(pool, [1, 2])
    again, same = filled(pool, [1, 2])
    assert same == place
    assert pool.find([1, 2]) == [(first, place)]
    assert pool.take() == again  # it is free; the known one is still kept


def test_take_evicts_the_page_that_was_unused_for_longest() -> None:
    pool = PagePool(3, 1)
    pages = [filled(pool, [token])[0] for token in range(3)]
    pool.share(pages[0])
    pool.give_back(pages[0])
    assert pool.take() == pages[1]
    assert pool.find([1]) == []
    assert [page for page, _ in pool.find([0])] == [pages[0]]
    assert pool.evicted == 1


def test_take_never_evicts_a_page_in_use() -> None:
    pool = PagePool(2, 1)
    kept, _ = filled(pool, [7])
    pool.share(kept)
    assert pool.take() != kept
    with pytest.raises(MemoryError):
        pool.take()


def test_is_written_alone_needs_one_user_and_no_finder() -> None:
    pool = PagePool(2, 1)
    page = pool.take()
    assert pool.is_written_alone(page)
    pool.share(page)
    assert not pool.is_written_alone(page)
    pool.give_back(page)
    pool.keep(BEGIN, [1], page)
    assert not pool.is_written_alone(page)


def test_random_users_leave_all_pages() -> None:
    rng, pool, users = np.random.default_rng(0), PagePool(9, 2), []
    for _ in range(3000):
        if users and (rng.random() < 0.5 or not pool.available):
            pool.give_back(users.pop(int(rng.integers(len(users)))))
            continue
        tokens = [int(token) for token in rng.integers(0, 3, 2)]
        found = pool.find(tokens)
        if found and rng.random() < 0.5:
            pool.share(found[0][0])
            users.append(found[0][0])
        else:
            users.append(pool.take())
            if rng.random() < 0.7:
                pool.keep(BEGIN, tokens, users[-1])
        assert pool.in_use == len(set(users))
    for page in users:
        pool.give_back(page)
    assert (pool.available, pool.in_use) == (9, 0)
    assert sorted(pool.take() for _ in range(9)) == list(range(9))


@pytest.mark.parametrize(("pages", "page_size"), [(0, 4), (4, 0)])
def test_page_pool_refuses_to_be_empty(pages: int, page_size: int) -> None:
    with pytest.raises(ParameterError, match="at least one page of at least one position"):
        PagePool(pages, page_size)
