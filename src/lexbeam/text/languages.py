"""Codes and names of languages, and which languages of a file fit a wanted one."""

from __future__ import annotations

import re

_LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})*")

# The two-letter codes of ISO 639-1 and some longer ones: no other word of two letters is a code.
_CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da "
    "de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy "
    "hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg "
    "li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or "
    "os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta "
    "te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu "
    "fil haw hbs ceb yue wuu"
)
_NAMES = (
    "arabic=ar bulgarian=bg catalan=ca chinese=zh croatian=hr czech=cs danish=da dutch=nl "
    "english=en estonian=et finnish=fi french=fr german=de deutsch=de greek=el hebrew=he "
    "hindi=hi hungarian=hu indonesian=id italian=it japanese=ja korean=ko latvian=lv "
    "lithuanian=lt norwegian=nb polish=pl portuguese=pt romanian=ro russian=ru slovak=sk "
    "slovenian=sl spanish=es swedish=sv turkish=tr ukrainian=uk vietnamese=vi"
)
_CODE_SET = frozenset(_CODES.split())
_CODE_OF_NAME = dict(pair.split("=") for pair in _NAMES.split())

UNSPACED_LANGUAGES = frozenset(
    {"zh", "yue", "wuu", "ja", "th", "lo", "km", "my", "bo", "dz"}
    | {"zho", "cmn", "jpn", "tha", "lao", "khm", "mya", "bod", "dzo"}
)
"""Languages written without spaces between words, by their codes of two and three letters."""


def language_code(written: str) -> str | None:
    """Return the lower-case code (``pt-br``) of a code or name, None if it is no language."""
    code = written.strip().lower().replace("_", "-")
    code = _CODE_OF_NAME.get(code, code)
    known = _LANGUAGE.fullmatch(code) and base_language(code) in _CODE_SET
    return code if known else None


def same_language(wanted: str, available: set[str]) -> set[str]:
    """Return the available languages that fit a wanted one: itself, or else its other regions."""
    code = language_code(wanted) or wanted.lower().replace("_", "-")
    if code in available:
        return {code}
    return {other for other in available if base_language(other) == base_language(code)}


def base_language(code: str | None) -> str:
    """Return a language without its region or script: ``pt`` for ``pt_BR``; empty for None."""
    return (code or "").replace("_", "-").split("-")[0].lower()
