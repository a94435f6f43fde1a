"""Every recipe in ``conf/experiment/paper`` builds exactly the model of its row in the paper."""

from functools import cache
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from test_parameter_counts import BASE, BIG, TABLE_3, V, count

from latimer.config.compose import run_config

ROOT = Path(__file__).parents[2]
CONF = ROOT / "conf"
FEWER_PIECES = V - 32_000
TABLE_2 = {
    "base_en_de": BASE,
    "base_en_fr": BASE - FEWER_PIECES * 512,
    "big_en_de": BIG,
    "big_en_fr": BIG - FEWER_PIECES * 1024,
}
PAPER_MILLIONS = {
    "table3_base": 65,
    "table3_b_d_k_16": 58,
    "table3_b_d_k_32": 60,
    "table3_c_layers_2": 36,
    "table3_c_layers_4": 50,
    "table3_c_layers_8": 80,
    "table3_c_d_model_256": 28,
    "table3_c_d_model_1024": 168,
    "table3_c_d_ff_1024": 53,
    "table3_c_d_ff_4096": 90,
    "table3_big": 213,
}
PARAMETERS = TABLE_2 | {recipe: parameters for recipe, (_, parameters) in TABLE_3.items()}


@cache
def composed(recipe):
    """The checked configuration of ``python train.py experiment=paper/<recipe>``."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return run_config(compose("train", [f"experiment=paper/{recipe}"]), ROOT)


def test_every_recipe_is_in_the_ledger():
    assert {path.stem for path in (CONF / "experiment/paper").iterdir()} == set(PARAMETERS)


@pytest.mark.parametrize(("recipe", "parameters"), PARAMETERS.items())
def test_the_number_of_parameters(recipe, parameters):
    config = composed(recipe)
    assert count(config.tokenizer.vocab_size, **config.model.model_dump()) == parameters


def spelled_out(model):
    """With the widths of heads that follow from the others."""
    width = model["d_model"] // model["heads"]
    return model | {key: model[key] or width for key in ("d_k", "d_v")}


@pytest.mark.parametrize(("recipe", "changes"), [(r, c) for r, (c, _) in TABLE_3.items()])
def test_a_row_of_table_3_differs_from_base_where_the_paper_says(recipe, changes):
    base, row = composed("table3_base"), composed(recipe)
    assert spelled_out(row.model.model_dump()) == spelled_out(base.model.model_dump() | changes)
    smoothing = recipe.partition("label_smoothing_")[2] or 0.1
    assert row.loss.label_smoothing == float(smoothing)
    assert row.trainer.max_updates == (300_000 if recipe == "table3_big" else 100_000)
    assert row.checkpoints.newest == 0
    for section in ("tokenizer", "optimizer", "schedule", "batches", "decoding"):
        assert getattr(row, section) == getattr(base, section)


# "65 M" depends on V.
def test_no_vocabulary_fits_the_papers_column():
    def in_millions(recipe, pieces):
        d_model = composed(recipe).model.d_model
        return round((PARAMETERS[recipe] + (pieces - V) * d_model) / 1e6)

    everything_but_big = {r: m for r, m in PAPER_MILLIONS.items() if r != "table3_big"}
    assert {r: in_millions(r, 41_100) for r in everything_but_big} == everything_but_big
    assert in_millions("table3_big", 41_100) == 218
    assert in_millions("table3_big", 36_000) == PAPER_MILLIONS["table3_big"]


# What a reader sees is what is built.
@pytest.mark.parametrize(("recipe", "parameters"), PARAMETERS.items())
def test_the_page_shows_the_number_of_parameters(recipe, parameters):
    page = (ROOT / "docs/paper.md").read_text(encoding="utf-8")
    rows = [line for line in page.split("\n") if f"paper/{recipe}.yaml" in line]
    assert any(f"{parameters:,}" in row for row in rows)
