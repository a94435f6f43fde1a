import json
import multiprocessing
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from latimer.config.data import CleaningConfig, FilesData, GivenSplit
from latimer.config.tokenizer import TokenizerConfig
from latimer.data.encoded import EncodedPairs
from latimer.data.prepared import PreparedCorpus, prepare, report_rows
from latimer.errors import LatimerError
from latimer.tokenizer import Tokenizer, Tokenizers, train_tokenizer

CLEANING = CleaningConfig(
    max_length=60, max_ratio=9, drop_duplicates=True, drop_copies=True, drop_in_test=True
)
TOKENIZER = TokenizerConfig(
    vocabulary="joint",
    model_type="bpe",
    vocab_size=45,
    character_coverage=1.0,
    normalization="nmt_nfkc",
    byte_fallback=False,
    bpe_dropout=0.0,
    file=None,
)
SEPARATE = TOKENIZER.model_copy(update={"vocabulary": "separate"})
WORDS = ["red", "boat", "door", "blue", "kettle", "small", "house", "tree"]


def write(path: Path, *lines: str) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return str(path)


def split(folder: Path, name: str, *sources: str) -> GivenSplit:
    """Pairs whose targets are their sources in capitals."""
    return GivenSplit(
        source=write(folder / f"{name}.en", *sources),
        target=write(folder / f"{name}.xx", *(source.upper() for source in sources)),
    )


@pytest.fixture
def data(tmp_path) -> FilesData:
    dice = random.Random(5)
    lines = [" ".join(dice.choices(WORDS, k=6)) for _ in range(60)]
    return FilesData(
        format="files",
        source_language="en",
        target_language="xx",
        cleaning=CLEANING,
        train=split(tmp_path, "train", *lines),
        validation=split(tmp_path, "validation", "red boat", "blue door " * 30, "", "small tree"),
        test={"mine": split(tmp_path, "mine", "red house", "small kettle")},
    )


@pytest.fixture
def folder(tmp_path) -> Path:
    return tmp_path / "prepared"


def texts_of(pairs: EncodedPairs, tokenizers: Tokenizers) -> list[tuple[str, str]]:
    source, target = tokenizers
    batches = [pairs.collate([row]) for row in range(len(pairs))]
    return [
        (source.decode(batch.source[0].tolist()), target.decode(batch.labels[0].tolist()))
        for batch in batches
    ]


def lines_of(path: str | None) -> list[str]:
    assert path is not None
    return Path(path).read_text(encoding="utf-8").split("\n")[:-1]


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")


@pytest.mark.parametrize("config", [TOKENIZER, SEPARATE])
def test_ids_are_those_of_the_text(data: FilesData, folder: Path, config: TokenizerConfig):
    corpus = prepare(data, config, folder=folder)
    lines = lines_of(data.train.source)
    assert texts_of(corpus.train, corpus.tokenizers) == [(line, line.upper()) for line in lines]
    for side in ("source", "target"):
        assert corpus.report[f"{side}_vocab_size"] == config.vocab_size


def test_the_report_names_the_joint_tokenizer_or_both(data: FilesData, folder: Path):
    joint, separate = (prepare(data, config, folder=folder) for config in (TOKENIZER, SEPARATE))
    assert joint.report["tokenizer_sha256"] == joint.tokenizers.source.sha256
    assert separate.report["source_tokenizer_sha256"] == separate.tokenizers.source.sha256
    assert separate.report["target_tokenizer_sha256"] == separate.tokenizers.target.sha256


def test_validation_and_test_sets_stay_whole(data: FilesData, folder: Path):  # field case 21
    corpus = prepare(data, TOKENIZER, folder=folder)
    lines = lines_of(data.validation.source)
    assert corpus.validation_text["source"][:] == lines
    assert [source for source, _ in texts_of(corpus.validation, corpus.tokenizers)] == [
        line.strip() for line in lines
    ]
    assert corpus.validation.source_lengths.max() > CLEANING.max_length
    assert corpus.test_sets["mine"]["target"][:] == ["RED HOUSE", "SMALL KETTLE"]


def test_the_tokenizer_is_trained_on_cleaned_training_text_alone(data: FilesData, folder: Path):
    lines = lines_of(data.train.source)
    both = [text for line in lines for text in (line, line.upper())]
    split(folder.parent, "train", *lines, "ж ж ж ж ж ж ж ж ж ж", lines[0], "", "red house")
    corpus = prepare(data.model_copy(update={"cleaning": CLEANING}), TOKENIZER, folder=folder)
    assert corpus.report["train"]["dropped"]["duplicate"] == 1
    cyrillic = ["ж ж ж ж ж ж ж ж ж ж", "Ж Ж Ж Ж Ж Ж Ж Ж Ж Ж"]
    assert corpus.tokenizers.source is corpus.tokenizers.target
    assert corpus.tokenizers.source == train_tokenizer([*both, *cyrillic], vocab_size=45)


def test_each_side_has_its_own_tokenizer_if_they_are_separate(data: FilesData, folder: Path):
    corpus = prepare(data, SEPARATE, folder=folder)
    sides = (data.train.source, data.train.target)
    assert corpus.tokenizers == tuple(train_tokenizer(lines_of(s), vocab_size=45) for s in sides)


def test_unknown_pieces_are_those_of_their_own_side(data: FilesData, folder: Path):
    capitals = split(folder.parent, "capitals", "RED BOAT")
    data = data.model_copy(update={"validation": capitals})
    figures = prepare(data, SEPARATE, folder=folder).report["validation"]
    assert figures["source"]["unknown_share"] == 0.5, "all but the two marks of a space"
    assert figures["target"]["unknown_share"] == 0


def test_the_side_that_is_too_small_for_its_vocabulary_is_named(data: FilesData, folder: Path):
    poor = write(folder.parent / "poor.xx", *["a b c d e f"] * 60)
    train = data.train.model_copy(update={"target": poor})
    with pytest.raises(LatimerError, match=r"tokenizer\.vocab_size=45.*\(the target side\)"):
        prepare(data.model_copy(update={"train": train}), SEPARATE, folder=folder)


@pytest.mark.parametrize("config", [TOKENIZER, SEPARATE])
def test_the_second_start_encodes_nothing(  # field case 16
    data: FilesData, folder: Path, monkeypatch: pytest.MonkeyPatch, config: TokenizerConfig
):
    first = prepare(data, config, folder=folder)
    monkeypatch.setattr(Tokenizer, "encode_batch", lambda *_: pytest.fail("encoded again"))
    second = prepare(data, config, folder=folder)
    assert (first.report["cache"], second.report["cache"]) == ("miss", "hit")
    assert first.report | {"cache": "hit"} == second.report
    assert texts_of(first.train, first.tokenizers) == texts_of(second.train, second.tokenizers)
    assert first.tokenizers == second.tokenizers


def test_a_renamed_file_is_found_again(data: FilesData, folder: Path):
    prepare(data, TOKENIZER, folder=folder)
    renamed = split(folder.parent, "other", *lines_of(data.train.source))
    again = data.model_copy(update={"train": renamed})
    assert prepare(again, TOKENIZER, folder=folder).report["cache"] == "hit"


def longer(name: str) -> Callable[[FilesData], FilesData]:
    """Adds a pair to the text of a split, under the same file names."""

    def change(data: FilesData) -> FilesData:
        paths = data.test["mine"] if name == "mine" else getattr(data, name)
        split(Path(paths.source).parent, name, *lines_of(paths.source), "tree house")
        return data

    return change


def cleaned(**changes: object) -> Callable[[FilesData], FilesData]:
    cleaning = CLEANING.model_copy(update=changes)
    return lambda data: data.model_copy(update={"cleaning": cleaning})


def turned(data: FilesData) -> FilesData:
    train = GivenSplit(source=data.train.target, target=data.train.source)
    return data.model_copy(update={"train": train})


@pytest.mark.parametrize(
    "change",
    [
        longer("train"),
        longer("validation"),
        longer("mine"),
        turned,
        *(cleaned(max_length=59), cleaned(max_ratio=8.0), cleaned(drop_duplicates=False)),
        *(cleaned(drop_copies=False), cleaned(drop_in_test=False)),
    ],
)
def test_any_change_of_the_data_misses(  # field case 16
    data: FilesData, folder: Path, change: Callable[[FilesData], FilesData]
):
    prepare(data, TOKENIZER, folder=folder)
    assert prepare(change(data), TOKENIZER, folder=folder).report["cache"] == "miss"


@pytest.mark.parametrize(
    "change",
    [
        {"vocabulary": "separate"},
        {"vocab_size": 46},
        {"model_type": "unigram"},
        {"character_coverage": 0.999},
        {"normalization": "identity"},
        {"byte_fallback": True, "vocab_size": 320},
    ],
)
def test_any_change_of_the_tokenizer_misses(data: FilesData, folder: Path, change: dict):
    prepare(data, TOKENIZER, folder=folder)
    other = TOKENIZER.model_copy(update=change)
    assert prepare(data, other, folder=folder).report["cache"] == "miss"


def test_another_model_under_the_same_name_misses(data: FilesData, folder: Path):  # field case 16
    path = folder.parent / "my.model"
    config = TOKENIZER.model_copy(update={"file": str(path)})
    lines = lines_of(data.train.source) + lines_of(data.train.target)
    for vocab_size in (70, 40):
        path.write_bytes(train_tokenizer(lines, vocab_size=vocab_size).model_bytes)
        corpus = prepare(data, config, folder=folder)
        assert corpus.report["cache"] == "miss"
        assert corpus.tokenizers == Tokenizers.joint(Tokenizer.from_file(path))
        assert corpus.train.source.ids.max() < vocab_size
    assert prepare(data, config, folder=folder).report["cache"] == "hit"


def test_what_is_given_takes_the_place_of_the_settings(data: FilesData, folder: Path):
    """The tokenizers of a checkpoint; a file with the same model hits."""
    lines = lines_of(data.train.source) + lines_of(data.train.target)
    given = Tokenizers.joint(train_tokenizer(lines, vocab_size=70))
    corpus = prepare(data, TOKENIZER, folder=folder, tokenizers=given)
    assert (corpus.tokenizers, corpus.report["cache"]) == (given, "miss")
    assert corpus.report["tokenizer"] == given.hashes
    path = folder.parent / "my.model"
    path.write_bytes(given.source.model_bytes)
    other = TOKENIZER.model_copy(update={"vocab_size": 46, "file": str(path)})
    assert prepare(data, other, folder=folder).report["cache"] == "hit"
    assert prepare(data, TOKENIZER, folder=folder).report["cache"] == "miss"


def test_dropout_needs_no_corpus_of_its_own(data: FilesData, folder: Path):  # field case 30
    plain = prepare(data, TOKENIZER, folder=folder)
    corpus = prepare(data, TOKENIZER.model_copy(update={"bpe_dropout": 0.1}), folder=folder)
    assert corpus.report == plain.report | {"cache": "hit"}
    for split in ("train", "validation"):
        one, other = getattr(corpus, split), getattr(plain, split)
        assert texts_of(one, corpus.tokenizers) == texts_of(other, plain.tokenizers)
        assert (one.source.ids == other.source.ids).all()


@pytest.mark.parametrize("in_a_file", [True, False])
def test_dropout_needs_merges(data: FilesData, folder: Path, in_a_file: bool):  # field case 29
    lines = lines_of(data.train.source) + lines_of(data.train.target)
    model = train_tokenizer(lines, vocab_size=45, model_type="unigram")
    path = folder.parent / "my.model"
    path.write_bytes(model.model_bytes)
    config = TOKENIZER.model_copy(
        update={"bpe_dropout": 0.1, "file": str(path) if in_a_file else None}
    )
    given = None if in_a_file else Tokenizers.joint(model)
    with pytest.raises(LatimerError, match=r"^tokenizer\.bpe_dropout=0\.1: .* is no model of"):
        prepare(data, config, folder=folder, tokenizers=given)
    assert not folder.exists()
    without = config.model_copy(update={"bpe_dropout": 0.0})
    assert prepare(data, without, folder=folder, tokenizers=given)


def test_the_limit_counts_the_end_of_sentence(tmp_path, folder: Path):  # field cases 20 and 49
    letters = ["a b c", "a b c d", "b c d e", "a b c d e", "e d c b a"]
    data = FilesData(
        format="files",
        source_language="en",
        target_language="xx",
        cleaning=CLEANING.model_copy(update={"max_length": 5}),
        train=split(tmp_path, "train", *letters),
        validation=split(tmp_path, "validation", "e e e e e"),
        test={},
    )
    # The four special pieces, the mark of a space, ten letters, and ten letters after a space.
    corpus = prepare(data, TOKENIZER.model_copy(update={"vocab_size": 25}), folder=folder)
    assert corpus.train.source_lengths.tolist() == [3, 4, 4]
    assert corpus.validation.source_lengths.tolist() == [5]
    columns, rows = report_rows(corpus.report)
    assert columns == ("training pairs", "number", "share")
    assert ("read", "5", "100.0%") in rows
    assert ("too long", "2", "40.0%") in rows
    assert ("kept", "3", "60.0%") in rows
    assert "kept 3 of 5 (too long 2)" in corpus.report["warnings"][0]


def test_nothing_left_is_an_error(data: FilesData, folder: Path):  # field case 20
    with pytest.raises(LatimerError, match=r"kept 0 of 60 \(too long 60\)"):
        prepare(cleaned(max_length=2)(data), TOKENIZER, folder=folder)
    assert visible(folder) == []


def test_one_pair(data: FilesData, folder: Path):  # field case 22
    single = split(folder.parent, "single", "red boat")
    data = data.model_copy(update={"train": single, "validation": single})
    data = cleaned(drop_in_test=False)(data)
    corpus = prepare(data, TOKENIZER.model_copy(update={"vocab_size": 20}), folder=folder)
    assert len(corpus.train) == len(corpus.validation) == 1


def test_the_report_counts_pieces_and_unknown_ones(data: FilesData, folder: Path):  # field case 28
    odd = split(folder.parent, "odd", "ЖЖ", "red boat")
    report = prepare(data.model_copy(update={"validation": odd}), TOKENIZER, folder=folder).report
    corpus = prepare(data.model_copy(update={"validation": odd}), TOKENIZER, folder=folder)
    lengths = corpus.validation.source_lengths
    figures = report["validation"]["source"]
    assert figures["pieces"] == lengths.sum()
    assert figures["mean_length"] == lengths.mean()
    assert figures["longest"] == lengths.max()
    assert figures["unknown_share"] == pytest.approx(1 / lengths.sum(), abs=1e-6)
    assert report["train"]["source"]["unknown_share"] == 0
    assert any("source pieces are unknown" in warning for warning in report["warnings"])


def test_the_report_tells_what_test_sets_share_with_training(data: FilesData, folder: Path):
    seen = lines_of(data.train.source)[:3]
    data = data.model_copy(update={"test": {"mine": split(folder.parent, "mine", *seen, "tree")}})
    careful = prepare(data, TOKENIZER, folder=folder).report
    assert careful["leaks"]["test.mine"]["pairs"] == 0
    assert careful["train"]["dropped"]["in_test"] == 3
    careless = prepare(cleaned(drop_in_test=False)(data), TOKENIZER, folder=folder).report
    assert careless["leaks"]["test.mine"] == {"pairs": 3, "sources": 3, "targets": 3}
    assert any("data.test.mine: 3 of its pairs" in warning for warning in careless["warnings"])


def test_the_report_is_plain(data: FilesData, folder: Path):
    report = prepare(data, TOKENIZER, folder=folder).report
    assert json.loads(json.dumps(report)) == report
    assert set(report["fingerprints"]) == {"train", "validation", "test.mine"}


def test_a_failure_leaves_nothing_behind(
    data: FilesData, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(pairs: EncodedPairs, path: Path) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(EncodedPairs, "write", fail)
        with pytest.raises(LatimerError, match=r"prepared_folder=.*No space left"):
            prepare(data, TOKENIZER, folder=folder)
    assert visible(folder) == []
    assert prepare(data, TOKENIZER, folder=folder).report["cache"] == "miss"


def test_what_a_killed_process_left_is_removed(data: FilesData, folder: Path):
    key = prepare(data, TOKENIZER, folder=folder).report["key"]
    (name,) = visible(folder)
    assert key.startswith(name)
    (folder / name).rename(folder / f"{name}.partial")
    assert prepare(data, TOKENIZER, folder=folder).report["cache"] == "miss"
    assert visible(folder) == [name]


def test_a_folder_that_cannot_be_written(data: FilesData, tmp_path):
    write(tmp_path / "file")
    with pytest.raises(LatimerError, match="prepared_folder="):
        prepare(data, TOKENIZER, folder=tmp_path / "file")


@pytest.mark.parametrize(
    ("change", "message"),
    [({"vocab_size": 9_000}, "tokenizer.vocab_size=9000"), ({"file": "no.model"}, "no.model")],
)
def test_mistakes_leave_nothing_behind(data: FilesData, folder: Path, change: dict, message: str):
    with pytest.raises(LatimerError, match=message):
        prepare(data, TOKENIZER.model_copy(update=change), folder=folder)
    assert not folder.exists() or visible(folder) == []


def _prepare(arguments: tuple[FilesData, Path]) -> tuple[str, list[int]]:
    corpus: PreparedCorpus = prepare(arguments[0], TOKENIZER, folder=arguments[1])
    return corpus.report["cache"], corpus.train.source.ids.tolist()


def test_one_process_writes_and_the_other_reads(data: FilesData, folder: Path):  # field case 17
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        results = pool.map(_prepare, [(data, folder)] * 2, chunksize=1)
    assert sorted(cache for cache, _ in results) == ["hit", "miss"]
    assert results[0][1] == results[1][1]
