import json

import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.summary import Summary
from benchmarks.tables import all_tables, fill, markdown
from latimer.errors import LatimerError


def training(competitor, *speeds, precision="float32"):
    runs = [
        {"pieces": 10 * speed, "seconds": 10.0, "peak_bytes": 2**31, "resident_before": 2**29}
        for speed in speeds
    ]
    return {"size": "small", "precision": precision, "competitor": competitor, "runs": runs}


RESULTS = {
    "machine": {"cpu": "A", "instructions": ["avx2"], "environment": {}},
    "training": [
        training("torch", 1_000, 900, 1_200),
        training("latimer", 2_500, 2_400, 2_400),
        training("latimer", 8_000, precision="bf16-mixed"),
        training("torch", 4_000, precision="bf16-mixed"),
    ],
    "products": [
        {
            "size": "small",
            "precision": "float32",
            "peak": 200e9,
            "square": 300e9,
            "useful_flops": 40e6,
            "padded_flops": 50e6,
            "formula_of_one_batch": 10,
            "count_of_one_batch": 10,
        }
    ],
    "decoding": [
        {
            "size": "small",
            "competitor": competitor,
            "runs": [{"sentences": 100, "seconds": seconds, "peak_bytes": 2**30}],
        }
        for competitor, seconds in (("latimer", 4.0), ("marian", 10.0))
    ],
    "profile": [
        {
            **{"size": "small", "precision": "float32", "competitor": name, "what": "update"},
            **{"products": products, "attention": 0.0, "rest": 900.0},
            "longest": [["aten::mul", 500.0]],
        }
        for name, products in (("latimer", 600.0), ("torch", 1_500.0))
    ],
    "start": [{"what": "train.py --help", "seconds": [2.0, 1.0, 9.0]}],
    "growth": [
        {
            **{"what": "update time", "against": "V", "unit": "s", "points": [[1000, 1.0]] * 2},
            **{"constant": 0.5, "slope": 2e-3, "largest_deviation": 0.04, "exponent": 1.0},
        }
    ],
}


def row(table, *labels):
    [found] = [
        line for line in table.split("\n") if all(f"| {label} |" in line for label in labels)
    ]
    return [cell.strip() for cell in found.strip("|").split("|")]


def test_median_and_spread():
    assert Summary.of([3.0, 1.0, 2.0]) == (2.0, 1.0, 3.0)
    assert Summary.of([4.0, 1.0, 2.0, 3.0]).median == 2.5
    assert Summary.of([1234.4, 1000.0, 2000.0]).text() == "1,234 (1,000 to 2,000)"
    assert Summary.of([1.25]).text(2) == "1.25"


def test_speeds_stand_beside_the_baseline_of_the_same_precision():
    table = all_tables(RESULTS)["training"]
    ours = row(table, "latimer", "float32")
    assert ours[3:] == ["2,400 (2,400 to 2,500)", "2.40 ×", "48%"]
    assert row(table, "torch.nn.Transformer", "float32")[4] == "1.00 ×"
    assert row(table, "latimer", "bf16-mixed")[3:] == ["8,000", "2.00 ×", ""]


def test_the_other_tables():
    tables = all_tables(RESULTS)
    assert row(tables["memory"], "latimer", "float32")[3:] == ["0.50", "2.00"]
    assert row(tables["products"], "small")[2:] == ["200", "300", "40.0", "50.0", "1.000"]
    assert row(tables["decoding"], "latimer") == ["small", "latimer", "25.0", "2.50 ×", "1.00"]
    alone = all_tables({**RESULTS, "decoding": RESULTS["decoding"][:1]})["decoding"]
    assert row(alone, "latimer") == ["small", "latimer", "25.0", "", "1.00"]
    ours, theirs = (row(tables["profile"], each) for each in ("latimer", "torch.nn.Transformer"))
    assert ours[3:] == ["update", "600", "0", "900", "2.50 ×", "mul 500"]
    assert theirs[3:] == ["update", "1,500", "0", "900", "4.00 ×", "mul 500"]
    assert row(tables["start"], "train.py --help")[1] == "2.0 (1.0 to 9.0)"
    assert row(tables["growth"], "update time against V")[2:4] == ["0.5 s", "0.002 s"]
    assert row(tables["machine"], "environment")[1] == "nothing set"


def test_what_was_not_measured_has_no_table():
    assert set(all_tables({"machine": {"cpu": "A"}, "training": []})) == {"machine"}


def test_markdown():
    expected = "| a | b |\n| --- | ---: |\n| 1 | 2 |"
    assert markdown(("a", "b"), [("1", "2")]) == expected


def test_tables_are_put_into_their_places():
    place = "<!-- table: start -->\n{}<!-- end of table -->"
    text = f"before\n{place.format('old')}\nafter\n"
    once = fill(text, {"start": "| 1 |"})
    assert once == f"before\n{place.format(chr(10) + '| 1 |' + chr(10) * 2)}\nafter\n"
    assert fill(once, {"start": "| 1 |"}) == once
    with pytest.raises(LatimerError, match="table: machine"):
        fill(text, {"machine": ""})


def test_results_are_shown_and_put_into_the_page(tmp_path):
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    rows = RESULTS["training"]
    first.write_text(json.dumps({**RESULTS, "start": [], "training": rows[:2]}))
    second.write_text(json.dumps({"start": RESULTS["start"], "training": rows[2:]}))
    shown = CliRunner().invoke(app, ["show", str(first), str(second)])
    assert shown.exit_code == 0
    for table in all_tables(RESULTS).values():
        assert table in shown.output


def test_the_page_has_a_place_for_every_table(tmp_path):
    from benchmarks.workloads import ROOT

    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert "2,400 (2,400 to 2,500)" in fill(page, all_tables(RESULTS))
