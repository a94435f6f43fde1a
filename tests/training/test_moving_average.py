"""The exponential moving average of the weights, by Lightning's callback among ours."""

import pytest
import torch
from rescoring import rescored

DECAY = 0.8
EMA = {"ema": {"_target_": "pytorch_lightning.callbacks.EMAWeightAveraging", "decay": DECAY}}
SETTINGS = {
    "callbacks": EMA,
    "checkpoints": {
        "monitor": "val/nll",
        "best": 1,
        "newest": 9,
        "every_updates": 1,
        "average": "newest",
    },
}


def weights(contents, key="state_dict"):
    return torch.cat([contents[key][name].double().flatten() for name in sorted(contents[key])])


def test_every_file_holds_the_average_and_its_scores(run, tmp_path):
    """Beside the weights that are trained, from which it is worked out anew here.

    Field cases 79 and 115; at the end of a run the mean of the files is validated, not the average.
    """
    ended, expected = run(**SETTINGS), None
    contents = ended.checkpoints
    for update in range(1, 7):
        step = contents[f"step_000000{update}"]
        trained = weights(step, "current_model_state")
        expected = trained if expected is None else DECAY * expected + (1 - DECAY) * trained
        torch.testing.assert_close(weights(step), expected, rtol=0, atol=1e-6)
    assert not torch.allclose(expected, trained, atol=1e-4), "no test if both are the same"
    assert torch.equal(weights(contents["last"]), weights(contents["step_0000006"]))
    for name in ("best", "averaged"):
        stored, again = contents[name]["latimer"]["scores"], rescored(ended, name, tmp_path)
        assert again["val/nll"] == pytest.approx(stored["val/nll"], abs=1e-6)
        for tag in ("val/bleu", "val/chrf", "val/length_ratio"):
            assert again[tag] == pytest.approx(stored[tag], abs=1e-9)


@pytest.mark.slow
def test_a_run_goes_on_with_the_weights_that_are_trained_and_with_their_average(run):
    whole = run(**SETTINGS).checkpoints["last"]
    first = run(**SETTINGS, trainer__max_updates=4)
    last = run(**SETTINGS, resume=str(first.folder)).checkpoints["last"]
    for key in ("state_dict", "current_model_state"):
        assert torch.equal(weights(last, key), weights(whole, key))
