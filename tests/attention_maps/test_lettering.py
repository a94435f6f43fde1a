"""Whatever a piece holds, it can be written."""

import pytest
from matplotlib.font_manager import findfont, get_font

from latimer.attention_maps.lettering import Lettering


def characters(family):
    return set(get_font(findfont(family)).get_charmap())


def lettering(*pieces):
    return Lettering(pieces, size=7.0, dpi=150)


@pytest.mark.parametrize("piece", ["▁the", "naïve", "▁Øre", "<0xE2>", "<unk>", "</s>", "$x_1$", ""])
def test_what_the_own_font_has_is_written_in_it(piece):
    letters = lettering(piece)
    assert letters.font.get_family() == ["DejaVu Sans"]
    assert letters.spell(piece) == piece


def test_what_the_own_font_lacks_is_written_in_another_one():
    # both come with matplotlib
    code = min(characters("STIXGeneral") - characters("DejaVu Sans"))
    assert chr(code).isprintable()
    letters = lettering("▁a", chr(code))
    assert letters.spell(f"a{chr(code)}") == f"a{chr(code)}"
    own, other = letters.font.get_family()
    assert own == "DejaVu Sans"
    assert code in characters(other)


def test_what_no_font_has_is_written_by_its_number(monkeypatch):
    monkeypatch.setattr(
        "latimer.attention_maps.lettering._fonts",
        lambda: iter([("DejaVu Sans", findfont("DejaVu Sans"))]),
    )
    assert lettering("▁你a").spell("▁你a") == "▁U+4F60a"
    assert lettering("你").font.get_family() == ["DejaVu Sans"]


@pytest.mark.parametrize("invisible", ["\u200b", "\x07", "\n", "\u00a0", "\u2028", "\ue000"])
def test_what_cannot_be_seen_is_written_by_its_number(invisible):
    assert lettering(f"a{invisible}b").spell(f"a{invisible}b") == f"aU+{ord(invisible):04X}b"


def test_widths_are_those_of_the_longest_text():
    letters = lettering("abc", "abcdef", "i")
    assert letters.width(["abc", "abcdef", "i"]) == letters.width(["abcdef"])
    assert letters.width(["i"]) < letters.width(["abc"]) < letters.width(["abcdef"]) < 1.0
