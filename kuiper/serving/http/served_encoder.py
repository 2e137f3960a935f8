"""A model that makes vectors of texts, as it is served: its worker and its seats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kuiper.errors import KuiperError
from kuiper.serving.embedding_worker import EmbeddingWorker
from kuiper.serving.http.api_error import ApiError, of_kuiper, wrong_field
from kuiper.serving.http.served_model import ServedModel

if TYPE_CHECKING:
    from kuiper.models.text.embedding_model import EmbeddingModel
    from kuiper.serving.http.limits import Limits


class ServedEncoder(ServedModel):
    """An encoder that is served.

    Parameters
    ----------
    name : what clients call it
    model : the model
    limits : of the server
    """

    def __init__(self, name: str, model: EmbeddingModel, *, limits: Limits) -> None:
        super().__init__(name, limits, most=limits.open_inputs)
        self.model = model
        self.worker = EmbeddingWorker(model, name=f"kuiper serve {name}")

    def tokens(self, inputs: list[str] | list[list[int]]) -> list[list[int]]:
        """The tokens of texts; those that came as tokens are taken as they are.

        Raises
        ------
        ApiError
            If a text is too long, is empty where the tokenizer adds nothing, or has a token that the model does not.
        """
        return [self._tokens(one) for one in inputs]

    def _tokens(self, given: str | list[int]) -> list[int]:
        most, left_off, ids = self.model.max_length, 0, given
        if isinstance(given, str):
            try:
                (found,) = self.model.tokens([given])
            except KuiperError as error:
                raise of_kuiper(error, "input") from error
            ids, left_off = found
        assert isinstance(ids, list)
        if not 0 < len(ids) + left_off <= most:
            message = f"input: expected 1 to {most} tokens of a text, got {len(ids) + left_off}"
            raise ApiError(400, message, param="input", code="context_length_exceeded" if ids else None)
        if max(ids) >= self.model.vocabulary_size:
            raise wrong_field("input", f"tokens below {self.model.vocabulary_size}", max(ids))
        return ids

    def stop(self) -> None:
        """Give up what waits, and end the worker."""
        self.worker.stop(finish=False)
