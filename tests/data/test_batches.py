import numpy as np
import pytest

from latimer.data.batches import TokenBatches, Update, ordered_batches
from latimer.data.encoded import EncodedPairs
from latimer.errors import LatimerError


def pairs_of(*lengths: tuple[int, int]) -> EncodedPairs:
    """Pairs of as many pieces as given; the special id of each side comes on top."""
    return EncodedPairs.from_ids([[5] * n for n, _ in lengths], [[6] * n for _, n in lengths])


@pytest.fixture(scope="module")
def corpus() -> EncodedPairs:
    """997 pairs whose sides are of similar, widely spread lengths."""
    dice = np.random.default_rng(1)
    sources = np.clip(dice.lognormal(2.7, 0.5, 997), 1, 90).astype(int)
    targets = np.clip(sources * dice.normal(1, 0.15, 997), 1, 90).astype(int)
    return pairs_of(*zip(sources.tolist(), targets.tolist(), strict=True))


def rows_of(updates: list[Update]) -> list[int]:
    return [row for update in updates for micro_batch in update for row in micro_batch]


def test_every_pair_once_an_epoch(corpus: EncodedPairs):
    batches = TokenBatches(corpus, max_tokens=500, accumulation=3)
    for epoch in range(3):
        batches.load_state_dict({"epoch": epoch, "updates_done": 0})
        assert sorted(rows_of(list(batches))) == list(range(997))


def test_the_order_is_a_pure_function_of_seed_and_epoch(corpus: EncodedPairs):  # field case 68
    def order(seed: int, epoch: int) -> list[Update]:
        batches = TokenBatches(corpus, max_tokens=500, seed=seed)
        batches.load_state_dict({"epoch": epoch, "updates_done": 0})
        return list(batches)

    orders = [order(seed, epoch) for seed in (1, 2) for epoch in (0, 1)]
    assert order(1, 1) == orders[1]
    assert all(orders[a] != orders[b] for a in range(4) for b in range(a))


def test_micro_batches_are_made_anew_each_epoch(corpus: EncodedPairs):
    batches = TokenBatches(corpus, max_tokens=500)
    made = []
    for epoch in range(2):
        batches.load_state_dict({"epoch": epoch, "updates_done": 0})
        made.append({frozenset(rows) for update in batches for rows in update})
    assert len(made[0] & made[1]) < len(made[0]) / 3


def test_the_budget_counts_padded_cells_of_the_longer_side(corpus: EncodedPairs):
    for update in TokenBatches(corpus, max_tokens=500):
        for rows in update:
            batch = corpus.collate(rows)
            assert max(batch.source.numel(), batch.labels.numel()) <= 500


def test_similar_lengths_stand_together(corpus: EncodedPairs):
    batches = TokenBatches(corpus, max_tokens=500)
    updates = list(batches)
    made = [corpus.collate(rows) for update in updates for rows in update]
    cells = sum(batch.source.numel() + batch.labels.numel() for batch in made)
    real = sum(int((ids > 0).sum()) for batch in made for ids in (batch.source, batch.labels))
    assert batches.padding_share() == pytest.approx(1 - real / cells)
    assert batches.padding_share() < 0.15


def test_a_pair_over_the_budget_gets_its_own_batch():  # field case 148
    updates = list(TokenBatches(pairs_of((5, 5), (5, 5), (5, 5), (100, 100)), max_tokens=100))
    assert [3] in [rows for update in updates for rows in update]
    assert sorted(map(len, (rows for update in updates for rows in update))) == [1, 3]


def test_the_budget_counts_the_end_of_sentence():  # field case 49
    exactly = pairs_of((49, 49), (49, 49))
    assert len(TokenBatches(exactly, max_tokens=100)) == 1
    assert len(TokenBatches(exactly, max_tokens=99)) == 2


@pytest.mark.parametrize("lengths", [(2, 79), (79, 2)])
def test_the_budget_minds_either_side(lengths: tuple[int, int]):  # field case 150
    updates = list(TokenBatches(pairs_of(*[lengths] * 10), max_tokens=160))
    assert [len(rows) for update in updates for rows in update] == [2] * 5


def test_the_largest_micro_batch_comes_first(corpus: EncodedPairs):  # field case 148
    longest = pairs_of(*[(5, 5)] * 50, (300, 2))
    for seed in range(5):
        assert next(iter(TokenBatches(longest, max_tokens=100, seed=seed))) == [[50]]


def test_accumulation_groups_micro_batches(corpus: EncodedPairs):
    single = list(TokenBatches(corpus, max_tokens=500))
    batches = TokenBatches(corpus, max_tokens=500, accumulation=4)
    grouped = list(batches)
    assert [rows for update in grouped for rows in update] == [update[0] for update in single]
    assert {len(update) for update in grouped[:-1]} == {4}
    assert len(batches) == len(grouped) == -(-len(single) // 4)


@pytest.mark.parametrize("world_size", [2, 3, 8])
@pytest.mark.parametrize("max_tokens", [300, 500, 100_000])
def test_processes_get_equal_counts_of_different_pairs(  # field cases 143, 144
    corpus: EncodedPairs, world_size: int, max_tokens: int
):
    shares = [
        TokenBatches(
            corpus, max_tokens=max_tokens, accumulation=2, rank=rank, world_size=world_size
        )
        for rank in range(world_size)
    ]
    for epoch in range(2):
        for batches in shares:
            batches.load_state_dict({"epoch": epoch, "updates_done": 0})
        updates = [list(batches) for batches in shares]
        assert sorted(row for share in updates for row in rows_of(share)) == list(range(997))
        # Also inside each update: processes that average gradients must do so equally often.
        assert len({tuple(map(len, share)) for share in updates}) == 1
        assert {len(share) for share in updates} == {len(shares[0])}


def test_seven_batches_for_two_processes():  # field case 144
    seven = pairs_of(*[(9, 9)] * 14)
    shares = [TokenBatches(seven, max_tokens=20, rank=rank, world_size=2) for rank in range(2)]
    assert [len(list(batches)) for batches in shares] == [4, 4]


def test_two_processes_make_the_updates_of_one():
    pairs = pairs_of(*[(9, 9)] * 80)
    one = list(TokenBatches(pairs, max_tokens=100, accumulation=2))
    first, second = (
        list(TokenBatches(pairs, max_tokens=100, rank=rank, world_size=2)) for rank in range(2)
    )
    assert [[*a, *b] for a, b in zip(first, second, strict=True)] == one


def test_one_pair():  # field case 22
    assert list(TokenBatches(pairs_of((3, 3)), max_tokens=100)) == [[[0]]]


def test_more_processes_than_pairs():
    with pytest.raises(LatimerError, match=r"1 training pairs.*2 processes.*fewer processes"):
        TokenBatches(pairs_of((3, 3)), max_tokens=100, world_size=2)


def test_goes_on_in_the_middle_of_an_epoch(corpus: EncodedPairs):  # field case 72
    batches = TokenBatches(corpus, max_tokens=500, seed=3)
    batches.load_state_dict({"epoch": 2, "updates_done": 0})
    whole = list(batches)
    for _ in range(5):
        batches.mark_done()
    resumed = TokenBatches(corpus, max_tokens=500, seed=3)
    resumed.load_state_dict(batches.state_dict())
    assert list(resumed) == whole[5:]
    assert len(resumed) == len(whole)


def test_after_the_last_update_comes_the_next_epoch(corpus: EncodedPairs):
    batches = TokenBatches(corpus, max_tokens=500)
    for _ in range(len(batches)):
        batches.mark_done()
    assert batches.state_dict() == {"epoch": 1, "updates_done": 0}
    following = TokenBatches(corpus, max_tokens=500)
    following.load_state_dict({"epoch": 1, "updates_done": 0})
    assert list(batches) == list(following)


def test_validation_has_one_order(corpus: EncodedPairs):
    batches = ordered_batches(corpus, 500)
    assert batches == ordered_batches(corpus, 500)
    assert sorted(row for rows in batches for row in rows) == list(range(997))
    for rows in batches:
        batch = corpus.collate(rows)
        assert max(batch.source.numel(), batch.labels.numel()) <= 500


def test_equal_lengths_keep_the_order_of_the_corpus_in_validation():
    assert ordered_batches(pairs_of((2, 2), (9, 9), (2, 2), (9, 9)), 1_000) == [[1, 3, 0, 2]]
