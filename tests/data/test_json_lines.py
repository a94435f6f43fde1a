from pathlib import Path

import pytest

from latimer.data.json_lines import read_json_lines
from latimer.data.pairs import Pair
from latimer.errors import LatimerError

FLAT = '{"en": "red", "xx": "rot", "id": 7}\n'
NESTED = '{"id": 7, "translation": {"en": "red", "xx": "rot"}}\n'


def read(path: Path, content: str) -> list[Pair]:
    path.write_text(content, encoding="utf-8")
    return list(read_json_lines(str(path), source_language="en", target_language="xx"))


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_flat_and_nested_are_the_same(tmp_path: Path, name: str) -> None:  # field case 13
    path = tmp_path / name
    expected = [Pair("red", "rot", str(path), 1), Pair("red", "rot", str(path), 2)]
    assert read(path, FLAT * 2) == read(path, NESTED * 2) == read(path, FLAT + NESTED) == expected


def test_a_missing_language(tmp_path: Path) -> None:  # field case 13
    message = r"a\.jsonl, line 3: no key 'xx' \(the keys are: 'en'\)"
    with pytest.raises(LatimerError, match=message):
        read(tmp_path / "a.jsonl", FLAT + NESTED + '{"en": "red"}\n')


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1]", "not a JSON object"),
        ("{en: red}", "not JSON"),
        ("", "not JSON"),
        ('{"translation": "red"}', "not a JSON object"),
        ('{"en": null, "xx": "rot"}', "'en' must be text, and is None"),
        ('{"en": "red", "xx": 3}', "'xx' must be text, and is 3"),
        ('{"en": "red", "xx": "\\ud800"}', "'xx' holds"),
    ],
)
def test_a_line_without_two_texts(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(LatimerError, match=rf"a\.jsonl, line 2: {message}"):
        read(tmp_path / "a.jsonl", f"{FLAT}{line}\n")


def test_a_line_end_inside_a_text_becomes_a_space(tmp_path: Path) -> None:
    (pair,) = read(tmp_path / "a.jsonl", '{"en": "red\\nboat\\r\\n", "xx": "rotes\\u2028Boot"}\n')
    assert pair[:2] == ("red boat ", "rotes\u2028Boot")
