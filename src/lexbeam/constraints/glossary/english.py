"""What English says against a noun: that it is a verb here, or part of a set expression.

Nothing is parsed: a few words before and behind a term decide, and where they do not, the term is
taken to be the noun. Where it could be either, a translation may tell (`may_be_verb`).
"""

from __future__ import annotations

from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BEFORE_VERBS = _words(
    "can could may might must shall should will would cannot not you we they i who lets"
)
DETERMINERS = _words(
    "the a an this that these those your its their our my his her all any each every it them "
    "another some"
)
_BEFORE_NOUNS = DETERMINERS | _words(
    "of in on at by for from with without to as and or no other more most many several both same "
    "new following"
)
_GOING_ON = {(who, "are") for who in ("you", "we", "they")} | {("'", "re"), ("’", "re")}
"""What goes before a verb that ends in *ing*: *you are debugging*."""
_AUXILIARIES = _words(
    "is are was were be been has have had do does did can could may might must shall should will "
    "would cannot"
)
_BEFORE_GERUNDS = _words("by for while when before after without from of and or then instead")
_CONJUNCTIONS = _words("where when what which how whether if")
_BEFORE_CLAUSES = _words("after as because before if once since unless until when whenever where")
_BEHIND_NOUNS = _AUXILIARIES | _words("of in for from with on and or as by at into than using such")
_RELATIVES = frozenset(("that", "which", "it"))
_ADVERBS = _words("also always automatically never now often only still then usually")

_VERBS_TOO = _words(
    "access address alert archive attribute backup benchmark block bookmark branch build call "
    "cause change check click code command comment contact control copy cost count date debug "
    "design detail display document download drop edit end escape exit experience export filter "
    "flag focus format function group guide handle help highlight host import increase index "
    "input install interface issue label launch limit link list load lock log map mark match "
    "measure merge message model monitor move name need note number object offer open order "
    "output package pair pass pause place plan point position post preview print process profile "
    "program project prompt query queue rate read record reference refresh release reply report "
    "request reset restore result return review route run sample save scale schedule scope scroll "
    "search select set share shift sign signal size sort source split start state step stop store "
    "stream structure support switch table tag target test time trace track transfer trigger type "
    "update upgrade upload use value view visit watch work wrap write zoom"
)
"""Nouns of software that are verbs as well."""

_TAKE_TO = _words(
    "access according add added addition adds adjacent applied applies apply applying assign "
    "assigned assigns attach attached attaches attaching back belong belonging belongs bind binds "
    "bound changes close closest committed compare compared comparable connect connected "
    "connecting connection connections connects contrast convert converted converts copied copies "
    "copy correspond corresponding corresponds due equal equivalent export exported exports go "
    "goes going limited link linked links log logged map mapped maps migrate migrated move moved "
    "moves navigate next opposed point points prior rather refer reference references referred "
    "referring refers regard related relation relative respect respond responds restricted return "
    "returned returns right save saved saves scroll send sending sends sent similar specific "
    "subject subscribe subscribed switch updates up write writes written"
)
"""What *to* belongs to, so that a noun comes behind it: *applies to query results*."""

_KINDS_OF_NAMES = _words(
    "attribute attributes class classes constructor element elements enum enumeration event events "
    "function functions interface interfaces keyword method methods namespace object objects "
    "operator operators parameter parameters property properties statement statements struct type "
    "variable variables"
)
"""What the names in the source of a program are names of: *the Process class*."""

_SET_EXPRESSIONS = {
    ("for",): frozenset(("example", "instance")),
    ("in",): frozenset(("order", "case", "addition", "general", "particular", "turn", "place")),
    ("by",): frozenset(("default", "means", "way")),
    ("as", "a"): frozenset(("result", "rule")),
}
"""Words that say nothing of their own behind others: *for example*."""


def is_verb(words: Sequence[str], first: int, end: int, begins: bool) -> bool:
    """Return whether a term that could be a noun is seen to be a verb.

    ``words`` are those of a text in lower case, ``first`` and ``end`` the index of the first word
    of the term and that after its last. ``begins``: a sentence begins with it.
    """
    before = "" if begins or not first else words[first - 1]
    behind = words[end] if end < len(words) else ""
    last = words[end - 1]
    if before in _BEFORE_VERBS or (last.endswith("s") and before in _RELATIVES):
        return True
    if before == "to" and end == first + 1 and last in _VERBS_TOO:
        return behind in DETERMINERS or first < 2 or words[first - 2] not in _TAKE_TO
    acts = before in _ADVERBS and first > 1  # *it now reports*, but *now reports are*
    acts |= begins and behind.endswith("ly") and _can_be_verb(last)  # *Reports fully loaded files*
    if _has_verb_ending(last, behind) or (acts and last.endswith("s")):
        return True
    if _is_gerund(words[:first], last, behind) or _is_second(words[:first], last, behind):
        return True
    if behind in DETERMINERS:
        return begins or before == "to" or (last.endswith("s") and _is_third_person(words[:first]))
    return False


def _is_gerund(before: Sequence[str], word: str, behind: str) -> bool:
    """Return whether a word that ends in *ing* is a verb: *you are debugging*, *by setting it*."""
    if not word.endswith("ing"):
        return False
    has_object = behind[:1].isalnum() and behind not in _BEHIND_NOUNS
    return tuple(before[-2:]) in _GOING_ON or (before[-1:] == ["by"] and has_object)


def _is_second(before: Sequence[str], word: str, behind: str) -> bool:
    """Return whether a word is a verb like another, behind *and*: *to run and step through it*."""
    if before[-1:] not in (["and"], ["or"]) or word not in _VERBS_TOO:
        return False
    goes_on = behind in DETERMINERS or behind in ("through", "over", "into")
    return goes_on and before[-2] in _VERBS_TOO and _joins_verbs(before[:-1], word)


def may_be_verb(words: Sequence[str], first: int, end: int, begins: bool) -> bool:
    """Return whether a term that is not seen to be a verb (`is_verb`) could be one.

    It is a word that can be a verb, in a place where a verb could stand, and something is behind
    it that a verb could go before, or it ends a clause: *as the model changes*.
    """
    before, behind = "" if begins or not first else words[first - 1], _word_at(words, end)
    word = words[first]
    if end != first + 1 or not before[:1].isalpha() or not behind:
        return end == first + 1 and not behind and _may_end_clause(words[:first], word)
    if behind.endswith("ed") or behind in _AUXILIARIES:
        return False
    has_object = behind not in _BEHIND_NOUNS
    if word.endswith("ing"):
        return before in _BEFORE_GERUNDS and has_object
    if before in ("and", "or"):
        has_article = behind in DETERMINERS and not _is_inflected(word)  # *and access the file*
        joins = has_article or _joins_verbs(words[: first - 1], word)
        return has_object and _can_be_verb(word) and joins
    if before in _BEFORE_NOUNS - _RELATIVES or before in _AUXILIARIES or not _can_be_verb(word):
        return False
    is_free = before in _RELATIVES or before in _ADVERBS or before.endswith("ly")
    has_clause = before.endswith("s") and behind in DETERMINERS | _CONJUNCTIONS
    return has_object if _is_inflected(word) else is_free or has_clause


def _may_end_clause(before: Sequence[str], word: str) -> bool:
    """Return whether a word could be the verb of a clause, behind its subject."""
    subject = before[-1] if before else ""
    is_noun = subject[:1].isalpha() and subject not in _BEFORE_NOUNS | _AUXILIARIES
    if not is_noun or not _is_inflected(word) or not _can_be_verb(word):
        return False
    clause = next((i for i, w in enumerate(reversed(before)) if w in _BEFORE_CLAUSES), None)
    return clause is not None and all(w[:1].isalnum() for w in before[len(before) - clause :])


def _word_at(words: Sequence[str], index: int) -> str:
    """Return a word, or nothing if there is a mark or the end."""
    word = words[index] if index < len(words) else ""
    return word if word[:1].isalnum() else ""


def _can_be_verb(word: str) -> bool:
    """Return whether a word is a verb as well as a noun, as it is or in the third person."""
    return any(each in _VERBS_TOO for each in (word, word.removesuffix("s"), word[:-2]))


def _is_inflected(word: str) -> bool:
    """Return whether a word that can be a verb is one in the third person, or a plural."""
    return word.endswith("s") and word not in _VERBS_TOO


def _joins_verbs(before: Sequence[str], word: str) -> bool:
    """Return whether words end with what could be a verb like another, behind *and*.

    *Receives and processes*, *can read and process*, *to run and step*.
    """
    if _is_inflected(word):
        return bool(before) and before[-1].endswith("s") and before[-1].isalpha()
    return len(before) > 1 and (before[-2] == "to" or before[-2] in _BEFORE_VERBS)


def _has_verb_ending(word: str, behind: str) -> bool:
    """Return whether a word with the ending of a verb goes before what only verbs go before."""
    if word.endswith("ing"):
        return behind == "up" or behind in DETERMINERS - {"that"}
    if word == "results" and behind in ("in", "from"):
        return True
    return word.endswith("s") and behind in ("whether", "how")


def _is_third_person(before: Sequence[str]) -> bool:
    """Return whether some words can be before a verb in the third person that has an object.

    A noun goes before *lists the*, *changes a*, nothing that has to go before another noun; or
    another such verb, as in *loads and processes a*.
    """
    if before[-1] in ("and", "or"):
        return before[-2:-1] != [] and before[-2].endswith("s") and before[-2].isalpha()
    return before[-1][:1].isalpha() and before[-1] not in _BEFORE_NOUNS


def is_in_set_expression(words: Sequence[str], first: int, end: int) -> bool:
    """Return whether a term is the last word of a set expression: *example* in *for example*."""
    return end == first + 1 and any(
        words[first] in nouns and tuple(words[max(first - len(before), 0) : first]) == before
        for before, nouns in _SET_EXPRESSIONS.items()
    )


def is_named_before(words: Sequence[str], end: int) -> bool:
    """Return whether what ends before an index is named by the word there: *the Process class*."""
    return end < len(words) and words[end] in _KINDS_OF_NAMES
