"""A new run begins with the weights of a checkpoint: all of them, or those that fit."""

import json
from pathlib import Path

import pytest
import torch

from latimer.checkpoint import write_checkpoint
from latimer.data.prepared import prepare
from latimer.errors import LatimerError
from latimer.screen import Screen
from latimer.tokenizer import Tokenizer, Tokenizers, train_tokenizer
from latimer.training.ready import make_ready
from latimer.training.run import train
from latimer.training.taking import RECORD

EMBEDDINGS = ["source_embedding.pieces.weight", "target_embedding.pieces.weight"]
VOCABULARY = {*EMBEDDINGS, "output.weight"}


@pytest.fixture
def make_checkpoint(make_config, make_contents, tmp_path):
    """The checkpoint of a toy run in another folder, with random weights of its own."""

    def make(tokenizers=None, languages=("en", "de"), **changes) -> Path:
        config = make_config(**changes)
        if tokenizers is None:
            folder = Path(config.prepared_folder)
            tokenizers = prepare(config.data, config.tokenizer, folder=folder).tokenizers
        contents = make_contents(
            seed=7, updates=2000, tokenizers=tokenizers, **config.model.model_dump()
        )
        contents["latimer"]["source_language"], contents["latimer"]["target_language"] = languages
        path = tmp_path / "old" / "checkpoints" / "best.ckpt"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_checkpoint(contents, path)
        return path

    return make


@pytest.fixture
def checkpoint(make_checkpoint) -> Path:
    return make_checkpoint()


def ready(config):
    """The corpus, the model and what it has taken."""
    _, corpus, task, taken = make_ready(config, Path(config.prepared_folder))
    return corpus, task.model, taken


def weights_in(path):
    state = torch.load(path, weights_only=True)["state_dict"]
    return {name.removeprefix("model."): weight for name, weight in state.items()}


def refusal(config):
    """The message, when nothing may be left behind."""
    with pytest.raises(LatimerError) as error:
        train(config, Screen())
    assert not Path(config.runs_folder).exists()
    return str(error.value)


def other_tokenizer(tokenizer):
    """Of the same size and with other pieces, as field case 85 has it."""
    words = [f"{a}{b}{c}" for a in "xyzvw" for b in "abcdefghij" for c in "klmnopqrst"] * 2
    return train_tokenizer(words, vocab_size=tokenizer.vocab_size)


@pytest.mark.parametrize("as_folder", [False, True])
@pytest.mark.parametrize("changes", [{}, {"model__positions": "learned", "model__max_length": 64}])
def test_all_weights_are_those_of_the_checkpoint(make_config, make_checkpoint, as_folder, changes):
    path = make_checkpoint(**changes)
    given = path.parents[1] if as_folder else path
    _, model, taken = ready(make_config(init_from=str(given), model__dropout=0.3, **changes))
    stored = weights_in(path)
    assert stored.keys() == model.state_dict().keys() == set(taken.taken)
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, stored[name])
    assert taken.left == {}
    assert taken.other_there == []
    assert model.hyperparameters["dropout"] == 0.3
    assert all(parameter.requires_grad for parameter in model.parameters())


def test_without_a_checkpoint_nothing_is_taken(make_config):
    assert ready(make_config())[2] is None


def test_the_tokenizer_of_the_checkpoint_cuts_the_new_corpus(
    make_config, checkpoint, tmp_path, monkeypatch
):
    """Whatever the other keys of the tokenizer say; the words are new."""
    new = tmp_path / "new.tsv"
    new.write_text("die Tuer ist da\tthe door is here\nrot\tred\n" * 9, encoding="utf-8")
    monkeypatch.setattr(
        "latimer.data.preparation.train_tokenizer", lambda *_a, **_k: pytest.fail("trained anew")
    )
    config = make_config(
        init_from=str(checkpoint),
        data__train={"file": str(new)},
        data__cleaning__drop_duplicates=False,
        tokenizer__vocab_size=70,
        tokenizer__byte_fallback=True,
    )
    corpus, _, _ = ready(config)
    stored = torch.load(checkpoint, weights_only=True)["latimer"]
    assert corpus.report["tokenizer_sha256"] == stored["tokenizer_sha256"]
    assert corpus.report["cache"] == "miss"
    source = corpus.tokenizers.source
    assert source.decode(corpus.train.source.sentence(0).tolist()) == "die Tuer ist da"
    # The key holds the tokenizer's hash, and nothing of the keys that have no effect.
    again = config.model_copy(
        update={"tokenizer": config.tokenizer.model_copy(update={"vocab_size": 50})}
    )
    assert ready(again)[0].report["cache"] == "hit"


def test_separate_tokenizers_are_taken_for_their_sides(make_config, make_checkpoint):
    separate = {"tokenizer__vocabulary": "separate", "tokenizer__vocab_size": 50}
    path = make_checkpoint(model__tying="decoder", **separate)
    corpus, model, _ = ready(make_config(init_from=str(path), model__tying="decoder"))
    stored = torch.load(path, weights_only=True)["latimer"]
    assert corpus.tokenizers.source != corpus.tokenizers.target
    for name, digest in corpus.tokenizers.hashes.items():
        assert stored[name] == digest
    assert torch.equal(model.output.weight, weights_in(path)["output.weight"])


def test_the_same_tokenizer_may_be_given_and_another_one_not(make_config, checkpoint, tmp_path):
    """Field case 85: the same size with other pieces is refused too, with sizes, hashes, paths."""
    own = Tokenizer(torch.load(checkpoint, weights_only=True)["latimer"]["tokenizer"])
    file = tmp_path / "given.model"
    file.write_bytes(own.model_bytes)
    given = make_config(init_from=str(checkpoint), tokenizer__file=str(file))
    assert ready(given)[0].tokenizers == Tokenizers.joint(own)
    other = other_tokenizer(own)
    file.write_bytes(other.model_bytes)
    message = refusal(given)
    for part in (str(checkpoint), str(file), own.sha256, other.sha256, "90 pieces"):
        assert part in message
    assert "tokenizer.file=null" in message


@pytest.mark.parametrize(
    ("key", "value", "stored"),
    [
        ("d_model", 32, "16"),
        ("heads", 4, "2"),
        ("d_k", 4, "8"),
        ("d_ff", 64, "32"),
        ("encoder_layers", 2, "1"),
        ("activation", "gelu", "relu"),
        ("norm_position", "pre", "post"),
        ("norm", "rms", "layer"),
        ("positions", "rotary", "sinusoidal"),
        ("tying", "none", "all"),
    ],
)
def test_another_hyperparameter_is_refused_with_both_values(
    make_config, checkpoint, key, value, stored
):
    message = refusal(make_config(init_from=str(checkpoint), **{f"model__{key}": value}))
    heading, *problems, advice = message.split("\n  ")
    assert heading.startswith(f"init_from={checkpoint}: ")
    assert f"model.{key}={value}: it has {stored}" in problems
    assert len(problems) == (3 if key in ("d_model", "heads") else 1), "and the widths of a head"
    assert "init_from_partial" in advice


def test_widths_of_heads_may_be_written_or_follow(make_config, checkpoint):
    config = make_config(init_from=str(checkpoint), model__d_k=8, model__d_v=8)
    assert ready(config)[2].left == {}


def test_other_languages_are_refused(make_config, make_checkpoint):
    path = make_checkpoint(languages=("de", "en"))
    message = refusal(make_config(init_from=str(path)))
    assert "data.source_language=en: it has de" in message
    assert "data.target_language=de: it has en" in message
    _, _, taken = ready(make_config(init_from_partial=str(path)))
    assert taken.left == {}
    assert taken.other_there == [
        "data.source_language=de (here en)",
        "data.target_language=en (here de)",
    ]


@pytest.mark.parametrize("key", ["init_from", "init_from_partial"])
def test_a_checkpoint_that_is_not_there(make_config, checkpoint, key):
    missing = checkpoint.with_name("none.ckpt")
    message = refusal(make_config(**{key: str(missing)}))
    assert message.startswith(f"{key}: {missing}: there is no such checkpoint")
    assert str(checkpoint) in message


def check_taken(model, taken, path, left):
    """Which names were left, and that all others have the weights of the file."""
    stored = weights_in(path)
    assert taken.left == left
    assert sorted([*taken.taken, *taken.left]) == sorted(model.state_dict())
    for name, weight in model.state_dict().items():
        if name in taken.taken:
            assert torch.equal(weight, stored[name]), name
        elif name in stored and weight.shape == stored[name].shape:
            assert not torch.equal(weight, stored[name]), name


def test_what_is_not_there_keeps_its_own_beginning(make_config, checkpoint):
    deeper = {"model__encoder_layers": 2, "model__heads": 4}
    _, model, taken = ready(make_config(init_from_partial=str(checkpoint), **deeper))
    second = [name for name in model.state_dict() if name.startswith("encoder.layers.1.")]
    check_taken(model, taken, checkpoint, dict.fromkeys(second, "not there"))
    _, plain, _ = ready(make_config(**deeper))
    for name in second:
        assert torch.equal(model.state_dict()[name], plain.state_dict()[name])
    assert "model.heads=2 (here 4)" in taken.other_there
    assert "model.encoder_layers=1 (here 2)" in taken.other_there


def test_what_has_another_shape_is_left(make_config, checkpoint):
    _, model, taken = ready(make_config(init_from_partial=str(checkpoint), model__d_ff=64))
    wider = [
        name
        for name in model.state_dict()
        if "feed_forward." in name and not name.endswith("outer.bias") and "around" not in name
    ]
    check_taken(model, taken, checkpoint, dict.fromkeys(wider, "of another shape there"))


@pytest.mark.parametrize("side", ["source", "target"])
def test_a_vocabulary_is_taken_only_with_its_tokenizer(make_config, make_checkpoint, side):
    """Field case 85: the sizes are the same."""
    config = make_config()
    own = prepare(config.data, config.tokenizer, folder=Path(config.prepared_folder)).tokenizers
    other = own._replace(**{side: other_tokenizer(own.source)})
    path = make_checkpoint(other, model__tying="none")
    config = make_config(init_from_partial=str(path), model__tying="none")
    corpus, model, taken = ready(config)
    assert corpus.tokenizers == own
    names = EMBEDDINGS[:1] if side == "source" else [*EMBEDDINGS[1:], "output.weight"]
    check_taken(model, taken, path, dict.fromkeys(names, "of another tokenizer there"))


def test_a_shared_matrix_is_one_tensor_in_both_or_left(make_config, make_checkpoint):
    untied = make_checkpoint(model__tying="none")
    _, model, taken = ready(make_config(init_from_partial=str(untied), model__tying="all"))
    check_taken(model, taken, untied, dict.fromkeys(VOCABULARY, "shared here, but not there"))
    tied = make_checkpoint(model__tying="all")
    _, model, taken = ready(make_config(init_from_partial=str(tied), model__tying="none"))
    check_taken(model, taken, tied, {})
    assert (
        len(
            {
                weight.data_ptr()
                for weight in (model.output.weight, model.source_embedding.pieces.weight)
            }
        )
        == 2
    )


def test_nothing_that_fits_is_a_mistake(make_config, checkpoint):
    message = refusal(
        make_config(init_from_partial=str(checkpoint), model__d_model=32, model__d_ff=64)
    )
    assert message.startswith(f"init_from_partial={checkpoint}: none of its weights fits this mod")
    assert "encoder.layers.0.self_attention.query.weight: of another shape there" in message


def test_a_tokenizer_without_merges_is_refused(make_config, make_checkpoint):
    path = make_checkpoint(tokenizer__model_type="unigram", tokenizer__vocab_size=60)
    message = refusal(make_config(init_from=str(path), tokenizer__bpe_dropout=0.1))
    assert message.startswith("tokenizer.bpe_dropout=0.1: the checkpoint's tokenizer is no model")


def test_a_run_says_where_it_began_and_begins_afresh(run, checkpoint):
    """Then it goes on without the file that it began with."""
    began = run(
        init_from=str(checkpoint),
        freeze=["encoder.*"],
        tokenizer__vocab_size=70,
        trainer__max_updates=2,
        trainer__log_every_updates=1,
        checkpoints__newest=0,
    )
    stored, last = weights_in(checkpoint), began.checkpoints["last"]
    assert last["latimer"]["updates"] == 2
    assert last["optimizer_states"][0]["state"][0]["step"] == 2
    assert began.curve("train/learning_rate") == pytest.approx({1: 3e-3 / 4, 2: 3e-3 / 2})
    for name, weight in stored.items():
        same = torch.equal(last["state_dict"][f"model.{name}"], weight)
        assert same == name.startswith("encoder."), name
    record = json.loads((began.folder / RECORD).read_text(encoding="utf-8"))
    assert (record["key"], record["checkpoint"]) == ("init_from", str(checkpoint))
    assert (record["updates"], record["left"]) == (2000, {})
    assert set(record["taken"]) == set(stored)
    came_from = f"all weights of {checkpoint} (2,000 updates, SHA-256 {record['sha256']})"
    assert f"begins with  {came_from}\n" in began.shown
    assert "parameters, the others are frozen\n" in began.shown
    assert f"Began with {came_from}." in (began.folder / "run.md").read_text(encoding="utf-8")

    checkpoint.unlink()
    longer = began.config.trainer.model_copy(update={"max_updates": 3})
    request = {"resume": str(began.folder), "trainer": longer}
    train(began.config.model_copy(update=request), Screen())
    after = began.checkpoints["last"]
    assert after["latimer"]["updates"] == 3
    assert after["latimer"]["tokenizer_sha256"] == last["latimer"]["tokenizer_sha256"]
    for name, weight in stored.items():
        same = torch.equal(after["state_dict"][f"model.{name}"], weight)
        assert same == name.startswith("encoder."), name
    assert f"Began with {came_from}." in (began.folder / "run.md").read_text(encoding="utf-8")


def test_the_log_of_a_partial_beginning_counts_what_was_taken(make_config, checkpoint):
    _, _, taken = ready(make_config(init_from_partial=str(checkpoint), model__encoder_layers=2))
    first, second, third, fourth = taken.lines()
    assert first.startswith(f"begins with  the weights that fit of {checkpoint} (2,000 updates, ")
    assert second == (
        "taken        embeddings 2 of 2, encoder 12 of 24, decoder 18 of 18, output 1 of 1 "
        "matrices and vectors; init_from.json names them"
    )
    assert third == "not taken    12 not there"
    assert fourth == "there        model.encoder_layers=1 (here 2)"
