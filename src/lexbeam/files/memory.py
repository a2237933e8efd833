"""Translation memories: a text that is found in one as it is need not be translated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lexbeam.errors import InputError
from lexbeam.files.formats.tmx import TmxScan
from lexbeam.files.units import Options
from lexbeam.translation.marked_text import Code, MarkedText, Target, plain


class Memory:
    """Sources and their translations from TMX files; later ones win."""

    def __init__(self, paths: Sequence[str | Path], options: Options) -> None:
        self._texts: dict[str, str] = {}
        for path in paths:
            try:
                scan = TmxScan(Path(path).read_bytes(), options)
                for source, target in scan.matches():
                    if source.strip() and target.strip():
                        self._texts[source.strip()] = target.strip()
            except OSError as error:
                raise InputError(f"can't read {path}: {error.strerror or error}") from None
            except InputError as error:
                raise InputError(f"{path}: {error}") from None

    def find(self, source: MarkedText) -> Target | None:
        """Return the translation of a text, with the codes of the text in it."""
        if not self._texts:
            return None
        whole = plain(source)
        known = self._texts.get(whole.strip())
        if known is None:
            return None
        head = whole[: len(whole) - len(whole.lstrip())]
        tail = whole[len(whole.rstrip()) :]
        return _cut(head + known + tail, source)


def _cut(text: str, source: MarkedText) -> Target | None:
    """Return a text cut at the codes of its source, None if it does not have them all."""
    codes = [(i, part.raw) for i, part in enumerate(source) if isinstance(part, Code)]
    taken: list[tuple[int, int, int]] = []
    for i, raw in codes:
        at = text.find(raw)
        while at >= 0 and any(start < at + len(raw) and at < end for start, end, _ in taken):
            at = text.find(raw, at + 1)
        if at < 0:
            return None
        taken.append((at, at + len(raw), i))
    target: Target = []
    at = 0
    for start, end, i in sorted(taken):
        target += [text[at:start], i]
        at = end
    return [part for part in [*target, text[at:]] if part != ""]
