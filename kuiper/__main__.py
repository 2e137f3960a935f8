"""``python -m kuiper`` is the program ``kuiper``."""

import sys

from kuiper.cli import main

sys.exit(main())
