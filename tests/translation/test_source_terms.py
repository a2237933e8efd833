from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.glossary import Glossary
from lexbeam.constraints.kinds import Phrase
from lexbeam.errors import ConstraintError, InputError, SettingError
from lexbeam.text.word_boundaries import contains, occurrences
from lexbeam.translation import source_terms
from lexbeam.translation.keep import compile_patterns, find_kept
from lexbeam.translation.readable_source import ReadableSource
from lexbeam.translation.source_terms import SourceDemands, SourceTerms
from lexbeam.translation.translator import Translator

INFO = {"source_language": "en", "target_language": "pt"}
GLOSSARY = Glossary.from_terms({"cat": "gato", "mat": ["tapete", "esteira"]}, {"cat": "gata"})


def found_in(text: str, terms: SourceTerms) -> SourceDemands:
    return terms.find(ReadableSource.of(text, []))


def combined(text: str, demanded: Any = None, avoid: Any = None, **options: Any) -> Constraints:
    """Return what is asked of a translation, by the caller and by the text."""
    terms = SourceTerms(options.get("glossary", GLOSSARY), options.get("keep"), INFO)
    return found_in(text, terms).added_to(Constraints.build(demanded, avoid, language="pt"))


def added(text: str, demanded: Any = None, avoid: Any = None, **options: Any) -> tuple[Any, Any]:
    """Return the shapes of what is demanded and of what is avoided."""
    asked = combined(text, demanded, avoid, **options)
    return [each.given for each in asked.demanded], [each.given for each in asked.avoid]


def test_it_is_known_where_the_source_of_a_demand_stands() -> None:
    asked = combined("A cat. {x} mat, mat.", ["gato", "a"], keep=["placeholders"])
    assert [each.given for each in asked.demanded] == [
        "gato",
        "a",
        {"text": "{x}", "case": "exact", "exactly": 1},
        {"any": ["tapete", "esteira"], "count": 2},
    ]
    assert [each.source_spans for each in asked.demanded] == [
        ((2, 5),),  # It takes the place of the term, and stands for its source.
        (),
        ((7, 10),),
        ((11, 14), (16, 19)),
    ]
    left = combined("mat, mat", [{"any": ["tapete", "esteira"]}]).demanded
    assert [each.source_spans for each in left] == [((0, 3),), ((5, 8),)]


def limits(text: str, demanded: Any = None, **options: Any) -> list[int | None]:
    return [each.at_most for each in combined(text, demanded, **options).demanded]


def test_terms_occur_no_more_often_than_their_source() -> None:
    assert limits("mat, mat. {x}", keep=["placeholders"]) == [1, 2]
    assert limits("cat, cat") == [1, 1]
    # Where the caller asks for the same, both are wanted: there is no limit then.
    assert limits("cat", ["o gato", "um gato"]) == [None, None, None]
    assert limits("cat", ["o gato"]) == [None, 1]
    assert limits("cat cat", ["gato"]) == [None, None]


def test_a_placeholder_that_the_source_does_not_have_is_invented() -> None:
    found = found_in("a {0} b", SourceTerms(None, ["placeholders"], INFO))
    assert found.find_invented("x {0} {1} {0}") == [(6, 9)]
    assert (
        SourceTerms(GLOSSARY, None, INFO)
        .find(ReadableSource.of("cat {0}", []))
        .find_invented("{1}")
        == []
    )


def test_plain_words_are_not_invented() -> None:
    """What a pattern for words matches in a translation is its words."""
    found = found_in("a Peter b v1", SourceTerms(None, [r"[A-Z]\S+", r"v\d"], INFO))
    assert found.find_invented("Haus, Caf\u00e9 Cafe\u0301 O'Neill Peter v1 U-Bahn.") == []
    assert found.find_invented("Haus v2 Ab{c}") == [(5, 7), (8, 13)]


def test_a_word_with_a_mask_in_it_is_invented() -> None:
    patterns = compile_patterns(["placeholders"])
    source = ReadableSource.of("a {x} b", find_kept("a {x} b", patterns))
    assert source.text == "a ID1 b"
    found = SourceTerms(None, ["placeholders"], INFO).find(source)
    assert found.find_invented("ID1 ID1s xID1, ID12 b") == [(4, 8), (9, 13), (15, 19)]
    assert found.find_invented("ID1 b") == []


def test_what_is_found_comes_on_top() -> None:
    assert added("The cat.", ["a"], ["b"]) == (["a", "gato"], ["b", "gata"])
    assert added("The dog.", ["a"], ["b"]) == (["a"], ["b"])
    assert added("The dog.") == ([], [])
    assert added("The cat.") == (["gato"], ["gata"])
    assert added("The cat.", avoid=["gata"]) == (["gato"], ["gata"])


def test_what_is_asked_for_already_is_not_asked_for_again() -> None:
    assert added("cat cat", ["gato"])[0] == ["gato", "gato"]
    # What is asked for in one form may be among the occurrences of a term that has several.
    assert added("mat mat mat", ["tapete"])[0] == [
        "tapete",
        {"any": ["tapete", "esteira"], "count": 3},
    ]
    either = {"any": ["tapete", "esteira"], "count": 2}
    assert added("mat mat", ["esteira"])[0] == ["esteira", either]
    once = {"text": "esteira", "at_most": 1}
    assert added("mat mat", [once])[0] == [once, {"any": ["tapete", "esteira"]}]
    assert added("mat", ["esteira"])[0] == ["esteira"]


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ({"any": ["tapete", "esteira"]}, None),
        ({"text": "tapete", "count": 2}, None),
        ({"text": " tapete "}, None),
        ({"any": ["tapete", "capacho"]}, {"any": ["tapete", "esteira"]}),
        ({"text": "tapete", "soft": 2}, {"any": ["tapete", "esteira"]}),
        ({"order": ["tapete", "x"]}, {"any": ["tapete", "esteira"]}),
        (Phrase((("tapete",),), given="tapete"), None),
        (Phrase((("tapete",),), soft=1.0), {"any": ["tapete", "esteira"]}),
    ],
)
def test_all_shapes_are_understood(asked: Any, left: Any) -> None:
    given = asked.given if isinstance(asked, Phrase) else asked
    assert added("mat", [asked])[0] == [given, *([left] if left else [])]


def test_what_is_left_is_asked_for_that_often() -> None:
    rest = combined("mat mat mat", [{"any": ["tapete", "esteira"]}]).demanded[1]
    assert (rest.count, rest.parts) == (2, (("tapete", "esteira"),))


def test_one_word_is_not_the_translation_of_two(translator: Translator) -> None:
    """What was left of the term, in any of its forms, was met by what the caller asked for."""
    result = translator.translate("The mat, the mat.", ["tapete"], glossary=GLOSSARY)
    words = re.findall(r"tapete|esteira", result.text)
    assert len(words) == 2


@pytest.mark.parametrize(
    "asked",
    [
        {"order": ["a", "gata"]},
        {"gap": ["a", "gata"], "within": 2},
        {"suffix": "gata."},
        {"text": "gata", "soft": 2},
        {"order": ["a", {"any": ["gata", "x"]}]},
    ],
)
def test_who_asks_in_any_way_may_have_what_is_forbidden(asked: Any) -> None:
    assert combined("cat", [asked]).avoid == ()


def test_what_is_forbidden_may_be_in_the_prefix() -> None:
    asked = Constraints.build([], prefix="A gata ", language="pt")
    assert found_in("cat", SourceTerms(GLOSSARY, None, INFO)).added_to(asked).avoid == ()


def test_who_asks_may_have_what_is_forbidden() -> None:
    assert added("cat", ["uma gata"]) == (["uma gata", "gato"], [])


def test_terms_are_not_looked_for_in_what_is_kept() -> None:
    assert added("cat {cat} www.cat.com", keep=["placeholders", "urls"])[0] == [
        {"text": "{cat}", "case": "exact", "exactly": 1},
        {"text": "www.cat.com", "case": "exact", "exactly": 1},
        "gato",
    ]


def test_a_text_is_looked_through_once(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[str] = []

    def watched(text: str, patterns: Any) -> Any:
        searched.append(text)
        return find_kept(text, patterns)

    monkeypatch.setattr(source_terms, "find_kept", watched)
    translator.translate("a %s", keep=["placeholders"])
    translator.translate(["The cat %s.", "no"], keep=["placeholders"])
    assert searched == ["a %s", "The cat %s.", "no"]


def test_a_constraint_is_read_once(translator: Translator) -> None:
    class Forms(list[str]):
        read = 0

        def __iter__(self) -> Iterator[str]:
            self.read += 1
            return super().__iter__()

    forms = Forms(["gato", "cachorro"])
    translator.translate("The cat.", [{"any": forms}], glossary=GLOSSARY)
    assert forms.read == 1


def test_a_glossary_must_be_one() -> None:
    with pytest.raises(SettingError, match=r"lexbeam.Glossary or the path of a file, not int"):
        SourceTerms(3, None, INFO)  # type: ignore[arg-type]


def test_a_list_in_a_list_is_no_glossary(translator: Translator) -> None:
    nested: list[Any] = []
    nested.append(nested)
    given: Any = nested
    with pytest.raises(SettingError, match=r"the path of a file, not list"):
        translator.translate("The cat.", glossary=given)
    with pytest.raises(SettingError, match=r"the path of a file, not list"):
        translator.translate(["The cat."], glossary=given)


def test_a_translation_has_the_terms(translator: Translator) -> None:
    glossary = Glossary.from_terms({"cat": "gato"}, {"cat": "sat"})
    result = translator.translate("The cat sat, the cat.", glossary=glossary)
    assert len(list(occurrences(result.text, "gato"))) == 2
    assert not contains(result.text, "sat")
    assert [report.text for report in result.constraints] == ["gato", "gato"]


def test_each_text_has_its_own_terms(translator: Translator) -> None:
    glossary = Glossary.from_terms({"cat": "gato", "mat": "tapete"})
    results = translator.translate(["The cat.", "The mat.", "The."], glossary=glossary)
    assert [[r.text for r in each.constraints] for each in results] == [["gato"], ["tapete"], []]


def test_what_is_kept_is_in_the_translation(translator: Translator) -> None:
    (result, _) = translator.translate(
        ["The <b>cat</b> %s.", "no"], keep=["markup", "placeholders"]
    )
    tags, first, last, placeholder = result.constraints
    assert first.met
    assert last.met
    assert (tags.met, tags.text, placeholder.text) == (True, "<b> … </b>", "%s")
    assert [result.text[slice(*span)] for span in tags.spans] == ["<b>", "</b>"]
    assert placeholder.span
    assert result.text[slice(*placeholder.span)] == "%s"


def test_contradictions_are_errors(translator: Translator) -> None:
    glossary = Glossary.from_terms({"cat": "gato"})
    with pytest.raises(ConstraintError, match="gato"):
        translator.translate("The cat.", avoid=["gato"], glossary=glossary)
    with pytest.raises(ConstraintError, match="sentence 1: "):
        translator.translate(["a", "cat"], avoid=[[], ["gato"]], glossary=glossary)


def test_wrong_settings_are_errors(translator: Translator) -> None:
    with pytest.raises(SettingError, match="keep"):
        translator.translate("The cat.", keep=["("])
    with pytest.raises(SettingError, match="glossary"):
        translator.translate("The cat.", glossary=3)  # type: ignore[call-overload]
    with pytest.raises(InputError, match="must be a string"):
        translator.translate([None], glossary=GLOSSARY)  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("text", "asked", "counts"),
    [
        ("mat mat mat", {"text": "tapete", "exactly": 2}, [2, 1]),  # it may be esteira
        ("cat cat cat", {"text": "gato", "exactly": 2}, [2]),
        ("cat cat cat", {"text": "gato", "at_most": 2}, [1, 1]),
        ("cat cat cat", {"any": ["gato", "gata"], "exactly": 2}, [2, 1, 1]),
    ],
)
def test_what_a_caller_limits_is_demanded_no_more_often(
    text: str, asked: Any, counts: list[int]
) -> None:
    both = combined(text, [asked])
    assert [each.count for each in both.demanded] == counts
    limited = [each for each in both.counted if each.once == both.demanded[0].once]
    assert sum(each.at_most or 0 for each in limited) == 2


def test_an_error_says_what_is_kept() -> None:
    with pytest.raises(ConstraintError, match=r'kept\[0\] "https://x.org/aaa.* characters'):
        combined("See https://x.org/" + "a" * 5000, keep=["urls"])
