"""Imports run downwards in the list of rooms only (the map in the README)."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import latimer

PACKAGE = Path(latimer.__file__).parent
ROOMS = {
    "config": set(),
    "tokenizer": set(),
    "data": {"config", "tokenizer"},
    "model": set(),
    "decoding": {"model", "config"},
    "scoring": set(),
    "checkpoint": {"model", "tokenizer"},
    "translation": {"checkpoint", "decoding", "model", "scoring", "tokenizer"},
    "attention_maps": {"checkpoint", "decoding", "model", "tokenizer", "translation"},
    "reports": {"decoding", "model", "scoring", "tokenizer", "translation"},
    "evaluation": {
        "checkpoint",
        "config",
        "data",
        "decoding",
        "model",
        "reports",
        "scoring",
        "tokenizer",
        "translation",
    },
    "training": {
        "attention_maps",
        "checkpoint",
        "config",
        "data",
        "decoding",
        "evaluation",
        "model",
        "scoring",
        "tokenizer",
        "translation",
    },
    "sweeps": {"checkpoint", "config", "evaluation"},
    "commands": {"checkpoint", "config", "data", "decoding", "translation"},
}
EVERYONE_MAY_IMPORT = {"errors", "html_page", "memory", "screen"}
TORCH_ALONE = {"torch", "math", "dataclasses", "typing", "collections", "contextlib", "latimer"}


def imported_modules(path: Path) -> set[str]:
    """Dotted names of the modules that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
    return names


def test_every_room_is_on_the_map():
    rooms = {path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    assert rooms == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_that_it_may_know(room):
    allowed = ROOMS[room] | EVERYONE_MAY_IMPORT | {room}
    for path in (PACKAGE / room).rglob("*.py"):
        for name in imported_modules(path):
            if name.startswith("latimer."):
                assert name.split(".")[1] in allowed, f"{path} imports {name}"


def test_the_model_needs_torch_alone():
    for path in (PACKAGE / "model").rglob("*.py"):
        for name in imported_modules(path):
            assert name.split(".")[0] in TORCH_ALONE, f"{path} imports {name}"
            assert not name.startswith("latimer.") or name.startswith("latimer.model")


@pytest.mark.parametrize("room", ["translation", "attention_maps", "evaluation"])
def test_translating_drawing_and_evaluating_do_not_load_lightning(room):
    program = (
        f"import sys, latimer.{room}; "
        "bad = {'pytorch_lightning', 'latimer.training', 'hydra'} & set(sys.modules); "
        "sys.exit(str(bad) if bad else 0)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
