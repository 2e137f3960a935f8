"""The font of the lectures' stored pictures in Chinese, made of Noto Sans CJK SC.

    apt-get install fonts-noto-cjk
    python packaging/subset_font.py

It has ASCII and the letters of the catalogue of pictures; notebooks/zh/pictures/README.md says what it is for.
"""

from __future__ import annotations

import runpy
import string
import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTCollection

ROOT = Path(__file__).resolve().parents[1]
LANGUAGE, FAMILY = "zh", "Noto Sans CJK SC"
SOURCE = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")
TARGET = ROOT / "notebooks" / LANGUAGE / "pictures" / "NotoSansCJKsc-subset.otf"
MAX_BYTES = 400_000
TITLE = 12  # letters of a title at most


def letters() -> set[str]:
    """What pictures can say; titles of courses are in the catalogue of hints."""
    catalogues = runpy.run_path(str(Path(__file__).with_name("catalogues.py")))
    found = set(string.printable) - set(string.whitespace) | {" "}
    for domain in ("pictures", "hints"):
        for message in catalogues["read"](LANGUAGE, domain):
            if domain == "pictures" or len(message.string) < TITLE:
                found |= {*str(message.string), *str(message.id)}
    return found


def main(source: Path) -> None:
    fonts = TTCollection(source).fonts
    font = next(each for each in fonts if each["name"].getDebugName(1) == FAMILY)
    options = Options(layout_features=[], hinting=False, desubroutinize=True, name_IDs=["*"])
    subsetter = Subsetter(options)
    subsetter.populate(text="".join(letters()))
    subsetter.subset(font)
    font["head"].modified = font["head"].created  # the same bytes on every day
    font.recalcTimestamp = False
    font.save(TARGET)
    if TARGET.stat().st_size > MAX_BYTES:
        sys.exit(f"{TARGET}: expected at most {MAX_BYTES} bytes, got {TARGET.stat().st_size}")
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SOURCE)
