"""``latimer export-tokenizer``: what cuts a checkpoint's text, as files for other programs."""

from pathlib import Path

from latimer.checkpoint import load_model
from latimer.errors import LatimerError


def export_tokenizer(checkpoint: Path, folder: Path) -> list[Path]:
    """Writes the SentencePiece models of a checkpoint: a joint one, or one of each side.

    Args:
        checkpoint: a file, or a run's folder.
        folder: made if need be.

    Returns:
        What was written: ``tokenizer.model``, or ``source_tokenizer.model`` and
        ``target_tokenizer.model``.

    Raises:
        LatimerError: the checkpoint can't be read, a file is there already, or none can be written.
    """
    named = load_model(checkpoint).tokenizers.named
    files = {folder / f"{name}.model": tokenizer.model_bytes for name, tokenizer in named.items()}
    for path in files:
        if path.exists():
            raise LatimerError(f"{path}: is there already; name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in files.items():
            path.write_bytes(content)
    except OSError as error:
        raise LatimerError(f"{folder}: cannot be written to ({error.strerror})") from error
    return list(files)
