"""Training: from parallel text to a model that `lexbeam.load` takes (extra ``train``)."""

from __future__ import annotations

from pathlib import Path

from lexbeam.errors import MissingExtraError

__all__ = ["decay", "export_bundle", "run"]


def run(config: str | Path) -> Path | None:
    """Train as a TOML file says, and write the model's bundle; see `lexbeam.train.config`.

    A run that was stopped or killed goes on where it was when it is called again.

    Returns:
        The bundle's directory; None when the run was interrupted before its end.

    Raises:
        InputError: the configuration or the text can't be used; nothing has been trained yet.
        MissingExtraError: PyTorch is not installed.
    """
    _need_torch()
    from lexbeam.train.pipeline import run_file  # noqa: PLC0415

    return run_file(Path(config))


def export_bundle(config: str | Path) -> Path:
    """Write the bundle of a run as its last checkpoint has it, also while it goes on.

    Returns:
        The bundle's directory.

    Raises:
        InputError: the run has no checkpoint yet.
        MissingExtraError: PyTorch is not installed.
    """
    _need_torch()
    from lexbeam.train.pipeline import export_file  # noqa: PLC0415

    return export_file(Path(config))


def decay(config: str | Path, minutes: float) -> None:
    """Tell a run that goes on elsewhere to let its rate fall to zero and to end.

    Args:
        config: the configuration that the run was started with.
        minutes: until it ends, by the clock. A decay that has begun goes on from its rate.

    Raises:
        InputError: no run has been started as this configuration says.
        MissingExtraError: PyTorch is not installed.
    """
    _need_torch()
    from lexbeam.train.pipeline import ask_to_decay  # noqa: PLC0415

    ask_to_decay(Path(config), minutes)


def _need_torch() -> None:
    try:
        import torch  # noqa: F401, PLC0415
    except ImportError as error:
        raise MissingExtraError("training", "train") from error
