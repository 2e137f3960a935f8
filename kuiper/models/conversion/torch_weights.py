"""Files of weights: state_dicts, and the checkpoints that hold one."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kuiper.errors import ExportError
from kuiper.models.conversion.torch_export import in_one_line

if TYPE_CHECKING:
    import torch
    from torch import nn

WRAPPERS = ("state_dict", "model_state_dict", "model", "net")
"""Keys under which training programs keep the state_dict in a checkpoint."""

PREFIXES = ("module.", "_orig_mod.", "model.", "net.")
"""What DataParallel, torch.compile and Lightning put in front of every name."""

# A YOLOv5 checkpoint is a pickled model rather than a state_dict. These are the classes that it is made of; stubs of
# their names are enough, as nothing of theirs is called.
YOLOV5_CLASSES = {
    "models.common": ("Bottleneck", "C3", "Concat", "Conv", "SPPF"),
    "models.yolo": ("Detect", "DetectionModel", "Model"),
}
YOLOV5_LAYERS = ("BatchNorm2d", "Conv2d", "MaxPool2d", "ModuleList", "Sequential", "SiLU", "Upsample")


def load_weights(module: nn.Module, path: str | Path) -> None:
    """Fill a module from a file of ``torch.save`` (a state_dict, a checkpoint with one, a YOLOv5 checkpoint) or of
    safetensors; no code in the file is run.

    Raises
    ------
    ExportError
        If the file holds no named tensors, or not those of the module.
    """
    state = read_state(Path(path))
    wanted = set(module.state_dict())
    for prefix in PREFIXES:
        if not wanted & set(state) and any(name.startswith(prefix) for name in state):
            state = {name.removeprefix(prefix): tensor for name, tensor in state.items()}
    try:
        module.load_state_dict(state)
    except RuntimeError as error:
        reasons = [line.strip() for line in str(error).splitlines()[1:]] or [str(error)]
        got = f"others: {reasons[0][:300]}"
        raise ExportError(str(path), f"the weights of {type(module).__name__}", got) from error


def read_state(path: Path) -> dict[str, torch.Tensor]:
    """The named tensors of a file, out of the checkpoint that they may be in."""
    import torch

    if not path.is_file():
        raise ExportError(str(path), "a file of weights", "nothing there")
    content: Any
    try:
        if path.suffix == ".safetensors":
            content = importlib.import_module("safetensors.torch").load_file(path)
        else:
            with torch.serialization.safe_globals(yolov5_classes()):
                content = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        hint = "such a file runs code when it is loaded: torch.save(model.state_dict(), FILE) makes one that does not"
        raise ExportError(str(path), "a file of weights", "a file with more than tensors, or another", hint) from error
    except Exception as error:
        raise ExportError(str(path), "a file of weights", in_one_line(error)) from error
    if isinstance(content, dict) and isinstance(content.get("model"), torch.nn.Module):
        content = content["model"].float().state_dict()
    for key in WRAPPERS:
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            content = content[key]
    if not isinstance(content, dict) or not all(isinstance(value, torch.Tensor) for value in content.values()):
        keys = f" with {', '.join(map(str, content))}" if isinstance(content, dict) else ""
        got = f"a {type(content).__name__}{keys[:200]}"
        raise ExportError(str(path), "named tensors (a state_dict)", got)
    return dict(content)


def yolov5_classes() -> list[type]:
    """What may stand in a checkpoint beside tensors."""
    from torch import nn

    stubs = [
        type(name, (nn.Module,), {"__module__": module}) for module, names in YOLOV5_CLASSES.items() for name in names
    ]
    return [*stubs, *(getattr(nn, name) for name in YOLOV5_LAYERS)]
