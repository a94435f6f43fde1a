"""The whole configuration of an evaluation."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from latimer.config.base import Section
from latimer.config.data import DataConfig
from latimer.config.decoding import DecodingChanges
from latimer.config.scoring import BleuTokenizer


def _check_device(name: str) -> str:
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise ValueError("must be auto, cpu, mps, cuda, or one GPU of several as cuda:1")
    return name


Device = Annotated[str, AfterValidator(_check_device)]


class EvaluateConfig(Section):
    """What ``python evaluate.py`` is told; ``conf/evaluate.yaml`` explains each key.

    Attributes:
        checkpoint: the file to evaluate, or the folder of a run.
        average: how many states of the run are averaged, to be evaluated beside its best one; None
            for no average.
        average_of: which of its states: the newest, or those with the best scores.
        ensemble: further checkpoints that translate together with it; None for none.
        data: other test sets than those of the checkpoint's own run.
        decoding: what to change in the search that the checkpoint was trained with.
        test_sets: names of the test sets to score; None for all.
        output_folder: where the results go; None for ``evaluation`` in the run's folder.
        bootstrap: resamplings behind the 95% intervals; 0 for none.
        bleu_tokenizer: sacrebleu's tokenizer; None for that of the checkpoint's run.
        lowercase: whether BLEU, chrF and TER ignore case; None for what its run did.
        device: where to compute.
    """

    checkpoint: str = Field(min_length=1)
    average: Annotated[int, Field(ge=2)] | None
    average_of: Literal["newest", "best"]
    ensemble: Annotated[list[str], Field(min_length=1)] | None
    data: DataConfig | None
    decoding: DecodingChanges
    test_sets: Annotated[list[str], Field(min_length=1)] | None
    output_folder: str | None
    bootstrap: int = Field(ge=0)
    bleu_tokenizer: BleuTokenizer | None
    lowercase: bool | None
    device: Device

    @field_validator("average_of")
    @classmethod
    def _is_of_an_average(cls, average_of: str, before: ValidationInfo) -> str:
        if average_of != "newest" and before.data.get("average", 2) is None:
            raise ValueError("says what is averaged; write average=N as well")
        return average_of

    @field_validator("ensemble")
    @classmethod
    def _is_of_single_states(
        cls, ensemble: list[str] | None, before: ValidationInfo
    ) -> list[str] | None:
        if ensemble is not None and before.data.get("average") is not None:
            raise ValueError("must be null with average=N, which evaluates the mean of the weights")
        return ensemble
