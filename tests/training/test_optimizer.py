"""The optimizers do what their keys say; Adam is the paper's (section 5.3)."""

from copy import deepcopy
from itertools import pairwise

import pytest
import torch
from torch import nn

from latimer.config.optimizer import AdafactorConfig, AdamConfig, AdamWConfig, MuonConfig
from latimer.model import Transformer
from latimer.training.optimizer import make_optimizer

ADAM = AdamConfig(kind="adam", beta1=0.9, beta2=0.98, epsilon=1e-9)
ADAMW = AdamWConfig(kind="adamw", beta1=0.9, beta2=0.98, epsilon=1e-9, weight_decay=0.1)
ADAFACTOR = AdafactorConfig(
    kind="adafactor",
    beta2_decay=-0.8,
    epsilon=1e-15,
    smallest_size=1e-3,
    largest_step=1.0,
    weight_decay=0.1,
)
MUON = MuonConfig(kind="muon", momentum=0.95, weight_decay=0.1, beta1=0.9, beta2=0.98, epsilon=1e-9)
every_optimizer = pytest.mark.parametrize(
    "config", [ADAM, ADAMW, ADAFACTOR, MUON], ids=lambda c: c.kind
)
every_decay = pytest.mark.parametrize("config", [ADAMW, ADAFACTOR, MUON], ids=lambda c: c.kind)
IN_A_LAYER = "encoder.layers.0.weight"


def tiny_model(**hyperparameters):
    torch.manual_seed(1)
    sizes = {"d_model": 16, "heads": 2, "d_ff": 32, "encoder_layers": 1, "decoder_layers": 1}
    return Transformer(source_vocab_size=9, target_vocab_size=9, **sizes, **hyperparameters)


def update(weight, config, *gradients, rate=0.25):
    """The weight after one update for each gradient, which may be a number for all its places."""
    weight = nn.Parameter(torch.as_tensor(weight).clone())
    optimizer = make_optimizer([(IN_A_LAYER, weight)], config)
    for group in optimizer.param_groups:
        group["lr"] = rate
    for gradient in gradients:
        weight.grad = torch.as_tensor(gradient).expand_as(weight).clone()
        optimizer.step()
    return weight.detach()


def test_adam_has_the_values_of_the_configuration_and_nothing_else():
    (group,) = make_optimizer([(IN_A_LAYER, nn.Parameter(torch.ones(3)))], ADAM).param_groups
    assert (group["betas"], group["eps"]) == ((0.9, 0.98), 1e-9)
    assert (group["lr"], group["weight_decay"], group["amsgrad"]) == (1.0, 0, False)


@every_optimizer
def test_the_schedule_multiplies_a_rate_of_one(config):
    groups = make_optimizer(tiny_model().named_parameters(), config).param_groups
    assert {group["lr"] for group in groups} == {1.0}


@pytest.mark.parametrize("config", [ADAM, ADAMW], ids=lambda c: c.kind)
@pytest.mark.parametrize("gradient", [1e-4, 1.0, 1e4])
def test_the_first_update_is_as_large_as_the_rate_whatever_the_gradient(config, gradient):
    """Adam corrects its means for having started at zero."""
    torch.testing.assert_close(update([0.0], config, gradient), torch.tensor([-0.25]))


@pytest.mark.parametrize("config", [ADAM, ADAMW], ids=lambda c: c.kind)
def test_the_keys_of_adam_have_their_effect(config):
    """The second of two updates, by hand: beta1 0.5, beta2 0.75, gradients 1 and 3."""
    config = config.model_copy(update={"beta1": 0.5, "beta2": 0.75, "epsilon": 1.0})
    mean, square = (0.5 * 1 + 1 * 3) / (0.5 + 1), (0.75 * 1 + 1 * 9) / (0.75 + 1)
    steps = [1 / (1 + 1), mean / (square**0.5 + 1)]
    found = update([0.0], config, 1.0, 3.0, rate=0.1)
    torch.testing.assert_close(found, torch.tensor([-0.1 * sum(steps)]))


@every_decay
def test_weights_decay_by_their_share_times_the_rate(config):
    """The gradient is zero: nothing else moves them."""
    matrix = torch.full((2, 3), 8.0)
    torch.testing.assert_close(update(matrix, config, 0.0, 0.0), matrix * (1 - 0.25 * 0.1) ** 2)
    plain = config.model_copy(update={"weight_decay": 0.0})
    assert torch.equal(update(matrix, plain, 0.0), matrix)


@pytest.mark.parametrize("config", [ADAMW, ADAFACTOR], ids=lambda c: c.kind)
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_norms_and_biases_do_not_decay(config, norm):
    model = tiny_model(norm=norm, tying="none", positions="learned", max_length=5)
    vectors = set()
    for name, module in model.named_modules():
        inside = dict(module.named_parameters(name, recurse=False))
        vectors |= {one for one in inside if one.endswith(".bias") or "norm" in one}
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(1.0)
            parameter.grad = torch.zeros_like(parameter)
    make_optimizer(model.named_parameters(), config).step()
    kept = {name for name, one in model.named_parameters() if bool((one == 1).all())}
    assert kept == vectors
    assert 0 < len(kept) < len(list(model.parameters()))


@every_decay
def test_a_model_of_vectors_or_of_matrices_alone_has_one_group(config):
    for shape in ((3,), (3, 3)):
        weight = nn.Parameter(torch.ones(shape))
        assert len(make_optimizer([(IN_A_LAYER, weight)], config).param_groups) == 1


@every_optimizer
def test_what_is_frozen_gets_no_state(config):
    model = tiny_model()
    model.encoder.requires_grad_(False)
    optimizer = make_optimizer(model.named_parameters(), config)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()
    assert {id(one) for one in optimizer.state} == {
        id(one) for one in model.parameters() if one.requires_grad
    }


@every_optimizer
def test_a_stored_state_goes_on_as_before(config):
    torch.manual_seed(1)
    gradients = torch.randn(4, 3, 4)
    weight = nn.Parameter(torch.ones(3, 4))
    optimizer = make_optimizer([(IN_A_LAYER, weight)], config)
    for number, gradient in enumerate(gradients):
        if number == 2:
            resumed = nn.Parameter(weight.detach().clone())
            other = make_optimizer([(IN_A_LAYER, resumed)], config)
            other.load_state_dict(deepcopy(optimizer.state_dict()))
        weight.grad = gradient
        optimizer.step()
        if number >= 2:
            resumed.grad = gradient
            other.step()
    assert torch.equal(weight, resumed)


# Adafactor: at its first update the mean square is the square itself, so a step has the size 1
# times the rate times the size of the weights.
def adafactor(**changes):
    return ADAFACTOR.model_copy(update={"weight_decay": 0.0, **changes})


@pytest.mark.parametrize("size", [4.0, 0.5])
@pytest.mark.parametrize("shape", [(3,), (3, 4)])
def test_the_rate_of_adafactor_is_a_share_of_the_size_of_the_weights(size, shape):
    found = update(torch.full(shape, size), adafactor(), 7.0, rate=0.01)
    torch.testing.assert_close(found, torch.full(shape, size * (1 - 0.01)))


def test_adafactor_takes_weights_to_have_a_smallest_size():
    found = update(torch.zeros(3), adafactor(smallest_size=0.5), 7.0, rate=0.01)
    torch.testing.assert_close(found, torch.full((3,), -0.005))


def test_adafactor_caps_the_rate_at_one_by_the_square_root_of_the_updates():
    """There and back again, so that the weight stays below the smallest size."""
    config = adafactor(smallest_size=100.0, beta2_decay=0.0)
    gradients = [1.0, -1.0, 1.0, -1.0]
    places = [update([0.0], config, *gradients[:count], rate=0.6).item() for count in range(5)]
    steps = [abs(after - before) for before, after in pairwise(places)]
    assert steps == pytest.approx([60.0, 60.0, 57.735, 50.0], abs=1e-3)


@pytest.mark.parametrize(("largest", "step"), [(1.0, 1.0), (1.2, 1.2), (2.0, 1.314645)])
def test_adafactor_shortens_steps_above_a_largest_one(largest, step):
    """At update 2 the mean square is 1 + 99 / 2^0.8, whose root goes 1.31465 times into 10."""
    config = adafactor(smallest_size=1.0, largest_step=largest)
    weight = torch.zeros(1)
    first, both = update(weight, config, 1.0), update(weight, config, 1.0, 10.0)
    assert (first - both).item() == pytest.approx(0.25 * step, rel=1e-5)


def test_the_mean_square_of_adafactor_decays_as_it_is_told():
    """With 0 it forgets at once; with -1 it is the mean of all."""
    for decay, square in ((0.0, 16.0), (-1.0, (4.0 + 16.0) / 2)):
        config = adafactor(smallest_size=1.0, largest_step=9.0, beta2_decay=decay)
        first = update(torch.zeros(1), config, 2.0)
        both = update(torch.zeros(1), config, 2.0, 4.0)
        assert (first - both).item() == pytest.approx(0.25 * 4.0 / square**0.5, rel=1e-5)


def test_adafactor_never_divides_by_less_than_epsilon():
    config = adafactor(smallest_size=1.0, epsilon=0.5)
    assert update(torch.zeros(1), config, 0.25).item() == pytest.approx(-0.25 * 0.5)


@pytest.mark.parametrize("epsilon", [1e-15, 1e-18])
def test_a_piece_that_no_batch_held_stays_where_it_is(epsilon):
    """Its row of an embedding has a gradient of zero."""
    gradient = torch.tensor([[0.0, 0.0], [1.0, 2.0]])
    found = update(torch.ones(2, 2), adafactor(epsilon=epsilon), gradient, gradient)
    assert found.isfinite().all()
    assert torch.equal(found[0], torch.ones(2))
    assert (found[1] < 1).all()


@every_decay
def test_a_run_keeps_the_state_of_its_optimizer(run, config):
    """In a file that opens safely; weights decay and stay finite."""
    ended = run(
        optimizer=config.model_dump(),
        trainer__max_updates=3,
        validation__every_updates=3,
        checkpoints__newest=0,
    )
    last = ended.checkpoints["last"]
    (state,) = last["optimizer_states"]
    assert [group["weight_decay"] for group in state["param_groups"]] == [0.1, 0.0]
    assert {float(one["step"]) for one in state["state"].values() if "step" in one} == {3.0}
    assert all(weight.isfinite().all() for weight in last["state_dict"].values())
