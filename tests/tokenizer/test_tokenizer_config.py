from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf
from pydantic import ValidationError

from latimer.config.tokenizer import TokenizerConfig

CONF = Path(__file__).parents[2] / "conf"


def composed(option: str) -> TokenizerConfig:
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = OmegaConf.to_container(compose(None, [f"+tokenizer={option}"]))
    assert isinstance(config, dict)
    return TokenizerConfig(**config["tokenizer"])


@pytest.mark.parametrize("option", ["bpe", "unigram"])
def test_every_option_is_valid(option: str):
    config = composed(option)
    assert config.model_type == option
    assert config == composed("bpe").model_copy(update={"model_type": option})


@pytest.mark.parametrize(
    "wrong",
    [
        {"vocab_size": 4},
        {"vocab_size": 8000.5},
        {"vocab_size": "8000"},
        {"model_type": "word"},
        {"vocabulary": "shared"},
        {"vocabulary": "separate", "file": "my.model"},
        {"character_coverage": 1.1},
        {"character_coverage": 0},
        {"normalization": "NFC"},
        {"byte_fallback": "no"},
        {"bpe_dropout": -0.1},
        {"bpe_dropout": 1.1},
        {"bpe_dropout": 0.1, "model_type": "unigram"},
        {"pad_id": 0},
    ],
)
def test_mistakes_are_refused(wrong: dict):
    with pytest.raises(ValidationError):
        TokenizerConfig(**{**composed("bpe").model_dump(), **wrong})
