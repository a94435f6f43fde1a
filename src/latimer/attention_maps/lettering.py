"""Writing the pieces of any language, as far as this machine has fonts for it."""

from collections.abc import Iterable, Iterator

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager, get_font

OWN_FONT = "DejaVu Sans"  # comes with matplotlib, and has the ▁ of SentencePiece
REGULAR = 400
BOXES_ALONE = "Last Resort"  # comes with it too, and has an empty box for every character


class Lettering:
    """The fonts that some pieces need, and how the pieces are spelled in them.

    A character that is invisible, or that no installed font has, is spelled ``U+4F60``.

    Args:
        pieces: all that is to be written.
        size: in points.
        dpi: of the picture; letters are fitted to its pixels, and so their widths depend on it.

    Attributes:
        font: for matplotlib.
    """

    def __init__(self, pieces: Iterable[str], *, size: float, dpi: int) -> None:
        self._dpi = dpi
        missing = {c for piece in pieces for c in piece if c.isprintable()}
        families = []
        self._drawable: set[str] = set()
        for family, path in _fonts():
            if not missing:
                break
            glyphs = get_font(path).get_charmap()
            found = {c for c in missing if ord(c) in glyphs}
            if found:
                families.append(family)
                missing -= found
                self._drawable |= found
        self.font = FontProperties(family=families or [OWN_FONT], size=size)

    def spell(self, piece: str) -> str:
        """The piece as it is drawn."""
        return "".join(c if c in self._drawable else f"U+{ord(c):04X}" for c in piece)

    def width(self, texts: Iterable[str]) -> float:
        """The width of the longest text, in inches."""
        page = Figure(dpi=self._dpi)
        drawn = [page.text(0, 0, text, font=self.font, parse_math=False) for text in {*texts}]
        return max(text.get_window_extent().width for text in drawn) / self._dpi


def _fonts() -> Iterator[tuple[str, str]]:
    """Family and file of every upright, regular font, matplotlib's own one first."""
    regular = {
        entry.name
        for entry in fontManager.ttflist
        if entry.style == "normal" and entry.weight == REGULAR and BOXES_ALONE not in entry.name
    }
    for family in [OWN_FONT, *sorted(regular - {OWN_FONT})]:
        yield family, findfont(FontProperties(family=family))
