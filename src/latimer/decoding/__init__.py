"""From a model and source ids to hypotheses: beam search, sampling, the scoring of given targets.

Letters of shapes as in :mod:`latimer.model`: **B** sentences, **S** source length, **T** target
length, **V** pieces in the vocabulary, **K** beams; here also **N** hypotheses kept a sentence and
**t** pieces of a hypothesis so far.
"""

from latimer.decoding.beam_search import beam_search
from latimer.decoding.ensemble import Ensemble
from latimer.decoding.forced import force_decode
from latimer.decoding.hypotheses import Hypothesis
from latimer.decoding.protocol import AttentiveModel, Cache, TranslationModel
from latimer.decoding.sampling import sample
from latimer.decoding.settings import SamplingSettings, SearchSettings, SpecialIds

__all__ = [
    "AttentiveModel",
    "Cache",
    "Ensemble",
    "Hypothesis",
    "SamplingSettings",
    "SearchSettings",
    "SpecialIds",
    "TranslationModel",
    "beam_search",
    "force_decode",
    "sample",
]
