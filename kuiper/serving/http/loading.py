"""From what a user names to models that are served, each in the way that its kind asks for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import kuiper
from kuiper.errors import ParameterError
from kuiper.models.cards.model_card import card_path, model_name
from kuiper.models.lookup import find_model
from kuiper.models.predictor import TASKS, task_of
from kuiper.models.text import embedding_model, language_model
from kuiper.onnx.builder import OUTPUT
from kuiper.onnx.source import is_onnx
from kuiper.serving.http.network import Batching, ServedNetwork
from kuiper.serving.http.served import Served
from kuiper.serving.http.served_encoder import ServedEncoder
from kuiper.serving.picture_models import PictureModel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kuiper.serving.http.limits import Limits


def load_models(
    names: Iterable[str], *, memory: int, limits: Limits, page_bits: int = 32, batching: Batching | None = None
) -> list[Served | ServedEncoder | ServedNetwork]:
    """The models that these names, files and folders mean.

    Parameters
    ----------
    names : as ``find_model`` takes them, and folders of Hugging Face's form
    memory : bytes for the keys and values of each language model
    limits : of the server
    page_bits : of a number there, 32 or 8
    batching : how calls of a network are joined

    Returns
    -------
    Language models as ``Served``, encoders as ``ServedEncoder``, everything else as ``ServedNetwork``.

    Raises
    ------
    ParameterError
        If there is no model of a name, or two would be called the same.
    KuiperError
        If one cannot be loaded.

    Examples
    --------
    >>> from kuiper.serving.http.limits import Limits
    >>> models = load_models(["cifar_resnet20", "tang"], memory=1 << 20, limits=Limits())
    >>> [(model.name, type(model).__name__) for model in models]
    [('cifar_resnet20', 'ServedNetwork'), ('tang', 'Served')]
    >>> for model in models:
    ...     model.stop()
    """
    places: dict[str, Path] = {}
    for name in names:
        place = Path(name) if Path(name).is_dir() else find_model(name)
        short = place.name if place.is_dir() else model_name(place)
        if short in places:
            raise ParameterError("MODEL", "models with names of their own", f"{short} twice")
        places[short] = place
    models: list[Served | ServedEncoder | ServedNetwork] = []
    for name, place in places.items():
        if embedding_model.is_in(place):
            models.append(ServedEncoder(name, embedding_model.load(place), limits=limits))
        elif place.is_dir() or task_of(place) == "generate":
            model = language_model.load(place)
            models.append(Served(name, model, memory=memory, limits=limits, page_bits=page_bits))
        else:
            models.append(_network(name, place, limits, batching))
    return models


def _network(name: str, place: Path, limits: Limits, batching: Batching | None) -> ServedNetwork:
    task = task_of(place) if card_path(place).exists() else ""
    pictures = PictureModel(task, place) if task in TASKS else None
    graph = pictures.graph if pictures else kuiper.load(place)
    suffix = OUTPUT if is_onnx(place) else ""
    return ServedNetwork(name, graph, limits=limits, batching=batching, pictures=pictures, suffix=suffix)
