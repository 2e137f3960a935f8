"""Exercise 2.7."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.course import calling
from kuiper.course.properties import given, st

CHAIN = [(["x"], ["a"]), (["a"], ["b"]), (["b"], ["c"]), (["c"], ["d"])]
RESIDUAL = [(["x"], ["a"]), (["a"], ["b"]), (["b"], ["c"]), (["a", "c"], ["d"]), (["d"], ["e"])]


def test_lifetimes_of_a_chain(impl):
    calling(impl.lifetimes, CHAIN, ["d"]).gives({"a": (0, 1), "b": (1, 2), "c": (2, 3), "d": (3, 4)})


def test_lifetimes_last_reader_counts(impl):
    calling(impl.lifetimes, RESIDUAL, ["e"]).gives({"a": (0, 3), "b": (1, 2), "c": (2, 3), "d": (3, 4), "e": (4, 5)})


def test_lifetimes_without_a_reader(impl):
    calling(impl.lifetimes, [(["x"], ["a", "b"]), (["b"], ["c"]), ([], ["e"])]).gives(
        {"a": (0, 0), "b": (0, 1), "c": (1, 1), "e": (2, 2)}
    )


def test_lifetimes_of_what_is_returned(impl):
    calling(impl.lifetimes, CHAIN, ["a", "d"]).gives({"a": (0, 4), "b": (1, 2), "c": (2, 3), "d": (3, 4)})
    calling(impl.lifetimes, CHAIN, ["b"]).gives({"a": (0, 1), "b": (1, 4), "c": (2, 3), "d": (3, 3)})


def test_lifetimes_leave_inputs_out(impl):
    calling(impl.lifetimes, [(["x", "y"], ["a"]), (["a", "x"], ["b"])], ["b", "x"]).gives({"a": (0, 1), "b": (1, 2)})
    calling(impl.lifetimes, [], ["x"]).gives({})


def test_lifetimes_read_twice_by_one_step(impl):
    calling(impl.lifetimes, [([], ["a"]), (["a", "a"], ["b"])], []).gives({"a": (0, 1), "b": (1, 1)})


def test_lifetimes_in_the_order_of_writing(impl):
    calling(in_order, impl, [(["x"], ["d", "b"]), (["b"], ["c"]), (["d"], ["a"])], ["a", "d"]).gives(
        ["d", "b", "c", "a"]
    )


def in_order(impl, steps, returned):
    return list(impl.lifetimes(steps, returned))


def test_buffer_is_not_free_in_its_last_step(impl):
    calling(impl.share_buffers, {"a": 3, "b": 3}, {"a": (0, 1), "b": (1, 1)}).gives(({"a": 0, "b": 1}, [3, 3]))
    calling(impl.share_buffers, {"a": 3, "b": 3}, {"a": (0, 1), "b": (2, 2)}).gives(({"a": 0, "b": 0}, [3]))


def test_buffers_of_a_chain(impl):
    sizes = {"a": 8, "b": 8, "c": 2, "d": 4}
    alive = {"a": (0, 1), "b": (1, 2), "c": (2, 3), "d": (3, 4)}
    calling(impl.share_buffers, sizes, alive).gives(({"a": 0, "b": 1, "c": 0, "d": 1}, [8, 8]))


def test_buffers_of_one_step_differ(impl):
    calling(impl.share_buffers, {"a": 3, "b": 2}, {"a": (0, 0), "b": (0, 0)}).gives(({"a": 0, "b": 1}, [3, 2]))


def test_buffer_that_is_too_small_is_not_taken(impl):
    sizes = {"a": 3, "b": 5, "c": 3}
    alive = {"a": (0, 0), "b": (1, 1), "c": (2, 2)}
    calling(impl.share_buffers, sizes, alive).gives(({"a": 0, "b": 1, "c": 0}, [3, 5]))


def test_smallest_that_fits(impl):
    sizes = {"a": 10, "b": 4, "c": 6, "d": 5, "e": 4, "f": 9}
    alive = {"a": (0, 0), "b": (0, 0), "c": (0, 0), "d": (1, 1), "e": (1, 1), "f": (1, 1)}
    calling(impl.share_buffers, sizes, alive).gives(({"a": 0, "b": 1, "c": 2, "d": 2, "e": 1, "f": 0}, [10, 4, 6]))


def test_lowest_number_of_equal_buffers(impl):
    sizes = {"a": 7, "b": 5, "c": 5, "d": 5}
    alive = {"a": (0, 9), "b": (0, 2), "c": (0, 1), "d": (3, 3)}
    calling(impl.share_buffers, sizes, alive).gives(({"a": 0, "b": 1, "c": 2, "d": 1}, [7, 5, 5]))


def test_buffer_keeps_its_size(impl):
    sizes = {"a": 8, "b": 2, "c": 8}
    alive = {"a": (0, 0), "b": (1, 1), "c": (2, 2)}
    calling(impl.share_buffers, sizes, alive).gives(({"a": 0, "b": 0, "c": 0}, [8]))


def test_last_owner_decides(impl):
    sizes = {"a": 4, "b": 4, "c": 4}
    alive = {"a": (0, 0), "b": (1, 5), "c": (3, 3)}
    calling(impl.share_buffers, sizes, alive).gives(({"a": 0, "b": 0, "c": 1}, [4, 4]))


def test_buffers_of_a_residual_network(impl):
    sizes = {"a": 6, "b": 6, "c": 6, "d": 6, "e": 2}
    alive = {"a": (0, 3), "b": (1, 2), "c": (2, 3), "d": (3, 4), "e": (4, 5)}
    calling(impl.share_buffers, sizes, alive).gives(({"a": 0, "b": 1, "c": 2, "d": 1, "e": 0}, [6, 6, 6]))


def test_operands_come_in_the_order_of_their_lives(impl):
    sizes = {"c": 3, "b": 3, "unused": 9, "a": 3}
    alive = {"a": (0, 1), "b": (1, 2), "c": (2, 3)}
    calling(impl.share_buffers, sizes, alive).gives(({"a": 0, "b": 1, "c": 0}, [3, 3]))


def test_no_buffers(impl):
    calling(impl.share_buffers, {}, {}).gives(({}, []))


def test_allocate(impl):
    calling(impl.allocate, {"a": (2, 3), "b": (4,)}, {"a": 0, "b": 1}, [6, 4]).gives(
        {"a": np.zeros((2, 3), np.float32), "b": np.zeros(4, np.float32)}
    )


def test_allocate_part_of_a_buffer(impl):
    calling(impl.allocate, {"a": (1, 2, 3), "b": (), "c": (0, 2)}, {"a": 0, "b": 0, "c": 0}, [9]).gives(
        {"a": np.zeros((1, 2, 3), np.float32), "b": np.zeros((), np.float32), "c": np.zeros((0, 2), np.float32)}
    )


def test_arrays_of_one_buffer_share_its_beginning(impl):
    calling(written, impl, {"a": (2, 2), "b": (3,)}, {"a": 0, "b": 0}, [5], "a").gives(
        {"a": [[1.0, 2.0], [3.0, 4.0]], "b": [1.0, 2.0, 3.0]}
    )
    calling(written, impl, {"a": (2, 2), "b": (3,)}, {"a": 0, "b": 0}, [5], "b").gives(
        {"a": [[1.0, 2.0], [3.0, 0.0]], "b": [1.0, 2.0, 3.0]}
    )


def written(impl, shapes, buffer_of, buffers, name):
    """Write 1 2 3 ... into one array, and look at all."""
    arrays = impl.allocate(shapes, buffer_of, buffers)
    arrays[name][...] = np.arange(1, arrays[name].size + 1).reshape(arrays[name].shape)
    return {key: array.tolist() for key, array in arrays.items()}


def test_arrays_of_two_buffers_do_not_meet(impl):
    shapes, buffer_of = {"a": (2,), "b": (2,), "c": (2,)}, {"a": 1, "b": 0, "c": 1}
    calling(written, impl, shapes, buffer_of, [2, 2], "a").gives({"a": [1.0, 2.0], "b": [0.0, 0.0], "c": [1.0, 2.0]})
    calling(written, impl, shapes, buffer_of, [2, 2], "b").gives({"a": [0.0, 0.0], "b": [1.0, 2.0], "c": [0.0, 0.0]})


def test_allocate_anew_each_time(impl):
    calling(two_plans, impl).gives(([1.0, 1.0], [0.0, 0.0]))


def two_plans(impl):
    first = impl.allocate({"a": (2,)}, {"a": 0}, [2])["a"]
    first[...] = 1
    return first.tolist(), impl.allocate({"a": (2,)}, {"a": 0}, [2])["a"].tolist()


def test_allocate_only_what_is_asked_for(impl):
    calling(impl.allocate, {"b": [3]}, {"a": 0, "b": 1}, [6, 4]).gives({"b": np.zeros(3, np.float32)})


@pytest.mark.parametrize("shape", [(None, 2), (2, None), (0, None)])
def test_allocate_unknown_size(impl, shape):
    calling(impl.allocate, {"ok": (1,), "bad": shape}, {"ok": 0, "bad": 0}, [9]).raises(ValueError, "bad")


@pytest.mark.parametrize("shape", [(2, 3), (7,), (6,)])
def test_allocate_too_large(impl, shape):
    calling(impl.allocate, {"ok": (5,), "bad": shape}, {"ok": 0, "bad": 0}, [5, 100]).raises(ValueError, "bad")


def collisions(alive, buffer_of):
    """Pairs of operands that lie in one buffer at one time."""
    names = list(alive)
    return [
        (a, b)
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        if buffer_of[a] == buffer_of[b] and alive[a][0] <= alive[b][1] and alive[b][0] <= alive[a][1]
    ]


def plan(sizes, alive):
    """The three rules, word for word."""
    buffer_of, buffers = {}, []
    for name, (first, _) in alive.items():
        free = []
        for number, size in enumerate(buffers):
            owner = [other for other in buffer_of if buffer_of[other] == number][-1]
            if alive[owner][1] < first and size >= sizes[name]:
                free.append((size, number))
        buffer_of[name] = min(free)[1] if free else len(buffers)
        if not free:
            buffers.append(sizes[name])
    assert not collisions(alive, buffer_of)
    return buffer_of, buffers


@given(
    reads=st.lists(st.lists(st.integers(1, 4), max_size=2), min_size=1, max_size=9),
    amounts=st.lists(st.integers(0, 5), min_size=9, max_size=9),
)
def test_any_network(impl, reads, amounts):
    """Step i writes operand i and reads some that were written shortly before."""
    steps = [([f"n{i - j}" for j in back if j <= i], [f"n{i}"]) for i, back in enumerate(reads)]
    last = {
        f"n{i}": max([i, *(k for k, (names, _) in enumerate(steps) if f"n{i}" in names)]) for i in range(len(steps))
    }
    alive = {name: (i, last[name]) for i, name in enumerate(last)}
    alive[f"n{len(steps) - 1}"] = (len(steps) - 1, len(steps))
    sizes = {name: amounts[i] for i, name in enumerate(alive)}
    calling(impl.lifetimes, steps, [f"n{len(steps) - 1}"]).gives(alive)
    calling(impl.share_buffers, sizes, alive).gives(plan(sizes, alive))


def seeded(seed):
    """A network of up to 14 steps, several outputs each: steps, what is returned, sizes of the operands."""
    random = np.random.default_rng(seed)
    steps, written = [], []
    for step in range(int(random.integers(1, 15))):
        readable = ["x", *written]
        reads = [str(name) for name in random.choice(readable[-6:], int(random.integers(0, 4)))]
        writes = [f"n{step}.{i}" for i in range(int(random.integers(1, 4)))]
        steps.append((reads, writes))
        written += writes
    returned = [str(name) for name in random.choice(["x", *written], int(random.integers(0, 3)))]
    return steps, returned, {name: int(random.integers(0, 40)) for name in random.permutation(written).tolist()}


def lives(steps, returned):
    """Word for word: the writing step, and the last that reads it."""
    found = {}
    for step, (_, outputs) in enumerate(steps):
        for name in outputs:
            readers = [k for k, (inputs, _) in enumerate(steps) if name in inputs]
            found[name] = step, len(steps) if name in returned else max([step, *readers])
    return found


@pytest.mark.parametrize("seed", range(30))
def test_larger_networks(impl, seed):
    steps, returned, sizes = seeded(seed)
    alive = lives(steps, returned)
    calling(impl.lifetimes, steps, returned).gives(alive)
    calling(impl.share_buffers, sizes, alive).gives(plan(sizes, alive))


def overlaps(impl, shapes, buffer_of, buffers):
    """Write into one array after the other, when all are 0; for each, what all of them hold then."""
    arrays = impl.allocate(shapes, buffer_of, buffers)
    found = {}
    for name, array in arrays.items():
        for other in arrays.values():
            other[...] = 0
        array[...] = np.arange(1, array.size + 1).reshape(array.shape)
        found[name] = {key: other.ravel().tolist() for key, other in arrays.items()}
    return found


@pytest.mark.parametrize("seed", range(10))
def test_arrays_lie_where_the_plan_says(impl, seed):
    steps, returned, sizes = seeded(seed)
    buffer_of, buffers = plan(sizes, lives(steps, returned))
    shapes = {name: (size,) if size % 2 else (2, size // 2) for name, size in sizes.items()}
    expected = {}
    for name, size in sizes.items():
        written = {key: size if buffer_of[key] == buffer_of[name] else 0 for key in sizes}
        expected[name] = {key: [float(i + 1) if i < written[key] else 0.0 for i in range(sizes[key])] for key in sizes}
    calling(overlaps, impl, shapes, buffer_of, buffers).gives(expected)
