from __future__ import annotations

import numpy as np
import pytest

from kuiper.errors import DataTypeError, ShapeError
from tests.layers.wired_operator import run_wired


@pytest.mark.parametrize("type_name", ["prim::TupleUnpack", "prim::ListUnpack"])
def test_tuple_unpack_gives_one_output_for_each_entry(type_name: str) -> None:
    assert run_wired(type_name, [1, (2, 3)], outputs=2) == (1, (2, 3))
    assert run_wired(type_name, ["one"], outputs=1) == "one"


def test_tuple_unpack_refuses_another_number_of_entries() -> None:
    with pytest.raises(ShapeError, match=r"prim::TupleUnpack 'it': expected 2 entries, got 3"):
        run_wired("prim::TupleUnpack", (1, 2, 3), outputs=2)


def test_tuple_unpack_refuses_what_is_not_packed() -> None:
    with pytest.raises(DataTypeError, match=r"prim::ListUnpack 'it': expected a tuple or a list, got ndarray"):
        run_wired("prim::ListUnpack", np.zeros(2), outputs=2)
