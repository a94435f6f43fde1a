"""How a model is trained: on what, until when, in which batches, and how it is watched."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from latimer.config.base import Section

Count = Annotated[int, Field(ge=1)]
LIMITS = ("max_updates", "max_epochs", "max_time")
LOWER_IS_BETTER = ("val/nll", "val/perplexity")


def _check_time(text: str) -> str:
    if not re.fullmatch(r"\d\d:[0-5]\d:[0-5]\d", text) or text == "00:00:00":
        raise ValueError("must be a time as HH:MM:SS, such as 01:30:00")
    return text


Time = Annotated[str, AfterValidator(_check_time)]


class TrainerConfig(Section):
    """Device, precision, and when to stop; at least one limit is given, the first one ends it.

    Attributes:
        accelerator: where to compute.
        devices: processes that train together on this machine, each on a device of its own.
        precision: of the matrix products; weights and sums stay in float32.
        max_updates: optimizer updates, or None.
        max_epochs: passes over the training split, or None.
        max_time: "HH:MM:SS" of training, or None.
        gradient_clip: largest Euclidean norm of the gradient, or None.
        profiler: Lightning's profiler, or None.
        log_every_updates: optimizer updates between two entries in the logs.
    """

    accelerator: Literal["auto", "cpu", "gpu", "mps"]
    devices: Count
    precision: Literal["auto", "float32", "bf16-mixed", "float16-mixed"]
    max_updates: Count | None
    max_epochs: Count | None
    max_time: Time | None
    gradient_clip: Annotated[float, Field(gt=0)] | None
    profiler: Literal["simple", "advanced", "pytorch"] | None
    log_every_updates: Count

    @field_validator("max_time")
    @classmethod
    def _ends_some_time(cls, max_time: str | None, before: ValidationInfo) -> str | None:
        # A limit that is itself a mistake is missing from the data: it was meant to be one.
        others = [before.data.get(name, "given") for name in LIMITS[:-1]]
        if max_time is None and others == [None, None]:
            raise ValueError(
                f"give at least one limit: {', '.join(f'trainer.{n}' for n in LIMITS)}"
            )
        return max_time


class LossConfig(Section):
    """The training loss (section 5.4).

    Attributes:
        label_smoothing: ε, the probability spread evenly over the vocabulary.
    """

    label_smoothing: float = Field(ge=0, lt=1)


class BatchesConfig(Section):
    """Batches of similar length; ``accumulation`` of them make one update.

    Attributes:
        max_tokens: padded cells of a batch's longer side: sentences times the longest's pieces.
        accumulation: batches of one optimizer update, in each process.
        loader_workers: processes that prepare batches; 0 prepares them in the training process.
    """

    max_tokens: Count
    accumulation: Count
    loader_workers: int = Field(ge=0)


class ValidationConfig(Section):
    """What is measured while training.

    Attributes:
        every_updates: optimizer updates between two validations, across epochs.
        bleu_sentences: size of the evenly spaced subset that is translated for BLEU.
        sample_sentences: translations shown at each validation.
        attention_sentences: pairs whose cross-attention is drawn at each validation.
        max_tokens: as in BatchesConfig, for the loss on the validation set.
        patience: validations without a better ``checkpoints.monitor`` that end the training; None
            for no such end.
    """

    every_updates: Count
    bleu_sentences: Count
    sample_sentences: int = Field(ge=0)
    attention_sentences: int = Field(ge=0)
    max_tokens: Count
    patience: Count | None


class CheckpointsConfig(Section):
    """Which states of a run are kept, and averaged at its end (section 6.1).

    Attributes:
        monitor: the validation score by which the best checkpoint is chosen; its direction follows
            from it.
        best: how many states are kept that had the best scores; best.ckpt is the first of them.
        newest: how many of the newest ``step_*.ckpt`` files are kept; 0 for none.
        every_updates: optimizer updates between two of them.
        average: which of the kept states are averaged at the end.
    """

    monitor: Literal["val/bleu", "val/chrf", "val/nll", "val/perplexity"]
    best: Count
    newest: Annotated[int, Field(ge=0)]
    every_updates: Count
    average: Literal["newest", "best", "none"]

    @field_validator("average")
    @classmethod
    def _has_states_to_average(cls, average: str, before: ValidationInfo) -> str:
        if average == "best" and before.data.get("best", 2) < 2:
            raise ValueError(
                "averages the checkpoints.best states with the best scores; write "
                "checkpoints.best=2 or more, or checkpoints.average=newest"
            )
        return average


def lower_is_better(monitor: str) -> bool:
    """The direction of a validation score: whether small values of it are the good ones."""
    return monitor in LOWER_IS_BETTER
