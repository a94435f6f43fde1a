"""Parameters that are chosen by their names are not trained, and nothing else changes."""

import pytest
import torch
from test_task import run_updates

from latimer.errors import LatimerError
from latimer.model import Transformer
from latimer.training.freezing import describe_frozen, freeze
from latimer.training.task import TranslationTask

UPDATE = [[0, 1, 2, 3], [4, 5, 6, 7]]
EMBEDDINGS = {"source_embedding.pieces.weight", "target_embedding.pieces.weight"}


def make_model(tying="none", **hyperparameters):
    torch.manual_seed(3)
    sizes = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 2, "decoder_layers": 1}
    vocabularies = {"source_vocab_size": 20, "target_vocab_size": 20}
    return Transformer(**sizes, **vocabularies, dropout=0.0, tying=tying, **hyperparameters)


def frozen_names(model):
    named = model.named_parameters(remove_duplicate=False)
    return {name for name, one in named if not one.requires_grad}


def named(model, prefix):
    return {name for name, _ in model.named_parameters() if name.startswith(prefix)}


@pytest.mark.parametrize(
    ("patterns", "prefixes"),
    [
        (["encoder.*"], ["encoder."]),
        (["encoder.layers.1.*", "output.weight"], ["encoder.layers.1.", "output."]),
        (["*embedding*"], ["source_embedding.", "target_embedding."]),
        (["[ed]ncoder.layers.?.self_attention.query*"], ["encoder.layers.%d.self_attention.query"]),
    ],
)
def test_patterns_are_those_of_file_names(patterns, prefixes):
    model = make_model()
    freeze(model, patterns)
    expected = {
        name
        for prefix in prefixes
        for n in range(2)
        for name in named(model, prefix.replace("%d", str(n)))
    }
    assert frozen_names(model) == expected


def test_no_pattern_freezes_nothing():
    model = make_model()
    freeze(model, [])
    assert frozen_names(model) == set()
    assert describe_frozen(model) is None


@pytest.mark.parametrize("pattern", sorted(EMBEDDINGS | {"output.*"}))
def test_a_shared_matrix_is_frozen_by_any_of_its_names(pattern):
    model = make_model(tying="all")
    freeze(model, [pattern])
    assert frozen_names(model) == {*EMBEDDINGS, "output.weight"}
    whole = sum(one.numel() for one in model.parameters())
    assert describe_frozen(model) == (
        f"{whole - 20 * 16:,} of {whole:,} parameters, the others are frozen; output.weight and "
        "source_embedding.pieces.weight and target_embedding.pieces.weight are one matrix"
    )


def test_a_pattern_that_matches_nothing_is_a_mistake():
    with pytest.raises(LatimerError) as error:
        freeze(make_model(), ["encoder.*", "Decoder.*"])
    heading, _, shown = str(error.value).partition("; names are ")
    assert heading == "freeze=Decoder.*: no parameter has such a name"
    *names, dots = shown.split(", ")
    assert dots == "..."
    assert len(names) > 2
    assert set(names) <= set(make_model().state_dict())


@pytest.mark.parametrize("patterns", [["*"], ["encoder.*", "decoder.*", "output.*"]])
def test_nothing_left_to_train_is_a_mistake(patterns):
    with pytest.raises(LatimerError, match="nothing is left to train") as error:
        freeze(make_model(tying="all"), patterns)
    assert str(error.value).startswith(f"freeze=[{', '.join(patterns)}]: ")
    assert "are one matrix" in str(error.value)


@pytest.mark.parametrize(
    ("tying", "pattern"),
    [
        ("none", "output.weight"),
        ("none", "encoder.*"),
        ("none", "*embedding*"),
        ("all", "output.weight"),
        ("decoder", "decoder.*"),
        ("decoder", "target_embedding.*"),
    ],
)
def test_frozen_weights_stay_and_all_others_learn_as_before(make_config, tying, pattern):
    config = make_config(trainer__gradient_clip=None)
    model, free = make_model(tying), make_model(tying)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    freeze(model, [pattern])
    frozen = frozen_names(model)
    task = TranslationTask(model, config)
    trainer = run_updates(task, [UPDATE])
    run_updates(TranslationTask(free, config), [UPDATE])
    # Adam's first update depends on each weight's own gradient alone.
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, before[name]) == (name in frozen), name
        torch.testing.assert_close(weight, (before if name in frozen else free.state_dict())[name])
    trained = [one for one in model.parameters() if one.requires_grad]
    assert set(trainer.optimizers[0].state) == set(trained)
    assert all(one.grad is None for one in model.parameters() if not one.requires_grad)
    total = torch.stack([one.grad.norm() for one in trained]).norm()
    assert task.statistics.grad_norm == pytest.approx(float(total), rel=1e-5)
