"""``{"lemma": "Haus"}``: a word in any of its inflected forms (extra ``glossary``)."""

from __future__ import annotations

from lexbeam.constraints.constraint import PHRASE_OPTIONS, Constraint, Part, Shape
from lexbeam.constraints.options import Schema
from lexbeam.constraints.phrases import clean_phrase
from lexbeam.errors import ConstraintError, InputError


class Lemma(Constraint):
    """One word or term, in any of its inflected forms."""

    key = "lemma"
    description = "Any inflected form of a word."
    options = ("language", *PHRASE_OPTIONS)
    is_phrase = True

    @classmethod
    def read_parts(cls, shape: Shape) -> tuple[Part, ...]:
        """Read a word and look up its forms; its language is that of the output or given."""
        from lexbeam.text.inflection import forms  # noqa: PLC0415  (an extra)

        word = clean_phrase(shape.value, f"{shape.where}.lemma")
        language = shape.options.get("language")
        code = language if language is not None else shape.reader.language
        if not isinstance(code, str) or not code.strip():
            raise ConstraintError(
                f'{shape.where}.lemma: the language of "{word}" is not known: give it as "language"'
            )
        try:
            return (tuple(dict.fromkeys((word, *forms(word, code.strip())))),)
        except InputError as error:
            raise ConstraintError(f"{shape.where}.lemma: {error}") from error

    @classmethod
    def schemas(cls) -> list[Schema]:
        """Return the schemas of a phrase that may have a limit."""
        return cls.limited_schemas()

    @classmethod
    def value_schema(cls) -> Schema:
        """Return the schema of a word."""
        return {"$ref": "#/$defs/phrase"}
