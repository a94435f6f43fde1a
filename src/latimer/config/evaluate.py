"""The whole configuration of an evaluation."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from latimer.config.base import Section
from latimer.config.data import DataConfig
from latimer.config.decoding import DecodingChanges
from latimer.config.scoring import BleuTokenizer


def _check_device(name: str) -> str:
    if not re.fullmatch(r"auto|cpu|mps|cuda(:\d+)?", name):
        raise ValueError("must be auto, cpu, mps, cuda, or one GPU of several as cuda:1")
    return name


def _check_checkpoint(value: Any) -> Any:
    if value is None:
        raise ValueError("has no value; write checkpoint=...")
    several = isinstance(value, list) and value
    if not all(isinstance(path, str) and path for path in (value if several else [value])):
        raise ValueError("must be a path, or a list of paths, such as [runs/a,runs/b]")
    return value


def _as_list(checkpoint: str | list[str] | None) -> list[str]:
    return [checkpoint] if isinstance(checkpoint, str) else checkpoint or []


Checkpoint = Annotated[str | list[str], BeforeValidator(_check_checkpoint)]
Device = Annotated[str, AfterValidator(_check_device)]


class EvaluateConfig(Section):
    """What ``python evaluate.py`` is told; ``conf/evaluate.yaml`` explains each key.

    Attributes:
        checkpoint: the file to evaluate, or the folder of a run; or several of them.
        average: how many states of each run are averaged, to be evaluated beside its best one; None
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
        comet: the file of a model of COMET that scores as well; None for none.
        report: whether a report is written.
        device: where to compute.
    """

    checkpoint: Checkpoint
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
    comet: Annotated[str, Field(min_length=1)] | None
    report: bool
    device: Device

    @property
    def checkpoints(self) -> list[str]:
        """All that are to be evaluated, as they were written."""
        return _as_list(self.checkpoint)

    @field_validator("average_of")
    @classmethod
    def _is_of_an_average(cls, average_of: str, before: ValidationInfo) -> str:
        if average_of != "newest" and before.data.get("average", 2) is None:
            raise ValueError("says what is averaged; write average=N as well")
        return average_of

    @field_validator("ensemble")
    @classmethod
    def _is_of_one_checkpoint(
        cls, ensemble: list[str] | None, before: ValidationInfo
    ) -> list[str] | None:
        if ensemble is not None and before.data.get("average") is not None:
            raise ValueError("must be null with average=N, which evaluates the mean of the weights")
        if ensemble is not None and len(_as_list(before.data.get("checkpoint"))) > 1:
            raise ValueError("joins one checkpoint; write that one alone: checkpoint=PATH")
        return ensemble
