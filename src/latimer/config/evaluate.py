"""The whole configuration of an evaluation."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from latimer.config.base import Section
from latimer.config.data import DataConfig
from latimer.config.decoding import DecodingChanges

BleuTokenizer = Literal[
    "13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none", "flores101", "flores200"
]


def _check_device(name: str) -> str:
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise ValueError("must be auto, cpu, mps, cuda, or one GPU of several as cuda:1")
    return name


Device = Annotated[str, AfterValidator(_check_device)]


class EvaluateConfig(Section):
    """What ``python evaluate.py`` is told; ``conf/evaluate.yaml`` explains each key.

    Attributes:
        checkpoint: the file to evaluate.
        data: other test sets than those of the checkpoint's own run.
        decoding: what to change in the search that the checkpoint was trained with.
        test_sets: names of the test sets to score; None for all.
        output_folder: where the results go; None for ``evaluation`` in the run's folder.
        bootstrap: resamplings behind the 95% intervals; 0 for none.
        bleu_tokenizer: sacrebleu's tokenizer; None for the target language's.
        lowercase: whether BLEU, chrF and TER ignore case.
        device: where to compute.
    """

    checkpoint: str = Field(min_length=1)
    data: DataConfig | None
    decoding: DecodingChanges
    test_sets: Annotated[list[str], Field(min_length=1)] | None
    output_folder: str | None
    bootstrap: int = Field(ge=0)
    bleu_tokenizer: BleuTokenizer | None
    lowercase: bool
    device: Device
