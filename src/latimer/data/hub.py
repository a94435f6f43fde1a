"""Data sets on the Hugging Face Hub, or in a local folder laid out like one."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from datasets import Dataset, load_dataset
from datasets.exceptions import DatasetsError

from latimer.config.data import HubData
from latimer.data.pairs import SCHEMA
from latimer.errors import LatimerError


def read_hub(data: HubData, split: str) -> Dataset:
    """Reads one split; its columns are named after the languages, or nested in "translation".

    Every row is kept. A line end inside a text becomes a space, since a translation is one line.
    The files stay memory-mapped in the cache of the datasets library.

    Args:
        data: the data set, and the two languages.
        split: the split's name on the Hub.

    Raises:
        LatimerError: the data set can't be had, or holds no such languages, or a row no text.
    """
    name = " ".join(filter(None, [data.path, data.configuration, split]))
    rows = _load(data, split)
    if "translation" in rows.column_names:
        rows = rows.select_columns("translation").flatten()
    table = rows.with_format("arrow")[:]
    columns = {
        "source": _texts(table, data.source_language, name),
        "target": _texts(table, data.target_language, name),
        "file": pa.repeat(name, len(rows)),
        "line": pa.array(range(1, len(rows) + 1), pa.int64()),
    }
    return Dataset(pa.table(columns, schema=SCHEMA))


def _load(data: HubData, split: str) -> Dataset:
    try:
        return load_dataset(data.path, data.configuration, revision=data.revision, split=split)
    except ConnectionError as error:
        raise LatimerError(
            f"data.path={data.path}: no such folder here, and the Hugging Face Hub can't be "
            "reached. Fetch the data set once where there is a network (later runs then work "
            "with HF_DATASETS_OFFLINE=1), or use data=files."
        ) from error
    except RuntimeError as error:
        if "script" not in str(error):
            raise
        raise LatimerError(
            f"data.path={data.path}: this data set needs a loading script, which is no longer run. "
            "Convert it to Parquet or JSON Lines, or use data=files."
        ) from error
    except (OSError, ValueError, DatasetsError) as error:
        raise LatimerError(f"data.path={data.path}: {error.__cause__ or error}") from error


def _texts(table: pa.Table, language: str, name: str) -> pa.ChunkedArray:
    found = {column.removeprefix("translation."): column for column in table.column_names}
    if language not in found:
        raise LatimerError(f"{name}: no language {language!r}; it has {', '.join(found)}")
    column = table[found[language]]
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise LatimerError(f"{name}: {language!r} must hold text, and holds {column.type}")
    _refuse(pc.is_null(column), f"{name}: {language!r} is empty (null)")
    _refuse(pc.match_substring(column, "\0"), f"{name}: {language!r} holds a NUL")
    for line_end in ("\r\n", "\n"):
        if pc.any(pc.match_substring(column, line_end)).as_py():
            column = pc.replace_substring(column, line_end, " ")
    return column.cast(pa.string())


def _refuse(mistakes: Any, message: str) -> None:
    row = pc.index(mistakes, True).as_py()
    if row >= 0:
        raise LatimerError(f"{message} in row {row + 1}")
