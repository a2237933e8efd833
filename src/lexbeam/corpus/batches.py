"""One callable for Ray Data, Hugging Face ``datasets`` and Spark; see ``docs/scale.md``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from lexbeam.arguments import as_items, as_list, as_whole
from lexbeam.errors import InputError, represented

if TYPE_CHECKING:
    from pathlib import Path

    from lexbeam.constraints.glossary import Glossary
    from lexbeam.translation.requests import TextRequest
    from lexbeam.translation.settings import SettingsArguments
    from lexbeam.translation.translator import Translator

Batch = TypeVar("Batch")
"""Columns of equal length: a dict of them, a pandas DataFrame or a pyarrow Table."""


class Batches:
    """Translates batches of rows: ``ds.map(lexbeam.Batches("en-de"), batched=True)``.

    Called with a batch, it returns the batch with three columns more, of the same type always:
    the translation (``out``), its ``score``, and ``error``, which is empty for a row that went
    well. A row that can't be translated has its reason there, an empty translation, and NaN for a
    score; it never raises. Rows that ask for the same are translated once per batch.

    ``text``, ``constraints``, ``avoid`` and ``prefix`` name columns. A list of ``constraints``, or
    of phrases to ``avoid``, is for all rows. ``glossary`` is a `Glossary` or the path of a file,
    which is read at once; ``keep`` and the settings are as `Translator.translate` has them.

    It is pickled as its settings; a process loads the model when it gets its first batch, once.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        text: str = "text",
        constraints: str | Sequence[Any] | None = None,
        avoid: str | Sequence[Any] | None = None,
        prefix: str | None = None,
        out: str = "translation",
        threads: int = 1,
        glossary: Glossary | str | Path | None = None,
        keep: Sequence[str] | None = None,
        **settings: Unpack[SettingsArguments],
    ) -> None:
        # Not imported with the module: who only hands the object on should not wait for it.
        from lexbeam.constraints.glossary import Glossary  # noqa: PLC0415
        from lexbeam.translation.keep import compile_patterns  # noqa: PLC0415
        from lexbeam.translation.settings import read_settings  # noqa: PLC0415

        read_settings(settings)
        compile_patterns(keep)
        for name, column in (("text", text), ("out", out)):
            if not isinstance(column, str):
                raise InputError(f"{name} must be the name of a column, not {represented(column)}")
        self._model = None if model is None else str(model)
        if as_whole(threads) is None:
            raise InputError(f"threads must be a whole number, not {represented(threads)}")
        self._threads = threads
        self._text = text
        self._out = out
        self._columns = {
            name: column
            for name, column in (("constraints", constraints), ("avoid", avoid), ("prefix", prefix))
            if isinstance(column, str)
        }
        self._constraints = _read_shapes("constraints", constraints)
        self._avoid = _read_shapes("avoid", avoid)
        if prefix is not None and not isinstance(prefix, str):
            raise InputError(f"prefix must be the name of a column, not {represented(prefix)}")
        loaded = Glossary.load(glossary) if isinstance(glossary, str | os.PathLike) else glossary
        self._glossary = loaded
        self._keep = None if keep is None else as_items(keep)
        self._settings = dict(settings)

    def __call__(self, batch: Batch) -> Batch:
        """Return a batch of the same kind with translation, score and error."""
        columns = self._read(batch)
        translator = _load(self._model, self._threads, os.getpid())
        rows = len(columns["text"])
        texts, scores, errors = [""] * rows, [float("nan")] * rows, [""] * rows
        for i, answer in enumerate(self._translate(columns, translator)):
            if isinstance(answer, str):
                errors[i] = answer
            else:
                texts[i], scores[i] = answer.text, answer.score
        done: Batch = _with_columns(batch, {self._out: texts, "score": scores, "error": errors})
        return done

    def frames(self, frames: Iterable[Batch]) -> Iterator[Batch]:
        """Translate one DataFrame after the other, as Spark's ``mapInPandas`` wants it."""
        return map(self, frames)

    def _read(self, batch: object) -> dict[str, list[Any]]:
        """Return the columns that are needed, under the names that requests have for them."""
        names = {"text": self._text, **self._columns}
        columns = {name: _column(batch, column) for name, column in names.items()}
        lengths = {name: len(columns[key]) for key, name in names.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(f"{name!r} {length}" for name, length in lengths.items())
            raise InputError(f"the columns of the batch have different lengths: {said}")
        return columns

    def _translate(self, columns: dict[str, list[Any]], translator: Translator) -> Iterator[Any]:
        """Yield a translation or an error for each row."""
        from lexbeam.corpus.requests import translate_requests  # noqa: PLC0415
        from lexbeam.translation.asked import Asked  # noqa: PLC0415
        from lexbeam.translation.records import read_request  # noqa: PLC0415
        from lexbeam.translation.settings import read_settings  # noqa: PLC0415

        settings = read_settings(self._settings)
        asked = Asked(
            self._constraints, self._avoid, None, self._glossary, self._keep, settings
        ).request(translator.info)
        requests: list[TextRequest] = []
        refused: dict[int, str] = {}
        for i, values in enumerate(zip(*columns.values(), strict=True)):
            row = dict(zip(columns, map(plain_value, values), strict=True))
            try:
                if not isinstance(row["text"], str):
                    kind = type(row["text"]).__name__
                    raise InputError(f"the text must be a string, not {kind}")
                requests.append(read_request(row, asked))
            except InputError as error:
                refused[i] = str(error)
        answers, _ = translate_requests(translator, requests, asked, settings.batch_size)
        waiting = iter(answers)
        for i in range(len(columns["text"])):
            yield refused[i] if i in refused else next(waiting)


def _read_shapes(name: str, given: Any) -> list[Any]:
    """Return what is asked of all texts; the name of a column asks nothing of all."""
    shapes = [] if given is None or isinstance(given, str) else as_list(given)
    if shapes is None:
        raise InputError(
            f"{name} must be a list of constraints or the name of a column, "
            f"not {represented(given)}"
        )
    return shapes


@lru_cache(maxsize=4)
def _load(model: str | None, threads: int, process: int) -> Translator:  # noqa: ARG001
    """Load a model once in each process; a forked one does not use what its parent has loaded."""
    from lexbeam.translation.translator import load  # noqa: PLC0415

    return load(model, threads)


def plain_value(value: Any) -> Any:
    """Return what JSON would have for a value of a table.

    Arrays are lists, missing values None; fields of a struct that have none are left out.
    """
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy
        value = value.tolist()
    if isinstance(value, Mapping):
        fields = {name: plain_value(each) for name, each in value.items()}
        return {name: each for name, each in fields.items() if each is not None}
    if isinstance(value, list | tuple):
        return [plain_value(each) for each in value]
    is_missing = value is None or (isinstance(value, float) and value != value)  # noqa: PLR0124
    return None if is_missing or type(value).__name__ in ("NAType", "NaTType") else value


def _column(batch: Any, name: str) -> list[Any]:
    """Return a column of a batch as a list."""
    names: Iterable[Any]
    if hasattr(batch, "column_names") and hasattr(batch, "column"):  # a pyarrow Table
        names = batch.column_names
    elif isinstance(batch, Mapping) or hasattr(batch, "columns"):
        names = batch.keys()
    else:
        raise InputError(
            "a batch must be a dict of columns, a pandas DataFrame or a pyarrow Table, not "
            f"{type(batch).__name__}"
        )
    known = [str(each) for each in as_items(names) or ()]
    if name not in known:
        raise InputError(f"there is no column {name!r} in the batch; it has {', '.join(known)}")
    column = batch[name]
    for convert in ("to_pylist", "tolist"):
        if hasattr(column, convert):
            column = getattr(column, convert)()
            break
    if isinstance(column, str):
        raise InputError(f"the column {name!r} is one text, not many: map with batched=True")
    listed = as_items(column)
    if listed is None:
        raise InputError(f"the column {name!r} is no list, but {represented(column)}")
    return listed


def _with_columns(batch: Any, columns: dict[str, list[Any]]) -> Any:
    """Return a batch of the same kind with more columns, or others of the same names."""
    if isinstance(batch, Mapping):
        return {**batch, **columns}
    if hasattr(batch, "assign"):  # a DataFrame of pandas
        return batch.assign(**columns)
    import pyarrow as pa  # noqa: PLC0415  (the batch is its Table)

    table = batch
    for name, values in columns.items():
        array = pa.array(values, pa.float64() if name == "score" else pa.string())
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, array)
        else:
            table = table.append_column(name, array)
    return table
