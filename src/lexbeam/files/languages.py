"""What files say about languages: which ones, and how many plural forms they have."""

from __future__ import annotations

import re

from lexbeam.errors import InputError

_RULES = {
    "nplurals=1; plural=0;": "id ja jv ko lo ms my su th vi zh bo dz ka km wo yo ig sah",
    "nplurals=2; plural=(n > 1);": "fr pt-br fil tl am ln mg mi oc ti wa tg uz ach br gun ak hy",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && "
    "(n%100<12 || n%100>14) ? 1 : 2);": "ru uk be sr hr bs",
    "nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;": "cs sk",
    "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<12 || n%100>14) ? 1 : 2);": "pl",
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && (n%100<10 || n%100>=20) ? 1 : 2);": (
        "lt"
    ),
    "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);": "lv",
    "nplurals=3; plural=(n==1 ? 0 : (n==0 || (n%100 > 0 && n%100 < 20)) ? 1 : 2);": "ro",
    "nplurals=4; plural=(n%100==1 ? 0 : n%100==2 ? 1 : n%100==3 || n%100==4 ? 2 : 3);": "sl",
    "nplurals=5; plural=(n==1 ? 0 : n==2 ? 1 : n<7 ? 2 : n<11 ? 3 : 4);": "ga",
    "nplurals=4; plural=(n==1) ? 0 : (n==2) ? 1 : (n == 3) ? 2 : 3;": "cy",
    "nplurals=4; plural=(n==1 ? 0 : n==0 || (n%100>1 && n%100<11) ? 1 : "
    "(n%100>10 && n%100<20) ? 2 : 3);": "mt",
    "nplurals=6; plural=(n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : "
    "n%100>=11 ? 4 : 5);": "ar",
    "nplurals=2; plural=(n%10==1 && n%100!=11 ? 0 : 1);": "is mk",
}
_USUAL = "nplurals=2; plural=(n != 1);"
_BY_LANGUAGE = {name: rule for rule, names in _RULES.items() for name in names.split()}
_CATEGORIES = {
    1: ("other",),
    2: ("one", "other"),
    3: ("one", "few", "other"),
    4: ("one", "two", "few", "other"),
    5: ("one", "two", "few", "many", "other"),
    6: ("zero", "one", "two", "few", "many", "other"),
}
_SLAVIC = {"ru", "uk", "be", "pl"}


def primary(code: str) -> str:
    """Return the language of a code without country and script: ``de`` of ``de-AT``."""
    return re.split(r"[-_@.]", code.strip().lower(), maxsplit=1)[0]


def is_same(one: str | None, other: str | None) -> bool:
    """Return whether two codes mean the same language, or one of them is not known."""
    return not one or not other or primary(one) == primary(other)


def check_language(named: str | None, wanted: str | None, what: str) -> None:
    """Make sure that a file is for the languages of the model.

    Raises:
        InputError: it names another.
    """
    if not is_same(named, wanted):
        shown = " ".join(str(named).split())[:40]
        raise InputError(f"the {what} language of the file is {shown}, that of the model {wanted}")


def plural_rule(language: str) -> str:
    """Return the value of the header ``Plural-Forms`` for a language."""
    whole = language.lower().replace("_", "-")
    return _BY_LANGUAGE.get(whole) or _BY_LANGUAGE.get(primary(language), _USUAL)


def plural_count(rule: str) -> int | None:
    """Return the number of forms that a ``Plural-Forms`` header declares."""
    found = re.search(r"nplurals\s*=\s*(\d+)", rule)
    return int(found[1]) if found and 1 <= int(found[1]) <= 6 else None


def plural_categories(language: str) -> tuple[str, ...]:
    """Return the plural categories of Unicode's CLDR for a language."""
    if primary(language) in _SLAVIC:
        return ("one", "few", "many", "other")
    if primary(language) == "lv":
        return ("zero", "one", "other")
    return _CATEGORIES[plural_count(plural_rule(language)) or 2]
