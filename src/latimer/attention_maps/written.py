"""The files of a reading: a PNG of each kind and layer, and the page that shows them all."""

from itertools import count
from pathlib import Path

from latimer.attention_maps.heatmaps import as_png, draw_heads
from latimer.attention_maps.page import Picture, make_page
from latimer.attention_maps.reading import Reading
from latimer.errors import LatimerError

CSS_DPI = 96
PAGE = "attention.html"


def write_reading(reading: Reading, folder: Path | None) -> Path:
    """Draws all attention of a reading.

    Args:
        reading: what to draw.
        folder: where to, made if need be; None for a new one in ``attention`` in the run's
            folder, or beside a checkpoint that lies outside any run.

    Returns:
        The page; ``<kind>_layer_<number>.png`` lie beside it.

    Raises:
        LatimerError: the folder cannot be made or written to.
    """
    try:
        folder = _new_folder(reading.loaded.path) if folder is None else folder.expanduser()
        folder.mkdir(parents=True, exist_ok=True)
        return _write(reading, folder)
    except OSError as error:
        raise LatimerError(
            f"{error.filename}: cannot be written ({error.strerror}); "
            "write --output and another folder"
        ) from error


def _write(reading: Reading, folder: Path) -> Path:
    pictures = []
    for attention in reading.maps:
        for layer in range(1, len(attention.weights) + 1):
            figure = draw_heads(attention, layer)
            width = round(figure.get_figwidth() * CSS_DPI)
            picture = Picture(attention.kind, layer, as_png(figure), width)
            (folder / f"{attention.kind}_layer_{layer}.png").write_bytes(picture.png)
            pictures.append(picture)
    page = folder / PAGE
    page.write_text(make_page(reading, pictures), encoding="utf-8")
    return page


def _new_folder(checkpoint: Path) -> Path:
    """``attention/1``, ``attention/2``, …: no sentence takes another one's place."""
    beside = checkpoint.absolute().parent
    run = beside.parent if beside.name == "checkpoints" else beside
    for number in count(1):
        folder = run / "attention" / str(number)
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise AssertionError("counting never ends")
