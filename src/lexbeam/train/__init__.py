"""Training: from parallel text to a model that `lexbeam.load` takes (extra ``train``)."""

from __future__ import annotations

from pathlib import Path

from lexbeam.errors import MissingExtraError

__all__ = ["run"]


def run(config: str | Path) -> Path | None:
    """Train as a TOML file says, and write the model's bundle; see `lexbeam.train.config`.

    A run that was stopped or killed goes on where it was when it is called again.

    Returns:
        The bundle's directory; None when the run was interrupted before its end.

    Raises:
        InputError: the configuration or the text can't be used; nothing has been trained yet.
        MissingExtraError: PyTorch is not installed.
    """
    try:
        import torch  # noqa: F401, PLC0415
    except ImportError as error:
        raise MissingExtraError("training", "train") from error
    from lexbeam.train.pipeline import run_file  # noqa: PLC0415

    return run_file(Path(config))
