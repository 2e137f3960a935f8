"""What a model's file says about the pictures that it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kuiper.errors import ShapeError

if TYPE_CHECKING:
    from kuiper.graph import RuntimeGraph


class DeclaredInput(NamedTuple):
    """The sizes of an input (n, c, h, w); None for those that the file leaves open."""

    batch: int | None
    channels: int | None
    height: int | None
    width: int | None

    @classmethod
    def of(cls, model: RuntimeGraph) -> DeclaredInput:
        """Those of a model with one input.

        >>> import kuiper
        >>> from kuiper.models import bundled
        >>> DeclaredInput.of(kuiper.load(bundled("cifar_resnet20"))).size
        (32, 32)

        Raises
        ------
        ShapeError
            If the model has several inputs, or none, or one that is no batch of pictures.
        """
        operators = model.input_operators
        if len(operators) != 1:
            raise ShapeError(model.name, "a model with one input, of pictures", f"{len(operators)} inputs")
        shape = operators[0].outputs[0].shape or (None,) * 4
        if len(shape) != 4:
            raise ShapeError(operators[0].where, "an input (n, c, h, w)", shape)
        return cls(*(size if isinstance(size, int) else None for size in shape))

    @property
    def size(self) -> tuple[int, int] | None:
        """Height and width, if both are fixed."""
        return None if self.height is None or self.width is None else (self.height, self.width)

    def expect_colours(self, where: str) -> None:
        """Raise a ShapeError if the model does not take red, green and blue."""
        if self.channels not in (3, None):
            raise ShapeError(where, "a model that takes three channels: red, green, blue", self.channels)
