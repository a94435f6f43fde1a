"""``docs/paper.md`` is true: the files, names, keys and tests that it names exist."""

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from latimer.config.compose import plain
from latimer.config.evaluate import EvaluateConfig
from latimer.config.names import known_keys
from latimer.config.run import RunConfig

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "paper.md"
TEXT = PAGE.read_text(encoding="utf-8")
CLAIMS = ("claim", "where", "key", "test", "verdict")
DEPARTURES = ("key", "`train.py`", "`paper/base_en_de`", "why")
FOLLOWED, CHOSEN, CANNOT = "*followed*", "*chosen*", "*cannot be reproduced here*"
NOTHING = "—"


def rows_of(columns: tuple[str, ...]) -> list[dict[str, str]]:
    """The rows of all tables that have these columns."""
    found, inside = [], False
    for line in TEXT.split("\n"):
        cells = tuple(line.removeprefix("| ").removesuffix(" |").split(" | "))
        if cells == columns:
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("| ---"):
            found.append(dict(zip(columns, cells, strict=True)))
    return found


ROWS = rows_of(CLAIMS)


def links(cell: str) -> list[tuple[str, Path]]:
    """The names that a cell shows, and the files that they lead to."""
    found = re.findall(r"\[`([^`]+)`\]\(([^)]+)\)", cell)
    assert cell in (NOTHING, ", ".join(f"[`{name}`]({path})" for name, path in found))
    return [(name, (PAGE.parent / path).resolve()) for name, path in found]


def all_links(column: str) -> set[tuple[str, Path]]:
    return {link for row in ROWS for link in links(row[column])}


@cache
def defined_in(path: Path) -> set[str]:
    """The functions and classes of a Python file, and the methods as Class.method."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (part for part in node.body if isinstance(part, ast.FunctionDef))
            names |= {f"{node.name}.{method.name}" for method in methods}
    return names


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["claim"][:60])
def test_every_claim_has_a_place_a_test_and_a_verdict(row):
    verdict = row["verdict"]
    assert verdict.startswith((FOLLOWED, CHOSEN, CANNOT))
    if verdict.startswith(CANNOT):
        assert re.match(re.escape(CANNOT) + r": \S", verdict), "it must say why"
    else:
        assert NOTHING not in (row["where"], row["test"])


@pytest.mark.parametrize("section", ["3.1", "3.2", "3.3", "3.4", "3.5", "5.1", "5.2", "5.3", "5.4"])
def test_every_section_has_claims(section):
    _, _, below = TEXT.partition(f"\n## Section {section}: ")
    assert "| claim | where |" in below.partition("\n## ")[0]


@pytest.mark.parametrize("link", sorted(all_links("where")), ids=lambda link: link[0])
def test_every_place_exists(link):
    name, path = link
    if path.suffix == ".yaml":
        assert (path.stem, path.is_file()) == (name, True)
    else:
        assert name in defined_in(path)


@pytest.mark.parametrize("link", sorted(all_links("test")), ids=lambda link: link[0])
def test_every_test_exists(link):
    name, path = link
    assert path.is_relative_to(ROOT / "tests")
    assert path.name.startswith("test_")
    assert name.startswith("test_")
    assert name in defined_in(path)


def test_every_link_leads_to_a_file():
    paths = re.findall(r"\]\((?!https:)([^)]+)\)", TEXT)
    assert [path for path in paths if not (PAGE.parent / path).is_file()] == []


def test_every_key_is_one_of_a_run_or_of_an_evaluation():
    known = {NOTHING}.union(*(known_keys(schema) for schema in (RunConfig, EvaluateConfig)))
    named = {key.strip("`") for row in ROWS for key in row["key"].split(", ")}
    assert named <= known


def test_every_recipe_is_on_the_page():
    recipes = {(path.stem, path) for path in (ROOT / "conf/experiment/paper").iterdir()}
    assert recipes <= all_links("where")


def test_every_row_of_tables_2_and_3_is_on_the_page():
    table_2, table_3 = TEXT.partition("\n### Table 2")[2].split("\n### Table 3")
    assert sum(line.startswith("| Transformer, ") for line in table_2.split("\n")) == 4
    assert table_2.count(": another system |") == 8
    assert len(re.findall(r"^\| (base:|\([A-E]\)|big:)", table_3, re.MULTILINE)) == 20


def values(*overrides: str) -> dict:
    """Every key and its value, without the names and the corpus that a run is given."""
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        keys = flat(plain(compose("train", list(overrides))))
    of_the_corpus = r"name$|data\.(?!cleaning\.)"
    return {key: value for key, value in keys.items() if not re.match(of_the_corpus, key)}


def flat(section: dict, prefix: str = "") -> dict:
    found = {}
    for key, value in section.items():
        inner = isinstance(value, dict) and value
        found |= flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return found


def show(keys: dict, key: str) -> str:
    """A value as the page has it."""
    return f"`{json.dumps(keys[key])}`".replace('"', "") if key in keys else NOTHING


def test_the_departures_of_a_default_run_are_listed_with_their_values():
    default, paper = values(), values("experiment=paper/base_en_de")
    both = {f"`{key}`": (show(default, key), show(paper, key)) for key in default | paper}
    listed = {
        row["key"]: tuple(row[column] for column in DEPARTURES[1:3]) for row in rows_of(DEPARTURES)
    }
    assert listed == {key: (here, there) for key, (here, there) in both.items() if here != there}
