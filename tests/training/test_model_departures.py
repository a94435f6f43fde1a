"""A run of a model that departs from the paper in many ways at once."""

from latimer.checkpoint import load_model
from latimer.translation import Translator
from toy_run import GOOD_ENOUGH

DEPARTURES = {
    "positions": "rotary",
    "activation": "swiglu",
    "attention_dropout": 0.05,
    "feed_forward_dropout": 0.05,
    "norm_position": "pre",
    "norm": "rms",
    "tying": "none",
    "d_k": 6,
    "d_v": 10,
}


def test_it_learns_is_kept_and_translates_alone_as_in_a_batch(run):
    changes = {f"model.{key}": value for key, value in DEPARTURES.items()}
    ended = run(**GOOD_ENOUGH, **changes)
    bleu = ended.curve("val/bleu")
    assert max(bleu.values()) > 1.0, "no test if nothing was learnt"
    loaded = load_model(ended.folder)
    assert loaded.model.hyperparameters.items() >= DEPARTURES.items()
    translator = Translator.from_checkpoint(ended.folder, device="cpu")
    lines = ["the red boat is old", "cold", "", "a house a door a kettle is here today on the boat"]
    together = translator.translate(lines)
    assert together == [translator.translate([line])[0] for line in lines]
    assert all(together[i] for i in (0, 1, 3))
