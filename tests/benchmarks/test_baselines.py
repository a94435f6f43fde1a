import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from benchmarks import marian_model
from benchmarks.laps import Laps
from benchmarks.marian_model import Marian
from benchmarks.plain_loop import endless, fit, plain_loss
from benchmarks.profiles import profiled
from benchmarks.searches import SEARCHES, STEPS, installed, sorted_batches
from benchmarks.torch_model import TorchTransformer
from latimer.data.batches import TokenBatches
from latimer.data.loaders import TrainingLoader
from latimer.model import Transformer
from latimer.training.loss import smoothed_cross_entropy

V = 30
needs_marian = pytest.mark.skipif(not marian_model.installed(), reason="needs the extra bench")


@pytest.fixture
def ours(model_config):
    torch.manual_seed(3)
    sizes = model_config.model_dump()
    return Transformer(source_vocab_size=V, target_vocab_size=V, **sizes).eval()


def count(model):
    return sum(each.numel() for each in model.parameters() if each.requires_grad)


def attention_biases(config):
    """Four vectors for each attention, which the paper's equations don't have."""
    return 4 * config.d_model * (config.encoder_layers + 2 * config.decoder_layers)


def give_weights(ours, theirs):
    """Puts our weights into a torch.nn.Transformer; its biases of attention are zero then."""
    theirs.embedding.weight.copy_(ours.source_embedding.pieces.weight)
    stacks = (
        (ours.encoder.layers, theirs.transformer.encoder.layers),
        (ours.decoder.layers, theirs.transformer.decoder.layers),
    )
    names = {
        "self_attention": ("self_attn", "norm1"),
        "cross_attention": ("multihead_attn", "norm2"),
    }
    for layers, copies in stacks:
        for layer, copy in zip(layers, copies, strict=True):
            for name, (attention, norm) in names.items():
                if not hasattr(layer, name):
                    continue
                mine, its = getattr(layer, name), getattr(copy, attention)
                projections = (mine.query, mine.key, mine.value)
                its.in_proj_weight.copy_(torch.cat([each.weight for each in projections]))
                its.in_proj_bias.zero_()
                its.out_proj.weight.copy_(mine.output.weight)
                its.out_proj.bias.zero_()
                getattr(copy, norm).load_state_dict(
                    getattr(layer, f"around_{name}").norm.state_dict()
                )
            copy.linear1.load_state_dict(layer.feed_forward.inner.state_dict())
            copy.linear2.load_state_dict(layer.feed_forward.outer.state_dict())
            last = copy.norm3 if hasattr(copy, "norm3") else copy.norm2
            last.load_state_dict(layer.around_feed_forward.norm.state_dict())


def test_the_baseline_computes_what_ours_computes(ours, model_config, pairs):
    theirs = TorchTransformer(model_config, V).eval()
    batch = pairs.collate(range(len(pairs)))
    with torch.no_grad():
        give_weights(ours, theirs)
        # Not the encoder's way for inference, which packs what is padded.
        torch.backends.mha.set_fastpath_enabled(False)
        real = batch.labels != 0
        logits = [model(batch.source, batch.target_input)[real] for model in (ours, theirs)]
        torch.backends.mha.set_fastpath_enabled(True)
    torch.testing.assert_close(*logits, rtol=1e-3, atol=1e-4)


def test_the_baseline_has_biases_and_two_norms_more(ours, model_config):
    theirs = TorchTransformer(model_config, V)
    more = attention_biases(model_config) + 2 * 2 * model_config.d_model
    assert count(theirs) == count(ours) + more


@needs_marian
def test_marian_has_biases_more(ours, model_config):
    assert count(Marian(model_config, V)) == count(ours) + attention_biases(model_config)


@needs_marian
def test_marian_is_not_influenced_by_padding(model_config, pairs):
    model = Marian(model_config, V).eval()
    batch, alone = pairs.collate(range(6)), pairs.collate([2])
    with torch.no_grad():
        together = model(batch.source, batch.target_input)[2, : alone.labels.shape[1]]
        torch.testing.assert_close(together, model(alone.source, alone.target_input)[0])


def test_the_baselines_loss_is_ours(pairs):
    labels = pairs.collate(range(6)).labels
    logits = torch.randn(*labels.shape, V)
    real = labels != 0
    ours = smoothed_cross_entropy(logits[real], labels[real], 0.1).loss / real.sum()
    torch.testing.assert_close(plain_loss(logits, labels), ours)


@pytest.mark.parametrize("precision", ["float32", "bf16-mixed"])
def test_baselines_are_trained_on_the_batches_of_ours(model_config, pairs, precision):
    def loader():
        return TrainingLoader(pairs, TokenBatches(pairs, max_tokens=12, seed=5))

    laps, model, updates = Laps(warmup=len(loader())), TorchTransformer(model_config, V), loader()
    before = model.output.weight.clone()
    fit(model, endless(updates), laps, updates=2 * len(loader()), precision=precision)
    again = loader()
    expected = [int((batch.labels != 0).sum()) for _ in range(2) for [batch] in again]
    result = laps.result()
    assert result["all_pieces"] == expected
    assert result["pieces"] == sum(expected[len(loader()) :]) == int(pairs.target_lengths.sum()) + 6
    assert result["updates"] == len(loader())
    assert not torch.equal(before, model.output.weight)


@pytest.mark.parametrize("name", list(SEARCHES))
def test_every_search_takes_all_steps(model_config, name):
    if name not in installed():
        pytest.skip("needs the extra bench")
    torch.manual_seed(1)
    search = SEARCHES[name](model_config, V)
    [batch] = sorted_batches([[5, 6, 7], [8, 9, 10, 11], [12]])
    with torch.inference_mode():
        assert search(batch) == [STEPS] * 3


def test_sources_are_batched_by_length():
    batches = sorted_batches([[5] * (1 + row % 9) for row in range(150)])
    assert [len(batch) for batch in batches] == [64, 64, 22]
    lengths = [int(length) for batch in batches for length in (batch != 0).sum(1)]
    assert lengths == sorted(lengths, reverse=True)


def test_a_profile_tells_products_from_the_rest():
    left, right = torch.randn(64, 64), torch.randn(64, 64)
    alone = profiled(lambda: left @ right, 2)
    assert alone["products"] > 0
    assert (alone["attention"], [name for name, _ in alone["longest"] if "mm" in name]) == (0.0, [])
    without = profiled(lambda: left * right, 2)
    assert (without["products"], without["longest"][0][0]) == (0.0, "aten::mul")
    heads = torch.randn(1, 2, 8, 8)
    fused = profiled(lambda: scaled_dot_product_attention(heads, heads, heads), 2)
    assert fused["attention"] > 0
