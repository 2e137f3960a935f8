"""Make bilinear.json: what PyTorch's interpolate answers, for the tests of exercise 3.12.

    python course3_layers/data/make_bilinear.py         needs PyTorch (pip install -e '.[export]')

The pixels are integers, so that the file stays small, and a person can read it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

CASES = {  # name: shape of the images, the new size
    "twice as large": ((2, 2, 3, 4), (6, 8)),
    "each axis by its own factor": ((1, 2, 4, 3), (5, 8)),
    "half as large": ((1, 1, 6, 8), (3, 4)),
    "smaller and larger": ((1, 2, 7, 3), (4, 7)),
    "to one pixel": ((1, 2, 3, 5), (1, 1)),
    "from one pixel": ((2, 1, 1, 1), (2, 3)),
    "one row": ((1, 1, 3, 4), (1, 7)),
    "the same size": ((1, 2, 3, 4), (3, 4)),
    "much smaller": ((1, 1, 9, 11), (2, 3)),
}


def main() -> None:
    """Ask PyTorch, and write the file."""
    cases = {}
    for number, (name, (shape, size)) in enumerate(CASES.items()):
        x = np.random.default_rng(number).integers(-9, 10, shape).astype(np.float32)
        answers = {
            str(corners): functional.interpolate(
                torch.from_numpy(x), size=size, mode="bilinear", align_corners=corners
            ).tolist()
            for corners in (True, False)
        }
        cases[name] = {"x": x.tolist(), "size": size, "answers": answers}
    text = json.dumps({"torch": torch.__version__, "cases": cases})
    (Path(__file__).parent / "bilinear.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
