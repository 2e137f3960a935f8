"""Average precision of boxes whose precision and recall can be counted on the fingers."""

from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import ShapeError
from kuiper.models.tasks.boxes import Candidates
from zoo.average_precision import Truth, average_precisions, evaluate, interpolate, matches

LEFT, RIGHT, FAR = [0, 0, 10, 10], [20, 0, 30, 10], [50, 50, 60, 60]


def found(*boxes: tuple[list[float], float, int]) -> Candidates:
    """What was found on a picture: each a box, a score and a class."""
    return Candidates(
        np.array([box for box, _, _ in boxes], np.float32).reshape(-1, 4),
        np.array([score for _, score, _ in boxes], np.float32),
        np.array([label for _, _, label in boxes], np.intp),
    )


def truth(*boxes: tuple[list[float], int]) -> Truth:
    """What is on a picture: each a box and a class."""
    return Truth(
        np.array([box for box, _ in boxes], np.float32).reshape(-1, 4),
        np.array([label for _, label in boxes], np.intp),
    )


def test_evaluate_gives_1_when_all_is_found_and_nothing_else() -> None:
    pictures = [found((LEFT, 0.9, 0), (RIGHT, 0.3, 1)), found((FAR, 0.5, 0))]
    assert evaluate(pictures, [truth((LEFT, 0), (RIGHT, 1)), truth((FAR, 0))]) == (1.0, 1.0)


def test_evaluate_gives_0_when_nothing_is_found() -> None:
    assert evaluate([found()], [truth((LEFT, 0))]) == (0.0, 0.0)


def test_evaluate_counts_half_of_the_truth_up_to_recall_one_half() -> None:
    scores = evaluate([found((LEFT, 0.9, 0))], [truth((LEFT, 0), (FAR, 0))])
    assert scores.map50 == pytest.approx(51 / 101)  # recalls 0, 0.01 ... 0.5 are reached


def test_evaluate_takes_the_surest_first_over_all_pictures() -> None:
    pictures = [found((LEFT, 0.5, 0)), found((FAR, 0.9, 0))]
    assert evaluate(pictures, [truth((LEFT, 0)), truth()]).map50 == 0.5
    pictures = [found((LEFT, 0.9, 0)), found((FAR, 0.5, 0))]
    assert evaluate(pictures, [truth((LEFT, 0)), truth()]).map50 == 1.0


def test_evaluate_uses_the_best_precision_at_a_higher_recall() -> None:
    """Right, wrong, right of two: precisions 1, 1/2, 2/3 at recalls 1/2, 1/2, 1."""
    boxes = found((LEFT, 0.9, 0), (FAR, 0.8, 0), (RIGHT, 0.7, 0))
    expected = (51 * 1 + 50 * 2 / 3) / 101
    assert evaluate([boxes], [truth((LEFT, 0), (RIGHT, 0))]).map50 == pytest.approx(expected)


def test_a_second_box_on_the_same_thing_is_wrong() -> None:
    boxes = found((LEFT, 0.9, 0), (LEFT, 0.8, 0), (RIGHT, 0.7, 0))
    expected = (51 * 1 + 50 * 2 / 3) / 101
    assert evaluate([boxes], [truth((LEFT, 0), (RIGHT, 0))]).map50 == pytest.approx(expected)


def test_a_box_takes_the_thing_it_overlaps_most_of_those_left() -> None:
    assert matches(np.float32([[0.6, 0.9], [0.55, 0.8]]))[:, 0].tolist() == [True, True]
    assert matches(np.float32([[0.6, 0.9], [0.4, 0.8]]))[:, 0].tolist() == [True, False]


def test_the_wrong_class_is_wrong_twice() -> None:
    """It is no find of its own class, and the right class stays unfound; a class without a truth has no score."""
    scores = evaluate([found((LEFT, 0.9, 1), (RIGHT, 0.8, 1))], [truth((LEFT, 0), (RIGHT, 1))])
    assert scores.map50 == (0 + 0.5) / 2
    assert evaluate([found((LEFT, 0.9, 0), (FAR, 0.9, 7))], [truth((LEFT, 0))]).map50 == 1.0


@pytest.mark.parametrize(("width", "reached"), [(20, 1), (19, 1), (13, 6), (11, 9), (10, 10), (21, 0)])
def test_an_overlap_counts_at_the_thresholds_it_reaches(width: int, reached: int) -> None:
    """10 of ``width`` pixels: 10 / 20 = 0.5 reaches the first threshold exactly."""
    precisions = average_precisions([found(([0, 0, width, 10], 0.9, 0))], [truth((LEFT, 0))], 0)
    assert precisions.tolist() == [1.0] * reached + [0.0] * (10 - reached)


@pytest.mark.parametrize("total", [3, 7, 29, 100])
def test_interpolate_reaches_a_recall_exactly(total: int) -> None:
    """k of n right ones, and no wrong ones: 1 for each recall i / 100 with i n <= 100 k."""
    for k in range(1, total + 1):
        expected = sum(i * total <= 100 * k for i in range(101)) / 101
        assert interpolate(np.ones(k, bool), total) == pytest.approx(expected)


def test_evaluate_wants_as_many_pictures_in_both() -> None:
    with pytest.raises(ShapeError, match="average_precision: expected what was found on 2 pictures, got 1"):
        evaluate([found()], [truth(), truth()])


def test_evaluate_of_nothing_is_no_number() -> None:
    assert np.isnan(evaluate([found((LEFT, 0.9, 0))], [truth()])).all()
