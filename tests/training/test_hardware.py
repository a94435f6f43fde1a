"""trainer=auto picks device and precision and says so; what is named is taken."""

import pytest
import torch

from latimer.errors import LatimerError
from latimer.training.hardware import choose_hardware


def choose(make_config, accelerator, precision):
    config = make_config(trainer__accelerator=accelerator, trainer__precision=precision)
    return choose_hardware(config.trainer)


@pytest.mark.parametrize(
    ("features", "precision"),
    [
        ({"avx512_bf16": True}, "bf16-mixed"),
        ({"amx_bf16": True}, "bf16-mixed"),
        ({"avx512_f": True}, "float32"),
        ({}, "float32"),
    ],
)
def test_a_cpu_gets_bfloat16_where_it_is_fast_at_it(make_config, monkeypatch, features, precision):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: features)
    hardware = choose(make_config, "cpu", "auto")
    assert (hardware.accelerator, hardware.precision) == ("cpu", precision)
    assert precision in hardware.description
    assert "AVX512-BF16" in hardware.description


def test_what_is_named_is_taken(make_config, monkeypatch):
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    assert choose(make_config, "cpu", "float32").precision == "float32"


def test_auto_prefers_a_gpu(make_config, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (8, 0))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "A100")
    hardware = choose(make_config, "auto", "auto")
    assert (hardware.accelerator, hardware.precision) == ("gpu", "bf16-mixed")
    assert "A100" in hardware.description


def test_a_device_that_is_not_there_is_refused(make_config, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(LatimerError, match=r"trainer.accelerator=gpu: .* it has: .*cpu"):
        choose(make_config, "gpu", "auto")
