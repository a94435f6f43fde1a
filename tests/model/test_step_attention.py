"""Attention of the newest position gives what the reference gives."""

import pytest
import torch
from torch.testing import assert_close

from latimer.model.attention import reference_attention
from latimer.model.step_attention import (
    FOR_PRODUCTS,
    attend_to_past,
    attend_to_source,
    padding_bias,
)


@pytest.mark.parametrize("positions", [1, 9, FOR_PRODUCTS // 5, FOR_PRODUCTS // 5 + 40])
def test_every_row_attends_to_its_own_past(positions):
    query = torch.randn(6, 4, 8)
    keys, values = (torch.randn(positions, 6, 4, width) for width in (8, 5))
    expected, _ = reference_attention(
        query.unsqueeze(2), keys.permute(1, 2, 0, 3), values.permute(1, 2, 0, 3)
    )
    assert_close(attend_to_past(query, keys, values), expected.squeeze(2))


def test_beams_attend_to_what_is_no_padding_of_their_source():
    queries, keys = torch.randn(2, 4, 3, 8), torch.randn(2, 4, 7, 8)
    values = torch.randn(2, 4, 7, 5)
    may_attend = torch.tensor([[1, 1, 1, 1, 0, 0, 0], [1] * 7]).bool()[:, None, None]
    found = attend_to_source(queries, keys, values, padding_bias(may_attend, keys))
    expected = reference_attention(queries, keys, values, may_attend)
    assert_close(found, expected)
    assert not found[1][0, ..., 4:].any()
