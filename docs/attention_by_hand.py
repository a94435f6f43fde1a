"""Attention by hand: the paper's attention on numbers that a pocket calculator can follow.

    python docs/attention_by_hand.py

takes seconds. Each example says what to look for, and shows what the code in src/latimer/model
computes; a plain 0 is exactly zero. Change the numbers and run it again.
"""

import textwrap
from collections.abc import Callable

import torch
from torch import Tensor

from latimer.data.encoded import EncodedPairs
from latimer.model import Transformer
from latimer.model.attention import MultiHeadAttention, reference_attention
from latimer.model.masks import causal_mask, padding_mask
from latimer.model.positions import sinusoids

PAD, EOS = 0, 3
Example = Callable[[], None]
EXAMPLES: list[tuple[str, str, Example]] = []


def example(title: str, section: str) -> Callable[[Example], Example]:
    """Registers an example; its docstring is shown to the learner before its numbers."""

    def register(function: Example) -> Example:
        EXAMPLES.append((title, section, function))
        return function

    return register


def show(name: str, numbers: Tensor) -> None:
    """Prints numbers behind their name; what is exactly zero is a plain 0."""
    spelled = (f"{number:.6f}" if number else "0" for number in numbers.flatten().tolist())
    show_text(name, "  ".join(spelled))


def show_text(name: str, text: str) -> None:
    """Prints a text behind its name."""
    print(f"  {name:<44}{text}")


def show_largest(name: str, difference: Tensor) -> None:
    """Prints how large a difference is where it is largest."""
    show_text(name, f"{difference.abs().max().item():.1e}")


def column(*numbers: float) -> Tensor:
    """One number for each key: (S, 1)."""
    return torch.tensor(numbers).unsqueeze(1)


def small_model() -> Transformer:
    """A Transformer with random weights, the same ones each time."""
    torch.manual_seed(1)
    return Transformer(
        source_vocab_size=20,
        target_vocab_size=20,
        d_model=32,
        heads=4,
        d_ff=64,
        encoder_layers=2,
        decoder_layers=2,
    ).eval()


@example("One query", "3.2.1")
def one_query() -> None:
    """A query is compared with each key, and gathers their values.

    Softmax turns the scores into weights that are positive and sum to one; the answer is the mean
    of the values, weighted so. Doubling a score does much more than doubling a weight.
    """
    for scores, values in (([2.0, 1.0, 0.0], [1.0, 3.0, 5.0]), ([2.0, 0.0], [10.0, 20.0])):
        answer, weights = reference_attention(column(1.0), column(*scores), column(*values))
        show(f"scores {scores} give weights", weights)
        show(f"values {values} give", answer)


@example("The mask belongs before the softmax", "3.2.3")
def mask_before_softmax() -> None:
    """A forbidden key gets no weight, and takes none away from the others.

    The fourth key is in the future. Masked before the softmax, it weighs exactly zero and the rest
    still sums to one. Masked after it, the future has already taken its share: the others' weights
    no longer sum to one, and how much is missing tells what the future holds.
    """
    query, key, value = column(1.0), column(2.0, 1.0, 0.0, 3.0), column(1.0, 3.0, 5.0, 1000.0)
    allowed = torch.tensor([[True, True, True, False]])
    answer, weights = reference_attention(query, key, value, allowed)
    show("before: weights", weights)
    show("before: their sum", weights.sum())
    show("before: answer", answer)
    _, too_late = reference_attention(query, key, value)
    too_late = too_late * allowed
    show("after (wrong): weights", too_late)
    show("after (wrong): their sum", too_late.sum())
    show("after (wrong): answer", too_late @ value)


@example("The whole matrix", "3.2.1")
def whole_matrix() -> None:
    """All queries at once are one product of matrices: softmax(QKᵀ / √d_k) V.

    In "the dog chased the ball", a key says what its word is (article, noun, verb) and a query what
    its word looks for. The verb looks for nouns: its raw scores are 0, 2, 0, 0, 2, and divided by
    √d_k = 2 they give the third row. Only "dog" holds a value, 1.5.
    """
    words = ["the", "dog", "chased", "the", "ball"]
    article, noun, verb = torch.eye(4)[:3]
    key = torch.stack([article, noun, verb, article, noun])
    query = 2.0 * torch.stack([noun, article + verb, noun, noun, article + verb])
    value = column(0.0, 1.5, 0.0, 0.0, 0.0)
    answer, weights = reference_attention(query, key, value)
    show("raw scores of chased", query[2] @ key.T)
    print(f"  {'weights':<12}" + "".join(f"{word:>8}" for word in words) + "     sum    answer")
    for word, row, gathered in zip(words, weights, answer, strict=True):
        numbers = "".join(f"{weight:8.4f}" for weight in row.tolist())
        print(f"    {word:<10}{numbers}{row.sum().item():8.4f}{gathered.item():10.4f}")


@example("Padding", "3.2.3")
def padding() -> None:
    """A batch is as wide as its longest sentence; what fills up the others is never looked at.

    Two keys with equal scores and a padded slot share the weight in halves. A query that may look
    at nothing at all gets zeros, not NaN, and the gradients stay finite.
    """
    key = torch.zeros(1, 1, 3, 1, requires_grad=True)
    query, value = torch.ones(1, 1, 1, 1), torch.tensor([4.0, 8.0, 1e4]).view(1, 1, 3, 1)
    for ids in ([7, 8, PAD], [PAD, PAD, PAD]):
        answer, weights = reference_attention(query, key, value, padding_mask(torch.tensor([ids])))
        (gradient,) = torch.autograd.grad(answer.sum(), key)
        show(f"ids {ids}: weights", weights)
        show(f"ids {ids}: answer", answer)
        show(f"ids {ids}: gradient of the keys", gradient)


@example("Heads are slices", "3.2.2")
def heads_as_slices() -> None:
    """H heads at once equal H attentions one by one, each on its own columns.

    The projections of all heads lie side by side in one matrix. Each head divides its scores by
    √d_k, the root of its own width, and not by √d_model.
    """
    torch.manual_seed(1)
    module = MultiHeadAttention(d_model=12, heads=3, d_k=4, d_v=4)
    states = torch.randn(1, 5, 12)
    query, key, value = module.query(states), module.key(states), module.value(states)
    slices = [slice(4 * head, 4 * head + 4) for head in range(3)]
    one_by_one = [reference_attention(query[..., s], key[..., s], value[..., s]) for s in slices]
    for head, (_, weights) in enumerate(one_by_one, start=1):
        show(f"head {head}: weights of the first query", weights[0, 0])
    joined = module.output(torch.cat([answer for answer, _ in one_by_one], dim=-1))
    show_largest("one by one - all at once, at most", joined - module(states, states, None))


@example("Order, without positions and with them", "3.5")
def permutation() -> None:
    """Attention alone sees a set: permuting the words permutes the answers, and nothing else.

    Two equal words then get equal answers. With the sinusoids of the paper added, neither holds.
    """
    model = small_model()
    ids, order = torch.tensor([[5, 6, 7, 5, 9]]), torch.tensor([3, 0, 4, 2, 1])
    for name, positions in (("without", torch.zeros(5, 32)), ("with", sinusoids(5, 32))):

        def encode(ids: Tensor, positions: Tensor = positions) -> Tensor:
            vectors = model.source_embedding.pieces(ids) * model.source_embedding.scale
            memory: Tensor = model.encoder(vectors + positions, padding_mask(ids))
            return memory

        memory = encode(ids)
        show_largest(f"{name}: permuted, changes by", encode(ids[:, order]) - memory[:, order])
        show_largest(f"{name}: words 1 and 4 are equal, differ by", memory[0, 0] - memory[0, 3])


@example("The future must not matter", "3.1")
def future_perturbation() -> None:
    """Change a word of the future: no earlier answer may move.

    That the weights of a row sum to one proves nothing: they do without any mask, too. Here the
    last of six words changes, and we look at how far each answer moves.
    """
    torch.manual_seed(1)
    states = torch.randn(6, 8)
    changed = states.clone()
    changed[5] += 1.0
    for name, allowed in (("without a mask", None), ("with the causal mask", causal_mask(6)[0, 0])):
        before, weights = reference_attention(states, states, states, allowed)
        after, _ = reference_attention(changed, changed, changed, allowed)
        show(f"{name}: sums of the rows", weights.sum(dim=-1))
        show(f"{name}: answers move by", (before - after).abs().amax(dim=-1))
    model, source = small_model(), torch.tensor([[5, 6, 7, EOS]])
    target, other = torch.tensor([[2, 5, 6, 7, 8, 9]]), torch.tensor([[2, 5, 6, 7, 8, 10]])
    moved = (model(source, target) - model(source, other)).abs().amax(dim=-1)
    show("the whole Transformer: logits move by", moved)


@example("Alone or in a batch", "3.2.3")
def alone_or_in_a_batch() -> None:
    """A sentence has the same logits alone as beside a longer one, where it is padded."""
    model = small_model()
    alone = model(torch.tensor([[5, 6, EOS]]), torch.tensor([[2, 7, 8]]))
    sources = torch.tensor([[5, 6, EOS, PAD, PAD], [9, 9, 9, 9, EOS]])
    targets = torch.tensor([[2, 7, 8, PAD], [2, 9, 9, 9]])
    show_largest("logits differ by", alone[0] - model(sources, targets)[0, :3])


@example("Teacher forcing", "3.1")
def teacher_forcing() -> None:
    """In training the decoder reads the right target, moved by one: it never sees what it predicts.

    2 is the beginning of a sentence, 3 its end; the input at each place stands above its label.
    """
    batch = EncodedPairs.from_ids([[5, 6]], [[7, 8, 9]]).collate([0])
    show_text("source", str(batch.source[0].tolist()))
    show_text("decoder's input", str(batch.target_input[0].tolist()))
    show_text("labels", str(batch.labels[0].tolist()))


@example("Step by step", "3.1")
def step_by_step() -> None:
    """In translating, each step computes one position and keeps its keys and values for the next.

    That gives the logits of the whole prefix at once.
    """
    model, source = small_model(), torch.tensor([[5, 6, 7, EOS]])
    target = torch.tensor([[2, 7, 8, 9]])
    cache = model.start(source)
    steps = [model.step(target[:, place : place + 1], cache)[:, 0] for place in range(4)]
    show_largest("logits differ by", torch.stack(steps, dim=1) - model(source, target))


@example("Gradients by finite differences", "3.2.2")
def finite_differences() -> None:
    """A gradient says how much the result moves when an input moves a little: so move it a little.

    In double precision, (f(x + ε) - f(x - ε)) / 2ε must be what backpropagation says.
    """
    torch.manual_seed(1)
    module = MultiHeadAttention(d_model=4, heads=2, d_k=2, d_v=2).double()
    states = torch.randn(1, 3, 4, dtype=torch.float64, requires_grad=True)
    allowed, epsilon = causal_mask(3), 1e-6

    def result(inputs: Tensor) -> Tensor:
        answers: Tensor = module(inputs, inputs, allowed)
        return answers.square().sum()

    (analytic,) = torch.autograd.grad(result(states), states)
    moves = epsilon * torch.eye(12, dtype=torch.float64).view(12, 1, 3, 4)
    with torch.no_grad():
        differences = [(result(states + m) - result(states - m)) / (2 * epsilon) for m in moves]
    numeric = torch.stack(differences).view_as(analytic)
    show("backpropagation, first word", analytic[0, 0])
    show("finite differences, first word", numeric[0, 0])
    show_largest("all words: differ by", analytic - numeric)


def main() -> None:
    """Prints all examples."""
    for number, (title, section, function) in enumerate(EXAMPLES, start=1):
        heading = f"{number}. {title} (section {section})"
        explanation = textwrap.dedent(f"    {function.__doc__}")
        print(f"{heading}\n{'=' * len(heading)}\n{explanation.rstrip()}\n")
        function()
        print()


if __name__ == "__main__":
    main()
