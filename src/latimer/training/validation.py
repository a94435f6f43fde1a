"""Validation by what matters: the text that the real beam search gives."""

import math
from pathlib import Path

import pytorch_lightning as pl
from datasets import Dataset
from pytorch_lightning.trainer.states import TrainerFn

from latimer.config.run import RunConfig
from latimer.evaluation import doubt_sameness
from latimer.scoring import score
from latimer.screen import Screen
from latimer.tokenizer import Tokenizers
from latimer.training import tags
from latimer.training.processes import gather
from latimer.training.task import TranslationTask
from latimer.training.tensorboard import log_text, log_values
from latimer.translation import Translator, stored_search


def evenly_spaced(rows: int, wanted: int) -> list[int]:
    """Up to ``wanted`` of the numbers 0 to ``rows`` - 1, evenly spaced and always the same."""
    count = min(rows, wanted)
    return [number * rows // count for number in range(count)]


class TranslateValidation(pl.Callback):
    """At each validation: BLEU on a fixed subset, the validation tags, and sample translations.

    The subset is ``validation.bleu_sentences`` evenly spaced pairs; the search is the one of
    ``evaluate.py``, with the run's own ``decoding`` settings. Several devices share the
    translating; the first one scores, and tells the others.
    """

    def __init__(
        self,
        *,
        tokenizers: Tokenizers,
        pairs: Dataset,
        config: RunConfig,
        screen: Screen,
        samples: Path,
    ) -> None:
        subset = pairs.select(evenly_spaced(len(pairs), config.validation.bleu_sentences))
        self.sources: list[str] = list(subset["source"])
        self.references: list[str] = list(subset["target"])
        self._tokenizers = tokenizers
        self._config = config
        self._screen = screen
        self._samples = samples

    def on_validation_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Translates, scores and reports."""
        assert isinstance(pl_module, TranslationTask)
        nll = pl_module.mean_validation_nll()
        hypotheses = self._translate(pl_module)
        own = self._score(nll, hypotheses) if trainer.is_global_zero else {}
        values = pl_module.validation_scores = trainer.strategy.broadcast(own)
        # For the callbacks that watch a metric; the loggers get it at the number of updates.
        pl_module.log_dict(values, logger=False)
        if trainer.is_global_zero:
            self._report(trainer, values, hypotheses)
        # The average that is validated after a training has no place on the curves.
        if trainer.is_global_zero and trainer.state.fn == TrainerFn.FITTING:
            log_values(trainer, values)
            self._write_samples(trainer, hypotheses)

    def _score(self, nll: float, hypotheses: list[str]) -> dict[str, float]:
        """The values of all validation tags."""
        scores = score(
            hypotheses,
            self.references,
            target_language=self._config.data.target_language,
            bootstrap=0,
            bleu_tokenizer=self._config.scoring.bleu_tokenizer,
            lowercase=self._config.scoring.lowercase,
        )
        return {
            tags.VAL_NLL: nll,
            tags.VAL_PERPLEXITY: math.exp(min(nll, 700.0)),
            tags.VAL_BLEU: scores.bleu.score,
            tags.VAL_CHRF: scores.chrf.score,
            tags.VAL_LENGTH_RATIO: scores.length_ratio,
        }

    def _translate(self, task: TranslationTask) -> list[str]:
        decoding = self._config.decoding
        translator = Translator(
            task.model,
            self._tokenizers,
            stored_search({"decoding": decoding.model_dump()}),
            max_tokens=decoding.max_tokens,
            target_language=self._config.data.target_language,
        )
        rank, devices = task.global_rank, task.trainer.world_size
        shares = gather(translator.translate(self.sources[rank::devices]))
        hypotheses = [""] * len(self.sources)
        for number, share in enumerate(shares):
            hypotheses[number::devices] = share
        return hypotheses

    def _report(self, trainer: pl.Trainer, values: dict[str, float], hypotheses: list[str]) -> None:
        fitting = trainer.state.fn == TrainerFn.FITTING
        what = f"validation at update {trainer.global_step:,}" if fitting else "their average"
        self._screen.print(
            f"{what}: "
            f"nll {values[tags.VAL_NLL]:.4f} · perplexity {values[tags.VAL_PERPLEXITY]:.2f} · "
            f"BLEU {values[tags.VAL_BLEU]:.2f} · chrF2++ {values[tags.VAL_CHRF]:.2f} · "
            f"length ratio {values[tags.VAL_LENGTH_RATIO]:.3f} ({len(hypotheses)} sentences)"
        )
        for doubt in doubt_sameness(self.sources, hypotheses):
            self._screen.print(f"  warning: {doubt}")

    def _write_samples(self, trainer: pl.Trainer, hypotheses: list[str]) -> None:
        """All translations to a file, some to TensorBoard and to the screen."""
        triples = list(zip(self.sources, self.references, hypotheses, strict=True))
        text = "\n".join(as_lines(*triple) for triple in triples)
        self._samples.mkdir(exist_ok=True)
        path = self._samples / f"update_{trainer.global_step:07}.txt"
        path.write_text(text, encoding="utf-8")
        shown = [
            triples[row]
            for row in evenly_spaced(len(triples), self._config.validation.sample_sentences)
        ]
        for triple in shown:
            self._screen.print(as_lines(*triple))
        log_text(trainer, tags.SAMPLES, _as_markdown(shown))


def as_lines(source: str, reference: str, hypothesis: str) -> str:
    """A translation as a person compares it: source, reference, hypothesis under each other."""
    return f"  source     {source}\n  reference  {reference}\n  hypothesis {hypothesis}\n"


def _as_markdown(triples: list[tuple[str, str, str]]) -> str:
    rows = [" | ".join(text.replace("|", "\\|") for text in triple) for triple in triples]
    header = ["source | reference | hypothesis", "--- | --- | ---"]
    return "\n".join(f"| {row} |" for row in header + rows)
