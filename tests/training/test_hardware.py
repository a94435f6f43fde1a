"""trainer=auto picks device and precision and says so; what is named is taken."""

import re

import pytest
import torch

from latimer.errors import LatimerError
from latimer.training.hardware import choose_hardware


def choose(make_config, accelerator, precision, devices=1):
    config = make_config(
        trainer__accelerator=accelerator, trainer__precision=precision, trainer__devices=devices
    )
    return choose_hardware(config.trainer)


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: (7, 0))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "V100")


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


def test_float16_is_taken_by_name_and_never_chosen(make_config, two_gpus):
    assert choose(make_config, "gpu", "float16-mixed").precision == "float16-mixed"
    assert choose(make_config, "gpu", "auto").precision == "float32"


@pytest.mark.parametrize("accelerator", ["cpu", "mps"])
def test_float16_is_for_gpus(make_config, monkeypatch, accelerator):
    """Field case 69: refused at the start."""
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    with pytest.raises(LatimerError, match=r"precision=float16-mixed: .*trainer\.precision=auto"):
        choose(make_config, accelerator, "float16-mixed")


def test_several_devices_are_named(make_config, monkeypatch, two_gpus):
    assert choose(make_config, "gpu", "float32", devices=2).description.startswith("2 × V100")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert "3 × CPU with " in choose(make_config, "cpu", "float32", devices=3).description


@pytest.mark.parametrize(
    ("accelerator", "devices", "advice"),
    [("gpu", 3, "can use 2 of this machine; write trainer.devices=2"), ("mps", 2, "devices=1")],
)
def test_more_devices_than_there_are(
    make_config, monkeypatch, two_gpus, accelerator, devices, advice
):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    with pytest.raises(LatimerError, match=rf"trainer\.devices={devices}: .*{re.escape(advice)}"):
        choose(make_config, accelerator, "auto", devices)
