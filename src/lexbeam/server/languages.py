"""Languages as the two APIs write and name them."""

from __future__ import annotations

from lexbeam.text.languages import base_language, language_code

_NAMES = (
    "ar=Arabic bg=Bulgarian bn=Bengali bs=Bosnian ca=Catalan cs=Czech da=Danish de=German "
    "el=Greek en=English es=Spanish et=Estonian fa=Persian fi=Finnish fr=French gu=Gujarati "
    "he=Hebrew hi=Hindi hr=Croatian hu=Hungarian id=Indonesian is=Icelandic it=Italian "
    "ja=Japanese kn=Kannada ko=Korean lt=Lithuanian lv=Latvian ml=Malayalam ms=Malay mt=Maltese "
    "nb=Norwegian nl=Dutch nn=Norwegian_Nynorsk pl=Polish pt=Portuguese ro=Romanian ru=Russian "
    "sk=Slovak sl=Slovenian sq=Albanian sr=Serbian sv=Swedish ta=Tamil te=Telugu th=Thai "
    "tr=Turkish uk=Ukrainian vi=Vietnamese zh=Chinese"
)
NAMES = {
    code: name.replace("_", " ") for code, name in (pair.split("=") for pair in _NAMES.split())
}
"""The languages that glossaries may be in."""

TARGET_VARIANTS = {
    "en": (("en-GB", "English (British)"), ("en-US", "English (American)")),
    "pt": (("pt-BR", "Portuguese (Brazilian)"), ("pt-PT", "Portuguese (European)")),
}
"""DeepL's clients refuse these languages as targets unless a variant is named."""


def language_name(code: str) -> str:
    """Return the English name of a language; its code where none is known."""
    return NAMES.get(base_language(code), code)


def known_language(written: object) -> str | None:
    """Return the code of a language without its region, None if it is no language."""
    code = language_code(written) if isinstance(written, str) else None
    return base_language(code) if code else None


def target_variants(code: str) -> tuple[tuple[str, str], ...]:
    """Return the codes under which a target language is announced, with their names."""
    return TARGET_VARIANTS.get(code, ((code, language_name(code)),))
