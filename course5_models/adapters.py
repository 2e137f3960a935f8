"""The students' functions as layers: what ``kuiper race`` puts in the place of the engine's."""

from __future__ import annotations

import numpy as np

from kuiper.course import load_exercise
from kuiper.graph.runtime_operator import RuntimeOperator
from kuiper.layers.operators import yolo_detect


class YoloDetect(yolo_detect.YoloDetect):
    """models.yolo.Detect with the formulas of exercise 5.4; the convolutions in front of them are the engine's."""

    def __init__(self, op: RuntimeOperator) -> None:
        super().__init__(op)
        self.detect = load_exercise("5.4").detect

    def forward(self, *maps: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
        """The boxes of all maps, and the maps themselves where the file returns them."""
        convolved = [yolo_detect.convolve(x, level) for level, x in zip(self.levels, maps, strict=True)]
        channels_first = [yolo_detect.as_map(z, 4) for z in convolved]
        anchors, strides = [level.anchors for level in self.levels], [level.stride for level in self.levels]
        boxes: np.ndarray = self.detect(channels_first, anchors, strides)
        if len(self.ranks) == 1:
            return boxes
        left = iter(convolved)
        return tuple(boxes if rank == 3 else yolo_detect.as_map(next(left), rank) for rank in self.ranks)
