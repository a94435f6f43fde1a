"""The whole configuration of a training run."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from latimer.config.base import FolderName, Section
from latimer.config.data import TrainingDataConfig
from latimer.config.decoding import AnyDecodingConfig
from latimer.config.model import ModelConfig
from latimer.config.optimizer import OptimizerConfig
from latimer.config.schedule import (
    CosineSchedule,
    LinearSchedule,
    PaperSchedule,
    ScheduleConfig,
)
from latimer.config.scoring import ScoringConfig
from latimer.config.tokenizer import TokenizerConfig
from latimer.config.training import (
    BatchesConfig,
    CheckpointsConfig,
    LossConfig,
    TrainerConfig,
    ValidationConfig,
)

SMALLEST_PLAUSIBLE_FACTOR = 0.05


def _names_a_class(plug_in: dict[str, Any]) -> dict[str, Any]:
    if "_target_" not in plug_in:
        raise ValueError("needs a key _target_, the dotted name of the class to make")
    return plug_in


PlugIns = dict[str, Annotated[dict[str, Any], AfterValidator(_names_a_class)]]
"""Objects of other libraries by a name of the user's: ``_target_`` and the arguments of it."""


class RunConfig(Section):
    """What ``python train.py`` is told; ``conf/train.yaml`` explains each key.

    Attributes:
        name: what the run is called: a folder in ``runs_folder``.
        seed: of every random choice.
        mode: what to do if ``run_folder`` holds a run already.
        resume: the folder of a run that goes on, exactly; its own configuration is used then.
        resume_reset: what a resumed run forgets on purpose.
        init_from: a checkpoint whose weights and tokenizers a new run begins with.
        init_from_partial: a checkpoint of which a new run takes the weights that fit.
        freeze: patterns of parameter names that are not trained.
        dry_run: whether to check and measure only, and write nothing.
        run_folder: where the run's files go; None for ``<runs_folder>/<name>/<date>_<time>``.
        sweep_folder: of a sweep's command alone; None in a run and in each job of a sweep.
        runs_folder: where runs are kept.
        prepared_folder: where prepared corpora are kept, to be found again.
        data: the corpus.
        tokenizer: how it is cut into pieces.
        model: the network.
        optimizer: what applies the gradients.
        schedule: the learning rate.
        trainer: device and limits.
        loss: the training loss.
        batches: their sizes.
        validation: what is measured while training.
        checkpoints: which states are kept.
        decoding: the search of validation and evaluation.
        callbacks: Lightning callbacks of other libraries.
        logger: Lightning loggers.
        scoring: how validation and the final evaluation count.
    """

    name: FolderName
    seed: int = Field(ge=0, lt=2**32)
    mode: Literal["new", "overwrite"]
    resume: str | None
    resume_reset: list[Literal["optimizer", "schedule"]]
    init_from: str | None
    init_from_partial: str | None
    freeze: list[str]
    dry_run: bool
    run_folder: str | None
    sweep_folder: str | None
    runs_folder: str
    prepared_folder: str
    data: TrainingDataConfig
    tokenizer: TokenizerConfig
    model: ModelConfig
    optimizer: OptimizerConfig
    schedule: ScheduleConfig
    trainer: TrainerConfig
    loss: LossConfig
    batches: BatchesConfig
    validation: ValidationConfig
    checkpoints: CheckpointsConfig
    decoding: AnyDecodingConfig
    scoring: ScoringConfig
    callbacks: PlugIns
    logger: PlugIns

    @field_validator("resume_reset")
    @classmethod
    def _is_of_a_resumed_run(cls, reset: list[str], before: ValidationInfo) -> list[str]:
        if reset and before.data.get("resume", "") is None:
            raise ValueError("is for a run that goes on; write resume=RUN_FOLDER too")
        return reset

    @field_validator("init_from_partial")
    @classmethod
    def _is_the_only_beginning(cls, partial: str | None, before: ValidationInfo) -> str | None:
        if partial is not None and before.data.get("init_from") is not None:
            raise ValueError(
                "a run begins with all weights of a checkpoint (init_from), or with those that fit "
                "(init_from_partial); write one of the two"
            )
        return partial

    @field_validator("dry_run")
    @classmethod
    def _is_of_a_new_run(cls, dry_run: bool, before: ValidationInfo) -> bool:
        if dry_run and before.data.get("resume") is not None:
            raise ValueError("is for new runs; leave resume away to measure one like it")
        return dry_run

    @field_validator("sweep_folder")
    @classmethod
    def _is_no_sweep(cls, sweep_folder: str | None) -> None:
        if sweep_folder is not None:
            raise ValueError("is for sweeps; write -m too, or run_folder=... for a single run")

    @field_validator("model")
    @classmethod
    def _has_enough_positions(cls, model: ModelConfig, before: ValidationInfo) -> ModelConfig:
        longest = _longest(before)
        if model.max_length is not None and model.max_length < longest:
            raise ValueError(
                f"max_length={model.max_length} must be at least data.cleaning.max_length={longest}"
            )
        return model

    @field_validator("model")
    @classmethod
    def _shares_what_is_joint(cls, model: ModelConfig, before: ValidationInfo) -> ModelConfig:
        tokenizer = before.data.get("tokenizer")
        if model.tying == "all" and tokenizer is not None and tokenizer.vocabulary == "separate":
            raise ValueError(
                "tying=all shares one matrix between source and target, whose vocabularies are "
                "not the same; write model.tying=decoder or tokenizer.vocabulary=joint"
            )
        return model

    @field_validator("batches")
    @classmethod
    def _have_room(cls, batches: BatchesConfig, before: ValidationInfo) -> BatchesConfig:
        longest = _longest(before)
        if batches.max_tokens < longest:
            raise ValueError(
                f"max_tokens={batches.max_tokens} must be at least data.cleaning.max_length="
                f"{longest}, so that every pair fits into a batch"
            )
        return batches


def _longest(before: ValidationInfo) -> int:
    """The most pieces that a training sentence can have; 0 if the data are a mistake themselves."""
    data = before.data.get("data")
    return data.cleaning.max_length if data is not None else 0


def warnings(config: RunConfig) -> list[str]:
    """What is allowed, but seldom meant."""
    schedule, limit = config.schedule, config.trainer.max_updates
    found = []
    if config.model.norm_position == "post" and schedule.warmup_updates == 0:
        found.append(
            "model.norm_position=post without warm-up often diverges or sticks; "
            "schedule.warmup_updates=4000 is the paper's"
        )
    if isinstance(schedule, PaperSchedule) and schedule.factor < SMALLEST_PLAUSIBLE_FACTOR:
        found.append(
            f"schedule.factor={schedule.factor} multiplies the paper's formula; for a rate write "
            "schedule=inverse_square_root schedule.rate=..."
        )
    if limit is not None and limit < schedule.warmup_updates:
        found.append(
            f"schedule.warmup_updates={schedule.warmup_updates} is more than "
            f"trainer.max_updates={limit}: the peak rate is never reached"
        )
    elif limit is not None and isinstance(schedule, LinearSchedule | CosineSchedule):
        found.extend(_decay_warnings(schedule, limit))
    return found


def _decay_warnings(schedule: LinearSchedule | CosineSchedule, limit: int) -> list[str]:
    decay, final = schedule.decay_updates, f"schedule.final_rate={schedule.final_rate:g}"
    if decay > limit:
        return [
            f"schedule.decay_updates={decay} is more than trainer.max_updates={limit}: {final} is "
            "never reached"
        ]
    if decay < limit:
        return [
            f"schedule.decay_updates={decay} is less than trainer.max_updates={limit}: the last "
            f"{limit - decay} updates stay at {final}"
        ]
    return []
