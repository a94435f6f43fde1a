"""Where Wycliffe counts verses otherwise than the World English Bible.

Wycliffe follows the Vulgate, which begins some chapters earlier or later and cuts some verses
elsewhere. Inside the stretches below, three verses or more or the seam of two chapters, the same
words carry other numbers. They were found by aligning the two texts word by word, and read.

A verse's id spells book, chapter and verse: 4_013_001 is Numbers 13:1.
"""

from itertools import pairwise

# (first verse and last verse of the World English Bible, what to add for Wycliffe's id)
STRETCHES = (
    (1_050_024, 1_050_026, -1),
    (2_039_021, 2_039_028, -2),
    (2_039_029, 2_039_038, -1),
    (2_040_016, 2_040_038, -2),
    (3_013_009, 3_013_011, -1),
    (3_015_024, 3_015_033, -1),
    (4_012_016, 4_012_016, +985),
    (4_013_001, 4_013_033, +1),
    (6_021_038, 6_021_045, -2),
    (9_023_029, 9_023_029, +972),
    (9_024_001, 9_024_022, +1),
    (11_022_044, 11_022_053, +1),
    (16_012_035, 16_012_047, -1),
    (18_016_005, 18_016_022, +1),
    (18_040_001, 18_040_005, -970),
    (18_040_006, 18_040_024, -5),
    (18_041_001, 18_041_009, -981),
    (18_041_010, 18_041_034, -9),
    (21_005_001, 21_005_001, -984),
    (21_005_002, 21_005_020, -1),
    (21_006_012, 21_006_012, +989),
    (21_007_001, 21_007_029, +1),
    (22_001_002, 22_001_017, -1),
    (22_006_001, 22_006_001, -984),
    (22_006_002, 22_006_012, -1),
    (24_037_006, 24_037_021, -1),
    (27_003_024, 27_003_030, +67),
    (27_004_001, 27_004_003, -903),
    (27_004_004, 27_004_037, -3),
    (28_013_016, 28_013_016, +985),
    (28_014_001, 28_014_009, +1),
    (30_006_011, 30_006_014, +1),
    (32_001_017, 32_001_017, +984),
    (32_002_001, 32_002_010, +1),
    (33_005_013, 33_005_015, -1),
    (37_001_015, 37_001_015, +986),
    (37_002_001, 37_002_023, +1),
    (40_017_016, 40_017_027, -1),
    (41_009_001, 41_009_001, -962),
    (41_009_002, 41_009_050, -1),
    (43_006_052, 43_006_071, +1),
    (44_007_057, 44_007_060, -1),
    (44_014_008, 44_014_028, -1),
    (52_004_013, 52_004_018, -1),
    (53_002_012, 53_002_017, -1),
)


def same_verses(world_english: set[int], wycliffe: set[int]) -> dict[int, int]:
    """Pairs the verse ids of the two Bibles.

    A verse also goes unpaired when the next one of either Bible has no counterpart: the text of
    that one is then mostly part of this verse in the other Bible.

    Returns:
        Wycliffe's id for each verse of the World English Bible that says the same, in order.
    """
    moved = {
        verse: verse + shift for first, last, shift in STRETCHES for verse in range(first, last + 1)
    }
    taken = set(moved.values())
    pairs = {
        verse: moved.get(verse, verse)
        for verse in sorted(world_english)
        if moved.get(verse, verse) in wycliffe and (verse in moved or verse not in taken)
    }
    before_a_gap = _before_missing(world_english, set(pairs))
    before_an_addition = _before_missing(wycliffe, set(pairs.values()))
    return {
        verse: other
        for verse, other in pairs.items()
        if verse not in before_a_gap and other not in before_an_addition
    }


def _before_missing(verses: set[int], paired: set[int]) -> set[int]:
    """The verses whose successor in reading order is not paired."""
    order = sorted(verses)
    return {verse for verse, following in pairwise(order) if following not in paired}
