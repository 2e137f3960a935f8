"""Several inputs through a model at once, if it takes this many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kuiper.errors import KuiperError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kuiper.models.pictures.preprocess import Array


class Batches:
    """A function from a batch (b, ...) to a batch (b, ...), for inputs that come one by one.

    Any operator of an export may have the batch size fixed that it was traced with. Only trying tells; once it has
    failed, the inputs go through one by one.

    >>> Batches(lambda x: 2 * x)([np.float32([[1, 2]]), np.float32([[3, 4]])])
    [array([2., 4.], dtype=float32), array([6., 8.], dtype=float32)]
    """

    def __init__(self, run: Callable[[Array], Array]) -> None:
        self._run = run
        self._takes_several = True

    def __call__(self, inputs: Sequence[Array]) -> list[Array]:
        """The outputs (...) of the inputs (1, ...).

        Raises
        ------
        KuiperError
            If the function fails on a single input.
        """
        if len(inputs) > 1 and self._takes_several:
            try:
                return list(self._run(np.concatenate(inputs)))
            except KuiperError:
                self._takes_several = False
        return [self._run(x)[0] for x in inputs]
