"""Every panel is there, shows its own weights, and every piece can be read."""

import warnings
from io import BytesIO

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from latimer.attention_maps import AttentionMap, draw_heads, draw_layers
from latimer.attention_maps.heatmaps import as_pixels, as_png

WORDS = ("▁the", "▁bigynnyng", "ng", "▁$x^2$", "_", ".", "▁é", "<0xE2>", "</s>")
SIZES = [(1, 1), (3, 2), (2, 70), (70, 2), (64, 70)]


def random_map(queries, keys, heads=4, layers=2):
    rows = np.random.default_rng(1).random((layers, heads, queries, keys), dtype=np.float32)
    return AttentionMap(
        kind="cross",
        weights=rows / rows.sum(axis=-1, keepdims=True),
        queries=tuple(WORDS[n % len(WORDS)] for n in range(queries)),
        keys=tuple(WORDS[n % len(WORDS)] for n in range(keys)),
    )


def panels(figure):
    """The axes of a figure without the colour bar's."""
    return figure.axes[:-1]


def shown(axes):
    return np.asarray(axes.collections[0].get_array())


def boxes(texts):
    return [text.get_window_extent() for text in texts if text.get_text()]


@pytest.fixture(scope="module", params=SIZES, ids=str)
def drawn(request):
    """A map, and its first layer as it is drawn."""
    attention = random_map(*request.param)
    figure = draw_heads(attention, 1)
    FigureCanvasAgg(figure).draw()
    return attention, figure


def test_each_head_has_a_panel_with_its_weights(drawn):
    attention, figure = drawn
    assert [axes.get_title() for axes in panels(figure)] == ["head 1", "head 2", "head 3", "head 4"]
    for head, axes in enumerate(panels(figure)):
        assert np.array_equal(shown(axes), attention.weights[0, head])


def test_rows_and_columns_are_labelled_where_they_are(drawn):
    attention, figure = drawn
    for axes in panels(figure):
        rows = [text for text in axes.texts if text.get_rotation() == 0]
        columns = [text for text in axes.texts if text.get_rotation() == 90]
        assert tuple(text.get_text() for text in rows) == attention.queries
        assert tuple(text.get_text() for text in columns) == attention.keys
        assert [text.get_position()[1] for text in rows] == [n + 0.5 for n in range(len(rows))]
        assert [text.get_position()[0] for text in columns] == [
            n + 0.5 for n in range(len(columns))
        ]
        assert axes.yaxis_inverted()


def test_nothing_is_cut_off(drawn):
    _, figure = drawn
    texts = list(figure.texts)
    for axes in figure.axes:
        texts += [*axes.texts, axes.title, *axes.get_yticklabels()]
    for box in boxes(texts):
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width
        assert box.y1 <= figure.bbox.height


def test_no_panel_reaches_into_another(drawn):
    _, figure = drawn
    whole = []
    for axes in figure.axes:
        parts = boxes([*axes.texts, axes.title, *axes.get_yticklabels()])
        whole.append(axes.bbox.union([axes.bbox, *parts]))
    for number, box in enumerate(whole):
        assert not any(box.overlaps(other) for other in whole[number + 1 :])
    assert not any(title.overlaps(box) for title in boxes(figure.texts) for box in whole)


def test_no_label_covers_its_neighbour(drawn):
    _, figure = drawn
    for axes in panels(figure):
        width, height = axes.bbox.width, axes.bbox.height
        (columns, rows) = axes.get_xlim()[1], axes.get_ylim()[0]
        for text in axes.texts:
            box = text.get_window_extent()
            if text.get_rotation():
                assert box.width <= width / columns
            else:
                assert box.height <= height / rows


def test_a_figure_is_no_wider_than_a_screen_takes():
    wide = draw_heads(random_map(20, 20, heads=16), 1)
    assert len(panels(wide)) == 16
    assert wide.get_figwidth() < 15


def test_a_layer_is_counted_from_one():
    attention = random_map(3, 4)
    second = draw_heads(attention, 2)
    assert np.array_equal(shown(panels(second)[0]), attention.weights[1, 0])
    assert "layer 2" in second.texts[0].get_text()


def test_layers_side_by_side_are_the_means_of_their_heads():
    attention = random_map(3, 4)
    figure = draw_layers(attention)
    assert [axes.get_title() for axes in panels(figure)] == ["layer 1", "layer 2"]
    for layer, axes in enumerate(panels(figure)):
        assert shown(axes) == pytest.approx(attention.weights[layer].mean(axis=0))


def test_one_scale_for_all_pictures():
    scales = [axes.collections[0].norm for axes in panels(draw_heads(random_map(3, 4), 1))]
    assert {(scale.vmin, scale.vmax) for scale in scales} == {(0.0, 1.0)}


def test_a_weight_of_zero_is_white_and_one_of_sixty_equal_ones_is_seen():
    mesh = panels(draw_heads(random_map(2, 2), 1))[0].collections[0]
    white, faint = mesh.to_rgba([0.0, 1 / 60])
    assert white.tolist() == [1.0, 1.0, 1.0, 1.0]
    assert faint[0] < 0.95


def test_pieces_of_any_language_are_drawn_without_a_warning():
    pieces = ("▁你好", "▁שלום", "▁नमस्ते", "😀", "\u200b", "\x07", "$", "\\alpha", "▁%", "")
    weights = np.full((1, 1, len(pieces), len(pieces)), 0.1, dtype=np.float32)
    attention = AttentionMap(kind="encoder", weights=weights, queries=pieces, keys=pieces)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure = draw_heads(attention, 1)
        as_png(figure)
    labels = [text.get_text() for text in panels(figure)[0].texts]
    assert labels[4:9] == ["U+200B", "U+0007", "$", "\\alpha", "▁%"]


def test_the_file_and_the_pixels():
    figure = draw_heads(random_map(3, 4), 1)
    width, height = (figure.get_size_inches() * 150).astype(int)
    with Image.open(BytesIO(as_png(figure))) as image:
        assert image.format == "PNG"
        assert image.size == (width, height)
    pixels = as_pixels(figure)
    assert pixels.shape == (height, width, 3)
    assert pixels.dtype == np.uint8
    assert pixels.min() < 50 < 200 < pixels.max()
