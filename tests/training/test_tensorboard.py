"""What TensorBoard shows: the documented tags, over optimizer updates."""

from itertools import pairwise

import pytest
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

from latimer.training import tags
from latimer.training.schedule import learning_rate
from latimer.training.tensorboard import flatten
from toy_run import dotted

TAGS = {*tags.TRAIN_TAGS, *tags.VALIDATION_TAGS}
VALIDATIONS = [30, 60, 90, 120, 130]


def test_the_tags_are_the_documented_ones(good_run):
    """Field case 126."""
    assert {*good_run.events.Tags()["scalars"]} == TAGS
    assert {
        "train/loss",
        "train/nll",
        "train/learning_rate",
        "train/grad_norm",
        "train/tokens_per_second",
        "train/padding",
        "val/nll",
        "val/perplexity",
        "val/bleu",
        "val/chrf",
        "val/length_ratio",
    } == TAGS
    assert good_run.events.Tags()["tensors"] == [f"{tags.SAMPLES}/text_summary"]


def test_the_x_axis_counts_updates(good_run):
    """Field cases 120 and 125: text included; the first update is shown as well (123)."""
    for tag in tags.TRAIN_TAGS:
        assert list(good_run.curve(tag)) == [1, 20, 40, 60, 80, 100, 120]
    for tag in tags.VALIDATION_TAGS:
        assert list(good_run.curve(tag)) == VALIDATIONS
    texts = good_run.events.Tensors(f"{tags.SAMPLES}/text_summary")
    assert [event.step for event in texts] == VALIDATIONS
    for tag in TAGS:
        steps = [event.step for event in good_run.events.Scalars(tag)]
        assert all(before < after for before, after in pairwise(steps))


def test_the_x_axis_counts_updates_and_not_batches(run):
    """Field cases 59 and 125."""
    accumulated = run(batches__accumulation=4, trainer__log_every_updates=1)
    for tag in tags.TRAIN_TAGS:
        assert list(accumulated.curve(tag)) == [1, 2, 3, 4, 5, 6]
    for tag in tags.VALIDATION_TAGS:
        assert list(accumulated.curve(tag)) == [3, 6]


def test_the_learning_rates_are_those_of_the_formula(good_run):
    """Field cases 56 to 58."""
    for update, rate in good_run.curve("train/learning_rate").items():
        formula = learning_rate(good_run.config.schedule, update, d_model=32)
        assert rate == pytest.approx(formula, rel=1e-6)


def test_the_first_rates_of_the_papers_schedule(run):
    """Field cases 56 and 57: no two equal ones, and the first is that of update 1."""
    schedule = {"kind": "paper", "warmup_updates": 4000, "factor": 1.0}
    rates = run(schedule=schedule, model__d_model=512, trainer__log_every_updates=1)
    curve = rates.curve("train/learning_rate")
    assert curve == pytest.approx({n: n * 1.746928e-07 for n in range(1, 7)}, rel=1e-6)


def test_a_sample_is_shown_with_its_source_and_its_reference(good_run):
    text = good_run.events.Tensors(f"{tags.SAMPLES}/text_summary")[-1].tensor_proto.string_val[0]
    header, _, *rows = text.decode().split("\n")
    assert header == "| source | reference | hypothesis |"
    source = (good_run.folder.parents[2] / "validation.en").read_text("utf-8").split("\n")
    reference = (good_run.folder.parents[2] / "validation.de").read_text("utf-8").split("\n")
    assert len(rows) == good_run.config.validation.sample_sentences == 2
    for row, number in zip(rows, (0, 6), strict=True):
        assert row.startswith(f"| {source[number]} | {reference[number]} | ")


def session_start(run):
    metadata = run.events.SummaryMetadata("_hparams_/session_start_info")
    return HParamsPluginData.FromString(metadata.plugin_data.content).session_start_info


def test_the_hyper_parameters_have_flat_keys_and_metrics(good_run):
    """Field case 124."""
    written = dict(session_start(good_run).hparams)
    settings = dotted(good_run.config.model_dump(mode="json"))
    assert {*written} == {key for key, value in settings.items() if value not in (None, {})}
    assert written["model.d_model"].number_value == 32
    assert written["model.norm_position"].string_value == "post"
    experiment = good_run.events.SummaryMetadata("_hparams_/experiment").plugin_data.content
    metrics = HParamsPluginData.FromString(experiment).experiment.metric_infos
    assert {metric.name.tag for metric in metrics} == {"val/bleu", "val/nll"}


def test_flattening():
    nested = {"a": 1, "b": {"c": 0.5, "d": {"e": True}}, "f": ["x", "y"], "g": {}, "h": None}
    assert flatten(nested) == {"a": 1, "b.c": 0.5, "b.d.e": True, "f": "['x', 'y']", "h": None}


def test_the_curves_hold_what_the_checkpoints_hold(good_run):
    for name in ("best", "last"):
        about = good_run.checkpoints[name]["latimer"]
        curves = {tag: good_run.curve(tag)[about["updates"]] for tag in tags.VALIDATION_TAGS}
        assert about["scores"] == pytest.approx(curves, rel=1e-6)  # events are in float32
