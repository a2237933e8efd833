"""What stands around a source term may say that the term is not meant."""

from __future__ import annotations

import pytest

from lexbeam import Glossary
from lexbeam.errors import SettingError

TERMS = {
    "directory": "Verzeichnis",
    "window": "Fenster",
    "server": "Server",
    "font size": "Schriftgrad",
    "process": "Prozess",
    "debugging": "Debuggen",
    "access": "Zugriff",
    "report": "Bericht",
    "change": "ändern",
    "user": "Benutzer",
    "add-on": "Erweiterung",
    "ID": "Kennung",
}


def found(text: str, source: str = "en", target: str = "de", **options: object) -> list[str]:
    glossary = Glossary.from_terms(TERMS, **options)  # type: ignore[arg-type]
    return [match.rule.source for match in glossary.find(text, source, target).entries]


@pytest.mark.parametrize(
    "text",
    [
        "It is stored in Active Directory.",
        "the Active Directory-based login",
        "Server Manager opens.",
        "The new Server Manager opens.",
        "SQL Server is running.",
        "See (Azure Directory) for more.",
    ],
)
def test_part_of_a_name_is_no_term(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Directory of the server", ["directory", "server"]),
        ("The Server is down.", ["server"]),
        ("Change the Font Size here.", ["change", "font size"]),  # the whole name is the term
        ("The Server Directory", ["server", "directory"]),  # a title
        ("SERVER DIRECTORY", ["server", "directory"]),
        ("See the list: Server or Process.", ["server", "process"]),
        ("Stop it. Server and directory stay.", ["server", "directory"]),
        ("Click\nServer first", ["server"]),
        ("the SQL server", ["server"]),
        ("Enter the Windows ID.", ["ID"]),  # capitals of the glossary are meant
    ],
)
def test_other_capitals_do_not_matter(text: str, terms: list[str]) -> None:
    assert found(text) == terms


@pytest.mark.parametrize(
    "text",
    [
        "https://server.example.com/process",
        "Open /server/api now.",
        "See java.sql.process there.",
        "in C:\\directory",
        "server@example.org",
        "the variable user_server",
        "process=1",
        'Look for description="process" there.',
        "the new value as @process or $server",
        "process::server",
        "Set process=%process%;server of it",
        "the {server} there",
        "Call process() first.",
        "with --server first",
        "See server.my-site.com, please.",
        "Call process.start() now.",
        "server.example.com/page#top",
        "\\\\server\\share",
        "directory\\new",
        "{0}server",
    ],
)
def test_no_term_is_in_an_address_or_an_identifier(text: str) -> None:
    assert found(text) == []


def test_words_beside_marks_are_terms() -> None:
    assert found("process/server: (user), server. Server!") == [
        "process",
        "server",
        "user",
        "server",
        "server",
    ]
    assert found("Press <b>user</b>server, </i>process.") == ["user", "server", "process"]
    named = Glossary.from_terms({"java.sql": "Paket"})
    assert len(named.find("See java.sql.process.").entries) == 1


@pytest.mark.parametrize(
    "marks",
    [
        *("%1$d", "%1$d.", ".%1$s", ".a-b", ".Don't", ".C++", ".日本", ".3.14", ".½", "\\n", "\\"),
        *(".https://x.org/a?b=c", ".e\u0301"),
    ],
)
def test_words_right_before_marks_that_belong_to_no_address_are_terms(marks: str) -> None:
    assert found(f"Start the server{marks}") == ["server"]
    assert found(f"Start the server{marks} now") == ["server"]


def test_names_are_not_looked_for_where_capitals_say_nothing_of_them() -> None:
    text = "It is stored in Active Directory."
    assert found(text, case="any") == ["directory"]
    assert found(text, "de", "en") == ["directory"]  # German nouns all have capitals
    glossary = Glossary.from_terms(TERMS)
    assert len(glossary.find(text).entries) == 1  # in an unknown language


def test_a_capital_inside_a_sentence_is_no_form_of_a_term() -> None:
    assert found("It runs on Windows.", lemmas="source") == []
    assert found("Open the windows.", lemmas="source") == ["window"]
    assert found("Windows are open.", lemmas="source") == ["window"]
    assert found("Windows Update 2019", lemmas="source") == []
    assert found("for the desktop (Windows and Mac)", lemmas="source") == []
    assert found("* Windows are open.", lemmas="source") == ["window"]


def test_words_in_capitals_are_names_unless_all_is() -> None:
    assert found("USER returns the name.") == []
    assert found("The process of the USER.") == ["process"]
    assert found("THE PROCESS OF THE USER") == ["process", "user"]
    glossary = Glossary.from_terms({"json": "JSON"})
    assert len(glossary.find("Use JSON here.", "en", "de").entries) == 1


@pytest.mark.parametrize(
    "text",
    [
        "The data is processed.",
        "Processing it takes time.",
        "You can access it.",
        "They want to access the file.",
        "Access the file.",
        "We report errors.",
        "The topic reports the errors.",
        "A machine processes a request.",
        "The flag that reports whether it runs.",
        "It is a user-defined type.",
        "a non-user account",
        "It is used to access remote files.",
        "Choose what to report.",
        "The task loads and processes an item.",
        "The result of debugging the page.",
        "This reports whether it runs.",
        "It now processes more.",
        "Use the Process class.",
        "Use the new Server object.",
        "Reports minimally logged errors.",
        "You are debugging.",
        "The page that you're debugging is new.",
        "They go on by debugging scripts.",
        "It allows you to run and report the result.",
    ],
)
def test_verbs_and_words_with_a_hyphen_are_no_nouns(text: str) -> None:
    assert found(text, lemmas="source") == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The processes of the users.", ["process", "user"]),
        ("Give access to users.", ["access", "user"]),
        ("Of these reports the first is new.", ["report"]),
        ("From new reports the total is taken.", ["report"]),
        ("This is debugging.", ["debugging"]),
        ("It is found by debugging.", ["debugging"]),
        ("A part of debugging in the page.", ["debugging"]),
        ("It refers to users and processes of this.", ["user", "process"]),
        ("You changed it, to change it.", ["change", "change"]),  # its target is a verb
        ("Install the add-on.", ["add-on"]),
        ("the report – user", ["report", "user"]),
        ("- user", ["user"]),
        ("The access, you see.", ["access"]),
        ("It applies to access rights.", ["access"]),
        ("Access to report files is new.", ["access", "report"]),
        ("The debugging that takes time.", ["debugging"]),
        ("Reports and processes of the user.", ["report", "process", "user"]),
        ("and processes a file", ["process"]),
        ("Use the process class.", ["process"]),
        ("Now reports are new.", ["report"]),
        ("Click Process to go on.", ["process"]),
        ("Process Class", ["process"]),
    ],
)
def test_nouns_are_found(text: str, terms: list[str]) -> None:
    assert found(text, lemmas="source") == terms


def test_set_expressions_say_nothing_of_their_own() -> None:
    glossary = Glossary.from_terms({"example": "Beispiel", "results": "Ergebnisse"})
    for text, count in (
        ("For example, this one.", 0),
        ("This is for an example.", 1),
        ("It is, for example, wrong.", 0),
        ("It is used as first results.", 1),
        ("The example.", 1),
        ("This change results in an error.", 0),
        ("The results of this change.", 1),
    ):
        assert len(glossary.find(text, "en", "de").entries) == count, text
    named = Glossary.from_terms({"for example": "beispielsweise", "example": "Beispiel"})
    found = named.find("For example, an example.", "en", "de")
    assert len(found.entries) == 2


def test_verbs_are_told_from_nouns_only_where_a_capital_shows_nouns() -> None:
    assert found("It was processed.", "en", "pt", lemmas="source") == ["process"]
    assert found("Access the user-defined file.", "en", "pt") == ["access", "user"]


@pytest.mark.parametrize(
    ("text", "may_be_verbs"),
    [
        ("The type you choose reports where it runs.", [True]),
        ("It is a part that accepts and processes requests.", [True]),
        ("It can read and process requests.", [True]),
        ("To open it, select the new page and access the files.", [True]),
        ("These services report the errors.", [True]),
        ("They frequently access elements.", [True]),
        ("It fails while debugging several pages.", [True]),
        ("It tells you when the new type reports.", [True]),
        ("It tells you when the new type, or one of the last reports.", [False]),
        ("It tells you of the last week reports.", [False]),
        ("It tells you when there are reports.", [False]),
        ("These reports where it runs.", [False]),  # *these* goes before nouns
        ("The new reports are here.", [False]),
        ("All the new reports, and more.", [False]),
        ("The new reports shared with you.", [False]),
        ("The result of debugging is new.", [False]),
        ("Look at the servers and processes of it.", [False, False]),
        ("A window server opens it.", [False, False]),  # no verbs at all
        ("Reports where it runs.", [False]),
    ],
)
def test_what_may_be_a_verb_is_found_and_marked(text: str, may_be_verbs: list[bool]) -> None:
    glossary = Glossary.from_terms(TERMS, lemmas="source")
    found = glossary.find(text, "en", "de")
    assert [match.may_be_verb for match in found.entries] == may_be_verbs
    assert sorted(found.may_be_verbs) == sorted(may_be_verbs)


def test_nouns_are_demanded_for_verbs_on_request() -> None:
    glossary = Glossary.from_terms(TERMS, lemmas="source", verbs=True)
    for text in ("You can access it.", "It was processed.", "The type you choose reports where."):
        found = glossary.find(text, "en", "de")
        assert [match.may_be_verb for match in found.entries] == [False], text
    assert not glossary.find("It is a user-defined type.", "en", "de").entries
    firm = Glossary.from_terms(TERMS, lemmas="source")
    assert glossary.signature != firm.signature
    assert firm.overridden_by(glossary).find("You can access it.", "en", "de").entries
    with pytest.raises(SettingError, match="verbs must be True or False"):
        Glossary.from_terms(TERMS, verbs="some")  # type: ignore[arg-type]


def test_what_may_be_a_verb_is_demanded_by_itself_and_last() -> None:
    glossary = Glossary.from_terms({"report": ["Bericht", "Report"]}, lemmas="source")
    found = glossary.find("The type reports where the reports and the report are.", "en", "de")
    assert [shape.get("count", 1) for shape in found.constraints] == [2, 1]
    assert found.may_be_verbs == [False, True]
    assert found.source_spans[1] == ((9, 16),)
