"""The log-probabilities of a step, in memory that the next step takes again."""

import torch
from torch.testing import assert_close

from latimer.decoding.log_softmax import LogSoftmax


def test_any_shapes_one_after_another():
    log_softmax = LogSoftmax()
    for shape in ((2, 1, 30), (2, 4, 30), (1, 4, 30), (3, 4, 30)):
        logits = torch.randn(shape)
        before = logits.clone()
        assert_close(log_softmax(logits), logits.log_softmax(-1))
        assert torch.equal(logits, before)


def test_a_smaller_step_takes_no_new_memory():
    log_softmax = LogSoftmax()
    first = log_softmax(torch.randn(3, 4, 30)).data_ptr()
    assert log_softmax(torch.randn(2, 4, 30)).data_ptr() == first


def test_float32_of_smaller_numbers():
    logits = torch.randn(2, 3, 30).bfloat16()
    assert_close(LogSoftmax()(logits), logits.float().log_softmax(-1))
