"""Attention that can be looked at: weights with their pieces, heatmaps, a page."""

from latimer.attention_maps.heatmaps import draw_heads, draw_layers
from latimer.attention_maps.reading import Reading, read_sentence
from latimer.attention_maps.weights import AttentionMap, AttentionMaps, read_weights
from latimer.attention_maps.written import write_reading

__all__ = [
    "AttentionMap",
    "AttentionMaps",
    "Reading",
    "draw_heads",
    "draw_layers",
    "read_sentence",
    "read_weights",
    "write_reading",
]
