"""What is told of a run before its first update."""

from latimer.data.prepared import report_rows
from latimer.screen import Screen
from latimer.training.freezing import describe_frozen
from latimer.training.ready import PreparedRun, count_parameters


def introduce(run: PreparedRun, screen: Screen) -> None:
    """Tells what is about to be trained, and on what."""
    corpus, tokenizer = run.corpus, run.config.tokenizer
    screen.table("training pairs", *report_rows(corpus.report))
    for warning in corpus.report["warnings"]:
        screen.print(f"warning: {warning}")
    pieces = [f"{vocabulary.vocab_size:,}" for vocabulary in corpus.tokenizers.named.values()]
    trained = tokenizer.file is None and run.config.init_from is None
    normalization = f", {tokenizer.normalization}" if trained else ""
    screen.print(f"vocabulary   {' + '.join(pieces)} pieces{normalization}")
    screen.print(f"model        {count_parameters(run.task.model):,} parameters")
    if frozen := describe_frozen(run.task.model):
        screen.print(f"trained      {frozen}")
    for line in run.taken.lines() if run.taken else ():
        screen.print(line)
    screen.print(f"hardware     {run.hardware.description}")
