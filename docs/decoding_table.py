"""One trained model, decoded in every way that there is: BLEU, length and speed of each.

    python docs/decoding_table.py CHECKPOINT [--ensemble CHECKPOINT] [--test-set NAME] [--limit N]
        [--output FILE]

translates the checkpoint's own test set once for each row, and prints a table in Markdown. A row's
last column is what evaluate.py takes to do the same. docs/decoding.md explains what it says.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from hydra import compose, initialize_config_dir

from latimer.checkpoint import LoadedModel, load_model
from latimer.config.check import check
from latimer.config.compose import plain
from latimer.config.decoding import stored_decoding
from latimer.config.evaluate import EvaluateConfig
from latimer.config.scoring import stored_scoring
from latimer.data.corpus import fingerprint, read_split, test_set_names
from latimer.errors import LatimerError
from latimer.scoring import Scores, SentenceMetric, require_tokenizer, score
from latimer.translation import Translation, Translator, stored_search

CONF = Path(__file__).parents[1] / "conf"
BEAM = "decoding=beam decoding.beam_size={} decoding.length_penalty={}"
PLAIN, N_BEST, ORACLE = "beam 4, α 0.6", "beam 4, the first of 4", "oracle: the best of these 4"
SETTINGS = {
    "greedy": "decoding=greedy",
    "beam 4, α 0": BEAM.format(4, 0),
    PLAIN: BEAM.format(4, 0.6),
    "beam 4, α 1": BEAM.format(4, 1),
    "beam 4, average": BEAM.format(4, "average"),
    "beam 8, α 0": BEAM.format(8, 0),
    "beam 8, α 0.6": BEAM.format(8, 0.6),
    "beam 8, α 1": BEAM.format(8, 1),
    N_BEST: f"{BEAM.format(4, 0.6)} decoding.n_best=4",
    "coverage penalty": f"{BEAM.format(4, 0.6)} decoding.coverage_penalty=0.2",
    "diverse groups": f"{BEAM.format(4, 0.6)} decoding.beam_groups=2 "
    "decoding.diversity_penalty=0.5",
    "no repeated 3-gram": f"{BEAM.format(4, 0.6)} decoding.no_repeat_ngram=3",
    "a sample": "decoding=sampling",
    "a sample, top-k 10": "decoding=sampling decoding.top_k=10",
    "a sample, top-p 0.9": "decoding=sampling decoding.top_p=0.9",
    "minimum risk, 16 samples": "decoding=minimum_risk decoding.samples=16 decoding.utility=chrf",
}
ENSEMBLE = "ensemble of two, beam 4"
HEAD = "| decoding | BLEU (95%) | length ratio | sentences/s | settings |\n| --- |" + " --- |" * 4


@dataclass(frozen=True)
class Row:
    """What came of one way of decoding.

    Attributes:
        name: what it is called here.
        settings: what evaluate.py takes to do the same.
        bleu: of the whole test set, 0 to 100.
        confidence: both ends of its 95% interval.
        length_ratio: words of the translations / words of the references.
        seconds: of the translation alone.
        sentences_per_second: likewise.
    """

    name: str
    settings: str
    bleu: float
    confidence: tuple[float, float] | None
    length_ratio: float
    seconds: float
    sentences_per_second: float

    def __str__(self) -> str:
        low, high = self.confidence or (self.bleu, self.bleu)
        return (
            f"| {self.name} | {self.bleu:.2f} ({low:.1f} to {high:.1f}) | {self.length_ratio:.3f} "
            f"| {self.sentences_per_second:.1f} | `{self.settings}` |"
        )


class Table:
    """The rows of a test set, in the making; each is shown on stderr when it is there."""

    def __init__(self, loaded: LoadedModel, pairs: Dataset) -> None:
        self.loaded = loaded
        self.scoring = stored_scoring(loaded.config)
        self.sources, self.references = list(pairs["source"]), list(pairs["target"])
        self.rows: list[Row] = []
        self.signature = ""

    def decode(
        self, name: str, settings: str, others: Sequence[LoadedModel] = ()
    ) -> list[Translation]:
        """Translates the test set in one way, and adds its row."""
        translator = make_translator(self.loaded, settings.split(), others)
        if not self.rows:
            translator.translate(self.sources[:4])  # what a process does once is not timed
        started = time.perf_counter()
        found = translator.translations(self.sources)
        self.add(name, settings, [each.text for each in found], time.perf_counter() - started)
        return found

    def add(self, name: str, settings: str, texts: Sequence[str], seconds: float) -> None:
        """A row of texts that were found in some seconds."""
        scores = self.score(texts)
        speed = len(texts) / seconds
        bleu, self.signature = scores.bleu, scores.bleu.signature
        self.rows.append(
            Row(name, settings, bleu.score, bleu.confidence, scores.length_ratio, seconds, speed)
        )
        print(self.rows[-1], file=sys.stderr)

    def score(self, texts: Sequence[str]) -> Scores:
        """As evaluate.py scores them."""
        language = self.loaded.target_language
        return score(texts, self.references, target_language=language, **dict(self.scoring))

    def best_of(self, found: Sequence[Translation]) -> list[str]:
        """Of each sentence's hypotheses the one with the best BLEU: the reference was looked at."""
        decode = self.loaded.tokenizers.target.decode
        metric = SentenceMetric("bleu", self.loaded.target_language)
        best = []
        for one, reference in zip(found, self.references, strict=True):
            texts = [decode(each.ids) for each in one.hypotheses] or [""]
            scores = metric.scores(texts, [reference] * len(texts))
            best.append(texts[scores.index(max(scores))])
        return best


def read_config(overrides: Sequence[str], loaded: LoadedModel) -> EvaluateConfig:
    """What evaluate.py makes of such arguments; the data are those of the checkpoint's run."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        composed = compose("evaluate", ["checkpoint=this", *overrides])
    return check({**plain(composed), "data": loaded.config["data"]}, EvaluateConfig)


def make_translator(
    loaded: LoadedModel, overrides: Sequence[str], others: Sequence[LoadedModel]
) -> Translator:
    """A translator as evaluate.py would have it."""
    config = read_config([each for each in overrides if not each.startswith("ensemble=")], loaded)
    decoding = config.decoding.applied_to(stored_decoding(loaded.config["decoding"]))
    return Translator.from_loaded(
        loaded,
        stored_search({"decoding": decoding.model_dump()}),
        others=others,
        device=config.device,
        max_tokens=decoding.max_tokens,
    )


def fill(table: Table, other: LoadedModel | None) -> dict[str, Any]:
    """Adds all rows; returns what is to be said of them beside the table."""
    found = {}
    for name, settings in SETTINGS.items():
        found[name] = table.decode(name, settings)
        if name == N_BEST:
            seconds = table.rows[-1].seconds
            table.add(ORACLE, settings, table.best_of(found[name]), seconds)
    if other is not None:
        table.decode(ENSEMBLE, f"ensemble=[{other.path}] {SETTINGS[PLAIN]}", [other])
    pairs = zip(found[PLAIN], found[N_BEST], strict=True)
    return {"first_of_4_is_that_of_beam_4": sum(one.text == first.text for one, first in pairs)}


def check_output(path: Path | None) -> None:
    """Before the hours that a table may take."""
    if path is not None and path.exists():
        raise LatimerError(f"--output {path}: is there already; name another file")
    if path is not None and not path.parent.is_dir():
        raise LatimerError(f"--output {path}: there is no such folder; make it, or name another")


def main(asked: argparse.Namespace) -> None:
    """The whole table."""
    check_output(asked.output)
    loaded = load_model(asked.checkpoint)
    other = load_model(asked.ensemble) if asked.ensemble else None
    data = read_config([], loaded).data
    assert data is not None
    name = asked.test_set or next(iter(test_set_names(data)), None)
    pairs = read_split(data, "test", name)
    lines = len(pairs)
    if asked.limit is not None:
        pairs = pairs.select(range(min(asked.limit, lines)))
    table = Table(loaded, pairs)
    require_tokenizer(loaded.target_language, table.scoring.bleu_tokenizer)
    notes = fill(table, other)
    about = {
        "checkpoint": str(loaded.path.absolute()),
        "checkpoint_sha256": loaded.sha256,
        "updates": loaded.updates,
        "ensemble_sha256": other.sha256 if other else None,
        "test_set": name,
        "test_set_sha256": fingerprint(pairs),
        "lines": len(pairs),
        "lines_of_the_test_set": lines,
        "device": str(make_translator(loaded, [], []).device),
        "threads": torch.get_num_threads(),
        "signature": table.signature,
        **notes,
    }
    show(about, table.rows)
    if asked.output is not None:
        rows = [asdict(row) for row in table.rows]
        with asked.output.open("x", encoding="utf-8") as file:
            json.dump({**about, "rows": rows}, file, ensure_ascii=False, indent=2)


def show(about: dict[str, Any], rows: Sequence[Row]) -> None:
    """The table, and what belongs to every row of it."""
    lines, whole = about["lines"], about["lines_of_the_test_set"]
    part = "" if lines == whole else f"the first {lines:,} of "
    print(HEAD, *rows, sep="\n")
    print(
        f"\n{part}{whole:,} lines of {about['test_set']} · {about['updates']:,} updates · float32 "
        f"on {about['device']}, threads: {about['threads']} · BLEU {about['signature']}\n\n"
        f"The first of the 4 best is the translation of {PLAIN} in "
        f"{about['first_of_4_is_that_of_beam_4']:,} of {lines:,} lines. An oracle knows the "
        "reference: it shows what a list holds, and is no score of a system.\n\n"
        "Any other row again: `python evaluate.py checkpoint=CHECKPOINT`, with its settings."
    )


def read_arguments() -> argparse.Namespace:
    """What was written on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", metavar="CHECKPOINT")
    parser.add_argument("--ensemble", metavar="CHECKPOINT", help="translates with it in one row")
    parser.add_argument("--test-set", metavar="NAME", help="without it the first")
    parser.add_argument("--limit", metavar="N", type=_count, help="the first lines alone")
    parser.add_argument("--output", metavar="FILE", type=Path, help="all numbers as JSON too")
    return parser.parse_args()


def _count(text: str) -> int:
    if (count := int(text)) < 1:
        raise ValueError
    return count


if __name__ == "__main__":
    try:
        main(read_arguments())
    except LatimerError as error:
        sys.exit(f"error: {error}")
