"""BPE-dropout: each epoch cuts the training text in its own way (field cases 29 to 31)."""

import random

import pytest
import torch

from latimer.data.batches import TokenBatches
from latimer.data.bpe_dropout import BpeDropoutPairs
from latimer.data.encoded import Batch, EncodedPairs
from latimer.data.loaders import TrainingLoader
from latimer.tokenizer import BOS_ID, EOS_ID, PAD_ID, Tokenizers, train_tokenizer

WORDS = ["boat", "kettle", "house", "strangely", "weather", "window", "thing", "together"]
NO_LIMIT = 1000
Cut = tuple[tuple[int, ...], tuple[int, ...]]


def sentences(seed: int) -> list[str]:
    dice = random.Random(seed)
    return [" ".join(dice.choices(WORDS, k=dice.randint(1, 6))) for _ in range(40)]


@pytest.fixture(scope="module")
def tokenizers() -> Tokenizers:
    capitals = [line.upper() for line in sentences(0)]
    source, target = (train_tokenizer(text, vocab_size=50) for text in (sentences(0), capitals))
    return Tokenizers(source, target)


@pytest.fixture
def pairs(tokenizers: Tokenizers, tmp_path) -> EncodedPairs:
    """In a file, so that worker processes map it."""
    capitals = [line.upper() for line in sentences(1)]
    encoded = EncodedPairs.from_ids(
        tokenizers.source.encode_batch(sentences(1)), tokenizers.target.encode_batch(capitals)
    )
    encoded.write(tmp_path / "pairs.arrow")
    return EncodedPairs.open(tmp_path / "pairs.arrow")


@pytest.fixture
def make_loader(pairs: EncodedPairs, tokenizers: Tokenizers):
    def make(
        dropout=0.3, seed=1, max_length=NO_LIMIT, workers=0, pairs=pairs, **batches
    ) -> TrainingLoader:
        sampled = BpeDropoutPairs(
            pairs, tokenizers, dropout=dropout, seed=seed, max_length=max_length
        )
        budget = {"max_tokens": 60, "accumulation": 2, **batches}
        return TrainingLoader(sampled, TokenBatches(pairs, seed=seed, **budget), workers=workers)

    return make


def cuts_of(batches: list[Batch]) -> dict[int, Cut]:
    """The ids of each pair by its row, without special ids, which are checked here."""
    found = {}
    for batch in batches:
        for number, row in enumerate(batch.rows.tolist()):
            source, inputs, labels = (part[number].tolist() for part in batch[:3])
            pieces = labels[: labels.index(EOS_ID)]
            rest = [PAD_ID] * (len(labels) - len(pieces) - 1)
            assert labels == [*pieces, EOS_ID, *rest]
            assert inputs[: len(pieces) + 1] == [BOS_ID, *pieces]
            found[row] = (tuple(source[: source.index(EOS_ID)]), tuple(pieces))
    return found


def epoch_of(loader: TrainingLoader) -> dict[int, Cut]:
    """The next epoch, or what is left of one."""
    return cuts_of([batch for update in loader for batch in update])


def plain_cuts(pairs: EncodedPairs) -> dict[int, Cut]:
    sides = (pairs.source, pairs.target)
    return {
        row: tuple(tuple(side.sentence(row).tolist()) for side in sides)  # type: ignore[misc]
        for row in range(len(pairs))
    }


def test_every_epoch_cuts_the_same_text_in_another_way(make_loader, pairs, tokenizers):
    loader, plain = make_loader(), plain_cuts(pairs)
    first, second = epoch_of(loader), epoch_of(loader)
    assert first.keys() == second.keys() == plain.keys()
    for one, other in ((first, second), (first, plain), (second, plain)):
        assert sum(one[row] != other[row] for row in plain) > len(plain) / 2
    for row, (source, target) in enumerate(zip(sentences(1), sentences(1), strict=True)):
        for cut in (first[row], second[row]):
            assert tokenizers.source.decode(cut[0]) == source
            assert tokenizers.target.decode(cut[1]) == target.upper()


def test_a_seed_chooses_the_cuts(make_loader):
    assert epoch_of(make_loader()) == epoch_of(make_loader())
    assert epoch_of(make_loader()) != epoch_of(make_loader(seed=2))


def test_pairs_of_one_text_are_cut_each_in_its_own_way(make_loader, tokenizers):
    line = tokenizers.source.encode("strangely together strangely")
    capitals = tokenizers.target.encode("STRANGELY TOGETHER STRANGELY")
    same = EncodedPairs.from_ids([line] * 20, [capitals] * 20)
    assert len(set(epoch_of(make_loader(pairs=same)).values())) > 10


@pytest.mark.parametrize(
    "batches",
    [
        {"max_tokens": 30},
        {"max_tokens": 10_000},
        {"accumulation": 1},
        {"accumulation": 5},
        {"rank": 0, "world_size": 2},
        {"rank": 1, "world_size": 3},
    ],
)
def test_the_cut_of_a_pair_does_not_depend_on_its_batch(make_loader, batches):
    whole, loader = epoch_of(make_loader()), make_loader(**batches)
    found = epoch_of(loader)
    assert found == {row: whole[row] for row in found}
    assert len(found) >= 40 // batches.get("world_size", 1) - 5


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_workers_change_nothing(make_loader, method):
    """Field case 31, over two epochs."""
    alone, loader = make_loader(), make_loader(workers=2)
    loader.multiprocessing_context = method
    for _ in range(2):
        for update, other in zip(alone, loader, strict=True):
            for batch, same in zip(update, other, strict=True):
                assert all(torch.equal(*both) for both in zip(batch, same, strict=True))


@pytest.mark.parametrize("done", [0, 1, 4])
@pytest.mark.parametrize("epochs", [0, 1])
def test_a_resumed_loader_goes_on_with_the_same_cuts(make_loader, epochs, done):
    """Field case 31: a fresh loader needs the position alone."""
    stopped, resumed = make_loader(), make_loader()
    for _ in range(epochs):
        epoch_of(stopped)
    for _, _update in zip(range(done), stopped, strict=False):
        pass
    resumed.load_state_dict(stopped.state_dict())
    assert resumed.state_dict() == {"epoch": epochs, "updates_done": done}
    rest = epoch_of(resumed)
    assert rest
    reference = make_loader()
    for _ in range(epochs):
        epoch_of(reference)
    whole = epoch_of(reference)
    assert rest == {row: whole[row] for row in rest}


def test_with_one_everything_is_characters(make_loader, tokenizers):
    for cut in epoch_of(make_loader(dropout=1.0)).values():
        for tokenizer, ids in zip(tokenizers, cut, strict=True):
            text = "▁" + tokenizer.decode(ids).replace(" ", "▁")
            assert [tokenizer.piece(one) for one in ids] == list(text)


@pytest.mark.parametrize(("max_length", "pieces"), [(11, 10), (10, None)])
def test_a_side_that_would_become_too_long_stays_as_it_is(
    make_loader, tokenizers, max_length, pieces
):
    """Nine letters and the mark of a space; the limit counts the end of sentence too."""
    line, capitals = tokenizers.source.encode("strangely"), tokenizers.target.encode("BOAT")
    assert len(line) < 10
    loader = make_loader(
        dropout=1.0, pairs=EncodedPairs.from_ids([line], [capitals]), max_length=max_length
    )
    source, target = epoch_of(loader)[0]
    assert len(source) == (pieces or len(line))
    assert len(target) == 5, "the other side is cut all the same"


def test_the_pairs_themselves_stay_as_they_are(make_loader, pairs):
    before = plain_cuts(pairs)
    epoch_of(make_loader(dropout=1.0))
    assert plain_cuts(pairs) == before
