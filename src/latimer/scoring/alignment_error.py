"""How far alignments are from those that a person made (Och and Ney, 2003)."""

from collections.abc import Iterable, Set
from dataclasses import dataclass

Link = tuple[int, int]


@dataclass(frozen=True)
class GoldAlignment:
    """The links of a pair of sentences, source word and target word, as a person sees them.

    Attributes:
        sure: those that anybody would draw.
        possible: those besides that are right as well, as in idioms and free renderings.
    """

    sure: Set[Link]
    possible: Set[Link] = frozenset()


def alignment_error_rate(gold: Iterable[GoldAlignment], found: Iterable[Set[Link]]) -> float:
    """AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|) over a whole corpus; 0 is best and 1 worst.

    S are the sure links, P the sure and the possible ones, A those that were found.

    Raises:
        ValueError: not as many sentences on either side, or neither sure nor found links.
    """
    right = total = 0
    for wanted, links in zip(gold, found, strict=True):
        allowed = wanted.sure | wanted.possible
        right += len(links & wanted.sure) + len(links & allowed)
        total += len(links) + len(wanted.sure)
    if not total:
        raise ValueError("there are neither sure nor found links")
    return 1 - right / total
