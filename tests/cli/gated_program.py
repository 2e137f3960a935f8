"""The program kuiper, but pictures named after "late" wait until the gate is open."""

from __future__ import annotations

import sys

from kuiper.cli import classify, main
from tests.models.predictions import GatedPredictor

if __name__ == "__main__":
    classify.Predictor = GatedPredictor  # type: ignore[misc]
    sys.exit(main(sys.argv[1:]))
