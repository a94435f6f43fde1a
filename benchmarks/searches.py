"""Beam search by each competitor, in the process that it is measured in: no hypothesis ends early.

Weights are random: what they say has no part in the speed, since every search takes all its steps.
"""

import importlib.util
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor

from benchmarks.marian_model import make_marian
from benchmarks.memory import peak_resident, reset_peak
from benchmarks.workloads import SEED, Workload, configuration, settings, test_lines
from latimer.config.model import ModelConfig
from latimer.decoding import SearchSettings, beam_search
from latimer.memory import keep_freed_memory
from latimer.model import Transformer
from latimer.model.masks import PAD_ID
from latimer.tokenizer import Tokenizer
from latimer.translation.batches import padded

BEAM_SIZE, STEPS, SENTENCES_AT_ONCE = 4, 20, 64
SPECIAL = ("<pad>", "<unk>", "<s>", "</s>")
Search = Callable[[Tensor], list[int]]
"""Source ids (B, S) to the steps of each sentence's best hypothesis, eos included."""


def translate(competitor: str, workload: list[Any], folder: str, sentences: int) -> dict[str, Any]:
    """Translates so many synthetic sentences, after two batches that warm up.

    Returns:
        Plain values: sentences, seconds, the steps of the searches, and the peak of memory.
    """
    work = Workload(*workload)
    config = configuration(settings(work, Path(folder), "float32"))
    tokenizer = Tokenizer.from_file(config.tokenizer.file or "")
    ids = tokenizer.encode_batch(test_lines(work, Path(folder))[:sentences])
    batches = sorted_batches(ids)
    torch.manual_seed(SEED)
    with torch.inference_mode():
        search = SEARCHES[competitor](config.model, work.vocab_size)
        for batch in (batches[0], batches[-1]):
            search(batch)
        reset_peak()
        start = time.perf_counter()
        steps = {step for batch in batches for step in search(batch)}
        seconds = time.perf_counter() - start
    return {
        "sentences": len(ids),
        "seconds": seconds,
        "steps": sorted(steps),
        "peak_bytes": peak_resident(),
    }


def sorted_batches(ids: Sequence[list[int]]) -> list[Tensor]:
    """The sources in batches of similar length, longest first, each (B, S) with eos."""
    ordered = sorted(ids, key=len, reverse=True)
    starts = range(0, len(ordered), SENTENCES_AT_ONCE)
    device = torch.device("cpu")
    return [padded(ordered[start : start + SENTENCES_AT_ONCE], device) for start in starts]


def latimer_search(config: ModelConfig, vocab_size: int) -> Search:
    """Ours, as evaluate.py and `latimer translate` set the process up.

    The last step is the one that ends a hypothesis at its limit.
    """
    keep_freed_memory()
    model = Transformer(
        source_vocab_size=vocab_size, target_vocab_size=vocab_size, **config.model_dump()
    ).eval()
    forced = SearchSettings(
        beam_size=BEAM_SIZE,
        max_length_factor=0.0,
        max_length_offset=STEPS - 1,
        min_length=STEPS - 1,
    )
    return lambda source: [len(found[0].ids) + 1 for found in beam_search(model, source, forced)]


def marian_search(config: ModelConfig, vocab_size: int) -> Search:
    """The ``generate`` of transformers, with its cache."""
    model = make_marian(config, vocab_size).eval()

    def search(source: Tensor) -> list[int]:
        found = model.generate(
            input_ids=source,
            attention_mask=(source != PAD_ID).long(),
            num_beams=BEAM_SIZE,
            do_sample=False,
            min_new_tokens=STEPS,
            max_new_tokens=STEPS,
            max_length=None,
        )
        return [found.shape[1] - 1] * len(found)

    return search


def ctranslate2_search(config: ModelConfig, vocab_size: int, compute_type: str) -> Search:
    """CTranslate2, with the weights of a Marian."""
    import ctranslate2  # noqa: PLC0415 (an extra)

    names = [*SPECIAL, *map(str, range(len(SPECIAL), vocab_size))]
    with TemporaryDirectory() as folder:
        _convert(make_marian(config, vocab_size), names, folder)
        translator = ctranslate2.Translator(
            folder,
            device="cpu",
            compute_type=compute_type,
            inter_threads=1,
            intra_threads=torch.get_num_threads(),
        )

    def search(source: Tensor) -> list[int]:
        found = translator.translate_batch(
            [[names[number] for number in row if number != PAD_ID] for row in source.tolist()],
            beam_size=BEAM_SIZE,
            min_decoding_length=STEPS,
            max_decoding_length=STEPS,
        )
        return [len(result.hypotheses[0]) for result in found]

    return search


def _convert(marian: Any, names: list[str], folder: str) -> None:
    """Its converter for Marian expects that model's own vocabulary; this is its parent's way."""
    from ctranslate2.converters.transformers import BartLoader  # noqa: PLC0415 (an extra)

    marian.config.normalize_before = False
    marian.config.normalize_embedding = False
    spec = BartLoader().get_model_spec(marian)
    spec.config.unk_token, spec.config.bos_token, spec.config.eos_token = SPECIAL[1:]
    spec.config.decoder_start_token = spec.config.bos_token
    spec.register_source_vocabulary(names)
    spec.register_target_vocabulary(names)
    spec.validate()
    spec.optimize()
    spec.save(str(Path(folder)))


SEARCHES: dict[str, Callable[[ModelConfig, int], Search]] = {
    "latimer": latimer_search,
    "marian": marian_search,
    "ctranslate2 float32": lambda config, size: ctranslate2_search(config, size, "float32"),
    "ctranslate2 int8": lambda config, size: ctranslate2_search(config, size, "int8"),
}


def installed() -> list[str]:
    """The competitors whose libraries are there; CTranslate2 needs Marian's weights."""
    marian, ctranslate2 = (
        importlib.util.find_spec(name) is not None for name in ("transformers", "ctranslate2")
    )
    return [
        name
        for name in SEARCHES
        if name == "latimer" or (marian and (name == "marian" or ctranslate2))
    ]
