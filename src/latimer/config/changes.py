"""What may be different in a run that goes on, and what is refused by name."""

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from latimer.config.run import RunConfig
from latimer.errors import LatimerError

RESETTABLE = ("optimizer", "schedule")
MAY_DIFFER = (
    *("mode", "resume", "resume_reset", "runs_folder", "prepared_folder"),
    *(f"trainer.{limit}" for limit in ("max_updates", "max_epochs", "max_time")),
    # The precision that comes of it is compared when the hardware is known.
    *("trainer.accelerator", "trainer.precision"),
    *("trainer.log_every_updates", "trainer.profiler", "batches.loader_workers"),
    *("validation.every_updates", "validation.max_tokens", "validation.patience"),
    *("validation.sample_sentences", "validation.attention_sentences"),
    *(f"checkpoints.{key}" for key in ("best", "newest", "every_updates", "average")),
    *("decoding.max_tokens", "callbacks", "logger"),
    # Where the text is; that it is the same text is found out when it is read.
    *(f"data.{key}" for key in ("format", "train", "validation", "test", "path")),
    *("data.configuration", "data.revision", "tokenizer.file"),
)
"""Keys that neither shape the weights nor change what a score means."""
MEANING_OF_SCORES = ("decoding", "scoring", "validation.bleu_sentences", "checkpoints.monitor")


def refuse_changes(stored: RunConfig, config: RunConfig) -> None:
    """Raises LatimerError if a key differs that shapes the model, its training or its scores.

    The message names every such key, both values, and what to write instead.
    """
    free = (*MAY_DIFFER, *config.resume_reset)
    changes = {
        key: change for key, change in _differences(stored, config) if not _is_under(key, free)
    }
    if not changes:
        return
    lines = [f"{key}={_show(now)}: it has {_show(then)}" for key, (then, now) in changes.items()]
    heading = f"resume={config.resume}: the run can't go on exactly with other values of"
    raise LatimerError("\n  ".join([heading, *lines, *_advice(changes, str(config.resume))]))


def _differences(stored: RunConfig, config: RunConfig) -> Iterator[tuple[str, tuple[Any, Any]]]:
    then, now = (dict(_flat(one.model_dump(mode="json"))) for one in (stored, config))
    for key in {**then, **now}:
        if then.get(key) != now.get(key):
            yield key, (then.get(key), now.get(key))


def _flat(section: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in section.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _is_under(key: str, sections: Collection[str]) -> bool:
    return any(key == section or key.startswith(f"{section}.") for section in sections)


def _show(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _advice(changes: Collection[str], run: str) -> Iterator[str]:
    """What to write instead, once for each kind of change."""
    resets = [name for name in RESETTABLE if any(_is_under(key, [name]) for key in changes)]
    if resets:
        what = {
            "optimizer": "its running means are forgotten",
            "schedule": "the new one starts at its first update",
        }
        effects = "; ".join(f"{name}: {what[name]}" for name in resets)
        yield f"write resume_reset=[{','.join(resets)}] to change it on purpose ({effects})"
    others = [key for key in changes if not _is_under(key, RESETTABLE)]
    if any(_is_under(key, MEANING_OF_SCORES) for key in others):
        yield "its scores so far would mean something else; evaluate.py scores in any other way"
    if any(not _is_under(key, MEANING_OF_SCORES) for key in others):
        yield f"a new run can begin with its weights: init_from={run}"
