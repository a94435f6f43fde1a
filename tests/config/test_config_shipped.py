"""Every file in ``conf/`` works in every entry point, explains itself, and is complete."""

import importlib
import json
import re
from itertools import product
from pathlib import Path

import pytest

from latimer.config.compose import plain
from latimer.config.evaluate import EvaluateConfig
from latimer.config.names import known_keys
from latimer.config.run import RunConfig

CONF = Path(__file__).parents[2] / "conf"
FILES = sorted(path for path in CONF.rglob("*.yaml") if path.parent.name != "local")
NEEDED = {
    "data=files": [
        "data.source_language=en",
        "data.target_language=de",
        "data.train.file=train.tsv",
        "data.validation.file=validation.tsv",
        "data.test.mine.source=test.en",
        "data.test.mine.target=test.de",
    ]
}
"""What an option can't know."""


def options(group: str, files: str = "*.yaml") -> list[str]:
    paths = sorted((CONF / group).glob(files))
    return [f"{group}={path.relative_to(CONF / group).with_suffix('')}" for path in paths]


EXPERIMENTS = options("experiment") + options("experiment", "*/*.yaml")


def all_options() -> list[str]:
    groups = {path.parent.name for path in FILES if path.parent.parent == CONF}
    others = sorted(groups - {"hydra", "experiment"})
    return [option for group in others for option in options(group)] + EXPERIMENTS


def file_name(path: Path) -> str:
    return str(path.relative_to(CONF))


# field case 137
@pytest.mark.parametrize("option", all_options())
def test_every_option_makes_a_run(train_config, option):
    train_config(option, *NEEDED.get(option, []))


@pytest.mark.parametrize("option", options("data") + options("decoding"))
def test_every_option_makes_an_evaluation(evaluation_config, option):
    evaluation_config("checkpoint=best.ckpt", option, *NEEDED.get(option, []))


# Of the rescues, overfit alone chooses options of groups; a sample is enough for the others.
@pytest.mark.parametrize(
    ("experiment", "debug"),
    [
        *product(EXPERIMENTS, ["debug=overfit"]),
        *product(options("experiment"), ["debug=limit", "debug=profile"]),
    ],
)
def test_every_experiment_can_be_debugged(train_config, experiment, debug):
    name = debug.removeprefix("debug=")
    assert train_config(experiment, debug).name == f"debug-{name}"


# field case 136
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_single_keys_win_over_experiments_and_these_over_groups(train_config, settings, experiment):
    assert train_config(experiment).trainer.max_updates != settings()["trainer"]["max_updates"]
    tiny = train_config(experiment, "model=tiny", "model.d_model=32").model
    assert tiny.d_model == 32
    assert tiny.d_ff == 256 or tiny.encoder_layers == 4  # no experiment sets both by itself


# field case 140
def test_no_file_chooses_a_launcher():
    for path in FILES:
        assert not re.search("^[^#]*launcher", path.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=file_name)
def test_every_file_begins_with_the_command_that_runs_it(path):
    head = path.read_text(encoding="utf-8").partition("\n\n")[0]
    assert re.search(r"^#\s+python (train|evaluate)\.py", head, re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=file_name)
def test_every_key_is_explained_in_place(path):
    assert unexplained(path.read_text(encoding="utf-8")) == []


def unexplained(text: str) -> list[str]:
    """The lines that set a key that has a comment neither behind nor above it, here or before.

    Of a block of text only the key is looked at; "format" is what the whole file is about.
    """
    without_blocks = re.sub(r"(: \|.*\n)( {6,}.*\n| *\n)*", r"\1", text)
    found, explained, before = [], {"defaults", "format"}, ""
    for line in without_blocks.split("\n"):
        if key := re.match(r"[\s-]*([\w /]+):( |$)", line):
            explained |= {key[1]} if "#" in line or before.startswith("#") else set()
            found += [] if key[1] in explained else [line]
        before = line.strip()
    return found


def test_the_search_for_explanations_finds_what_has_none():
    text = "a: 1  # one\nb: 2\n# three\nc: 3\nd:\n  - e: 1\n  f: |  # six\n      not: this\na: 2\n"
    assert unexplained(text) == ["b: 2", "d:", "  - e: 1"]
    assert unexplained("a: |\n      text: 1\n\nb: 2\n") == ["a: |", "b: 2"]


# The YAML files are the reference manual.
@pytest.mark.parametrize(("script", "schema"), [("train", RunConfig), ("evaluate", EvaluateConfig)])
def test_every_key_stands_in_a_file(composed, script, schema):
    written = dotted(plain(composed(script)))
    groups = {"train": ["data", "decoding", "optimizer", "schedule"]}
    groups["evaluate"] = groups["train"][:2]
    for option in [one for group in groups[script] for one in options(group)]:
        written |= dotted(plain(composed(script, option)))
    assert set(known_keys(schema)) <= written


def dotted(section: dict, prefix: str = "") -> set[str]:
    keys = set()
    for key, value in section.items():
        keys.add(prefix + key)
        if isinstance(value, dict):
            keys |= dotted(value, f"{prefix}{key}.")
    return keys


# field case 135
def test_settings_are_plain_enough_for_json(train_config):
    settings = train_config("data=multi30k", "logger=csv").model_dump(mode="json")
    assert json.loads(json.dumps(settings)) == settings


@pytest.mark.parametrize("option", options("callbacks") + options("logger"))
def test_plug_ins_exist(train_config, option):
    config = train_config(option)
    for section in {**config.callbacks, **config.logger}.values():
        module, _, name = section["_target_"].rpartition(".")
        assert callable(getattr(importlib.import_module(module), name))


# sections 3 and 5 of the paper, and its Table 3
@pytest.mark.parametrize(
    ("model", "sizes"),
    [
        ("tiny", (4, 4, 128, 256, 4, 0.3)),
        ("small", (3, 3, 256, 1024, 4, 0.1)),
        ("base", (6, 6, 512, 2048, 8, 0.1)),
        ("big", (6, 6, 1024, 4096, 16, 0.3)),
    ],
)
def test_models_have_the_sizes_that_their_names_stand_for(train_config, model, sizes):
    made = train_config(f"model={model}").model
    found = (made.encoder_layers, made.decoder_layers, made.d_model, made.d_ff, made.heads)
    assert (*found, made.dropout) == sizes
    kinds = (made.norm_position, made.norm, made.positions, made.tying)
    assert kinds == ("post", "layer", "sinusoidal", "all")


@pytest.mark.parametrize("recipe", ["base_en_de", "big_en_de", "base_en_fr", "big_en_fr"])
def test_the_recipes_are_the_papers(train_config, recipe):
    config = train_config(f"experiment=paper/{recipe}")
    assert (config.schedule.kind, config.schedule.warmup_updates) == ("paper", 4000)
    assert config.schedule.factor == 1.0
    optimizer = config.optimizer
    assert (optimizer.beta1, optimizer.beta2, optimizer.epsilon) == (0.9, 0.98, 1e-9)
    assert config.loss.label_smoothing == 0.1
    assert config.batches.max_tokens * config.batches.accumulation == 25000
    assert config.trainer.gradient_clip is None
    assert (config.tokenizer.model_type, config.tokenizer.vocabulary) == ("bpe", "joint")
    assert (config.decoding.beam_size, config.decoding.length_penalty) == (4, 0.6)
    assert (config.decoding.max_length_factor, config.decoding.max_length_offset) == (1.0, 50)


# sections 5.1, 5.2 and 6.1
@pytest.mark.parametrize(
    ("recipe", "dropout", "updates", "averaged", "seconds_an_update"),
    [
        ("base_en_de", 0.1, 100_000, 5, 0.4),
        ("big_en_de", 0.3, 300_000, 20, 1.0),
        ("base_en_fr", 0.1, 100_000, 5, 0.4),
        ("big_en_fr", 0.1, 300_000, 20, 1.0),
    ],
)
def test_what_the_recipes_differ_in(
    train_config, recipe, dropout, updates, averaged, seconds_an_update
):
    config = train_config(f"experiment=paper/{recipe}")
    languages = f"{config.data.source_language}_{config.data.target_language}"
    assert recipe.endswith(languages)
    pieces = {"en_de": 37_000, "en_fr": 32_000}[languages]
    assert (config.model.dropout, config.tokenizer.vocab_size) == (dropout, pieces)
    assert (config.trainer.max_updates, config.checkpoints.newest) == (updates, averaged)
    assert config.checkpoints.every_updates * seconds_an_update == 600


def test_the_pairs_to_be_learnt_by_heart_are_ten(train_config):
    data = train_config("debug=overfit").data
    assert data.train == data.validation == data.test["ten_pairs"]
    pairs = (CONF / "debug" / Path(data.train.file).name).read_text(encoding="utf-8")
    rows = [line.split("\t") for line in pairs.removesuffix("\n").split("\n")]
    assert [len(row) for row in rows] == [2] * 10
    assert len({source for source, _ in rows}) == len({target for _, target in rows}) == 10
