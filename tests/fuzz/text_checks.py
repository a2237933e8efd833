"""What every translation promises, held against a text search of our own."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import FrameType
from typing import Any

import lexbeam
from fuzz.campaign import Failure, Kind
from fuzz.text_problems import (
    RANDOM_MODEL,
    TAGS,
    TextProblem,
    draw,
    models,
    random_model,
    show,
    simpler,
)
from fuzz.text_truth import (
    Asked,
    Span,
    composed,
    exact_spans,
    fault_of_prefix,
    fault_of_spans,
    is_form,
    is_in_name,
    part_spans,
    read,
    squash,
    stands,
)

MOST_SECONDS = 20.0
SAME_SCORE = 0.02
"""Scores differ by so much where sums of eight-bit products are rounded another way."""
MUCH_WORSE = 0.3
OPENING = re.escape("\"'“„‘«([{<-/")
_RIGHT_REFUSALS = re.compile("can be written|can't be written|cbs")
_SEVERAL_SENTENCES = re.compile(r"[^\w\s]\s|\n")


@cache
def translator(model: str) -> lexbeam.Translator:
    """Return the translator of a model: a name of `models`, or a folder."""
    if model == RANDOM_MODEL:
        return lexbeam.load(random_model())
    known = models()
    return lexbeam.load(known[model] if model in known else Path(model))


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Raise a TimeoutError when something takes too long."""

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError(f"not done after {seconds:.0f} s of work")

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def translate(problem: TextProblem, together: bool = False) -> lexbeam.Translation:
    """Translate the text of a problem, alone or together with its others."""
    one = translator(problem.model)
    passed: dict[str, Any] = dict(problem.settings)
    if problem.keep:
        passed["keep"] = list(problem.keep)
    if problem.terms:
        passed["glossary"] = lexbeam.Glossary.from_terms(dict(problem.terms), verbs=True)
    constraints, avoid = list(problem.constraints), list(problem.avoid)
    if not together:
        return one.translate(problem.text, constraints, avoid, problem.prefix, **passed)
    none = [None] * len(problem.others)
    texts = [*problem.others, problem.text]
    prefixes = [*none, problem.prefix]
    return one.translate(texts, [*none, constraints], [*none, avoid], prefixes, **passed)[-1]


def check(problem: TextProblem) -> Iterator[Failure]:
    """Yield the promises that a translation breaks."""
    if problem.echoed is not None:
        yield from check_echo(problem, problem.echoed)
        return
    started = time.process_time()
    try:
        with no_longer_than(3 * MOST_SECONDS):
            result = translate(problem)
    except lexbeam.LexbeamError as error:
        if is_wrong_refusal(problem, error):
            yield Failure("what is possible is not refused", f"{error}")
        return
    except TimeoutError as error:
        yield Failure("a short text is quick", f"{error}")
        return
    except Exception as error:
        yield Failure(f"nothing but lexbeam's errors: {type(error).__name__}", f"{error!r}")
        return
    taken = time.process_time() - started
    if taken > MOST_SECONDS:
        yield Failure("a short text is quick", f"{taken:.0f} s")
    if problem.malformed:
        return
    yield from check_constraints(problem, result)
    yield from check_links(problem, result)
    yield from check_the_rest(problem, result)
    if problem.others:
        yield from check_batch(problem, result)


def check_echo(problem: TextProblem, number: int) -> Iterator[Failure]:
    """Check that a word that is there anyway spoils nothing when it is demanded.

    A word behind a quotation mark or bracket stays there, and the score stays about the same: a
    beam that is divided among banks holds other hypotheses.
    """
    free = translate(problem)
    words = re.findall(r"\w+", free.text)
    words = [word for word in words if list(exact_spans(free.text, word))]
    if words and problem.echo != "demanded":
        yield from check(_with_echo(problem, words[number % len(words)]))
    elif words:
        word = words[number % len(words)]
        found = translate(replace(problem, constraints=(word,)))
        quoted = re.compile(rf"[{OPENING}]{word}\b")
        is_spoilt = quoted.search(free.text) is not None and not quoted.search(found.text)
        if is_spoilt or found.score < free.score - MUCH_WORSE:
            said = f"{free.text!a} ({free.score:.2f}) has {word!a}; demanded: {found.text!a}"
            yield Failure("what is there anyway spoils nothing", f"{said} ({found.score:.2f})")


def _with_echo(problem: TextProblem, word: str) -> TextProblem:
    """Return a problem in which a word is limited or avoided."""
    if problem.echo == "avoided":
        return replace(problem, echoed=None, avoid=(word,))
    return replace(problem, echoed=None, constraints=({"text": word, problem.echo: 1},))


def is_wrong_refusal(problem: TextProblem, error: Exception) -> bool:
    """Say whether an error is about something that can be done for certain.

    Anything can be placed in a text, one thing behind the other, if it has no limit, nothing
    is avoided and only one thing wants to be at its beginning and one at its end.
    """
    if problem.malformed or problem.avoid or "max_length" in problem.settings:
        return False
    hard = [each for each in map(read, problem.constraints) if each.soft is None]
    beginnings = {each.parts for each in hard if each.kind == "prefix"}
    ends = {each.parts for each in hard if each.kind == "suffix"}
    if len(beginnings) + (problem.prefix is not None) > 1 or len(ends) > 1:
        return False
    if any(is_elsewhere(problem, number) for number in range(len(problem.constraints))):
        return False
    return not _RIGHT_REFUSALS.search(str(error))


def is_elsewhere(problem: TextProblem, number: int) -> bool:
    """Say whether something else may bring what a constraint limits into the text."""
    asked = read(problem.constraints[number])
    if asked.most is None:
        return False
    given: list[object] = [*problem.constraints[:number], *problem.constraints[number + 1 :]]
    others = repr([*given, problem.prefix, problem.terms, problem.keep and problem.text]).casefold()
    if asked.kind == "lemma":
        return len(given) > 0 or problem.prefix is not None
    forms = [form.casefold() for form in asked.parts[0]]
    if any(not any(map(str.isalnum, form)) for form in forms):
        return True  # a longer run of punctuation has it, too
    return any(repr(form)[1:-1] in others for form in forms) or any(
        one != other and one in other for one in forms for other in forms
    )


def check_constraints(problem: TextProblem, result: lexbeam.Translation) -> Iterator[Failure]:
    """Check the reports of the constraints against the text."""
    if len(result.constraints) < len(problem.constraints):
        yield Failure("every constraint is answered", f"{result.constraints}")
        return
    several = _SEVERAL_SENTENCES.search(problem.text) is not None
    reports = zip(problem.constraints, result.constraints, strict=False)
    for shape, report in reports:
        asked = read(shape)
        said = f"{shape!a} in {result.text!a}"
        others = map(read, problem.constraints)
        equal = [each for each in others if (each.kind, each.parts) == (asked.kind, asked.parts)]
        times = {form: len(list(exact_spans(result.text, form))) for form in asked.parts[0]}
        if report.met:
            yield from _check_met(result.text, asked, report, said, several)
            if asked.plain and asked.most is not None and max(times.values()) > asked.most:
                yield Failure("what is met is not there too often", f"{times}: {said}")
            continue
        if asked.soft is None:
            yield Failure("every constraint is met", f"missing: {said}")
        elif not report.dropped:
            yield Failure("what is not met and soft is dropped", said)
        if asked.kind == "text":
            there = times[asked.parts[0][0]]
            if there >= sum(one.count for one in equal) and (
                asked.most is None or there <= asked.most
            ):
                yield Failure("what is there is reported as met", said)
    yield from _check_equal_ones(problem, result)


def _check_met(
    text: str, asked: Asked, report: lexbeam.ConstraintReport, said: str, several: bool
) -> Iterator[Failure]:
    assert report.span is not None
    spans: list[Span] = list(report.spans) or [report.span]
    fault = fault_of_spans(text, asked, spans, several)
    if fault is not None:
        yield Failure("what is reported as met is", f"{fault}: {said}")
        return
    if asked.count == 1 and report.span != (spans[0][0], spans[-1][1]):
        yield Failure("a span runs from the first part to the last", f"{report.span}: {said}")
    written = [text[start:end] for start, end in spans[: len(asked.parts)]]
    if asked.count == 1 and report.form != " … ".join(written):
        yield Failure("the form is what is written", f"{report.form!r}: {said}")


def _check_equal_ones(problem: TextProblem, result: lexbeam.Translation) -> Iterator[Failure]:
    places: dict[str, list[tuple[Span, ...]]] = {}
    for shape, report in zip(problem.constraints, result.constraints, strict=False):
        asked = read(shape)
        if report.met and asked.most is None and asked.kind not in ("prefix", "suffix"):
            places.setdefault(repr(asked), []).append(report.spans)
    for asked_for, found in places.items():
        if len(set(found)) < len(found):
            said = f"{asked_for} in {result.text!a}"
            yield Failure("equal constraints have places of their own", said)


def check_the_rest(problem: TextProblem, result: lexbeam.Translation) -> Iterator[Failure]:
    """Check prefix, avoided phrases, what was kept, and the terms of the glossary."""
    text = result.text
    if problem.prefix is not None:
        ending = " " * problem.prefix[-1:].isspace()
        fault = fault_of_prefix(text, squash(problem.prefix) + ending)
        if fault is not None:
            yield Failure("a translation begins with its prefix", f"{text!a} {fault}")
    for shape in problem.avoid:
        yield from _check_avoided(problem, result, read(shape))
    if problem.keep:
        for kept in ("{0}", "{1}", "{name}", "%1$d", "http://x.org/a", "me@x.org"):
            there, wanted = text.count(kept), problem.text.count(kept)
            if there < wanted and _is_free(problem.text, kept):
                yield Failure("what is to be kept is kept", f"{kept}: {text!a}")
        yield from _check_tags(problem, text)
    # A name in braces is no term, nor is what is kept.
    no_terms = r"\{[^{}\n]*\}|&\w+;" if problem.keep else r"\{\w+\}"
    for source, target in problem.terms:
        read_in = re.sub(no_terms, "{}", problem.text)
        found = [s for s in exact_spans(read_in, source) if not is_in_name(read_in, s)]
        forms = [composed(squash(target))]
        forms.append(forms[0][:1].title() + forms[0][1:])
        is_left = any(each.text == target and each.reason for each in result.constraints)
        there = any(list(exact_spans(composed(text), form)) for form in forms)
        if found and not there and not is_left:
            said = f"{source}: {target!a} is not in {text!a}"
            yield Failure("the terms of a glossary are there", said)


def _check_tags(problem: TextProblem, text: str) -> Iterator[Failure]:
    """Check that a translation has the tags of its source, in their order and no others.

    Not where other things that are asked for may have tags in them, nor where a placeholder has
    one: it is kept as a whole, and goes where the placeholder goes.
    """
    asked = repr((problem.constraints, problem.avoid, problem.prefix, problem.terms))
    if "<" in asked or ">" in asked or re.search(r"\{[^{}]*<", problem.text):
        return
    tag = re.compile("|".join(map(re.escape, TAGS)))
    wanted, there = tag.findall(problem.text), tag.findall(text)
    if wanted != there and "<" not in tag.sub("", problem.text):
        yield Failure("tags are kept in their order", f"{wanted}: {text!a}")


def check_links(problem: TextProblem, result: lexbeam.Translation) -> Iterator[Failure]:
    """Check that an alignment links words."""
    for link in result.alignment or ():
        here, there = problem.text[slice(*link.source)], result.text[slice(*link.target)]
        if not here.strip() or not there.strip():
            yield Failure("links are between words", f"{link}: {here!a} {there!a}")


def _is_free(text: str, kept: str) -> bool:
    """Say whether something to be kept touches nothing in the source that could belong to it."""
    at = text.find(kept)
    around = text[at - 1 : at] + text[at + len(kept) : at + len(kept) + 1]
    return all(each.isspace() for each in around)


def _check_avoided(
    problem: TextProblem, result: lexbeam.Translation, asked: Asked
) -> Iterator[Failure]:
    text = result.text
    for form in asked.parts[0]:
        spans = list(exact_spans(text, form))
        if asked.case == "any":
            ends = [(at, at + len(form)) for at in range(len(text) - len(form) + 1)]
            spans = [s for s in ends if is_form(text, s, form, "any") and stands(text, s)]
        if asked.compound and list(part_spans(text, form, asked.case)) and not result.unavoided:
            said = f"{form!a} is in a compound: {text!a}"
            yield Failure("what is avoided and there is reported", said)
        if spans:
            said = f"{form!a} is in {text!a}"
            if not result.unavoided:
                yield Failure("what is avoided and there is reported", said)
            elif form.isalpha() and not _may_be_needed(problem, form):
                yield Failure("what is avoided is not there", said)


def _may_be_needed(problem: TextProblem, form: str) -> bool:
    """Say whether something that is avoided may have to be there: it is in what is demanded.

    A beginning that is demanded is one that the output has no choice about; nor has it any where
    the length is limited.
    """
    demanded: list[object] = [problem.prefix, *problem.constraints, problem.terms]
    inside = repr(demanded).casefold()
    return "max_length" in problem.settings or repr(form.casefold())[1:-1] in inside


def check_batch(problem: TextProblem, alone: lexbeam.Translation) -> Iterator[Failure]:
    """Check that a text gives in a batch what it gives alone."""
    try:
        for other in problem.others:
            translate(replace(problem, text=other, constraints=(), avoid=(), prefix=None))
    except lexbeam.LexbeamError:
        return  # One of the others can't be translated with these settings.
    try:
        there = translate(problem, together=True)
    except Exception as error:
        yield Failure("a batch gives what its texts give", f"{error!r}")
        return
    if abs(there.score - alone.score) > SAME_SCORE:
        batch, single = (f"{each.text!a} ({each.score:.4f})" for each in (there, alone))
        said = f"{batch} in a batch, {single} alone"
        yield Failure("a batch gives what its texts give", said)


def text_kind(model: str | None = None) -> Kind[TextProblem]:
    """Return the kind of problem, for one model or for all that are at hand."""
    return Kind("text", partial(draw, model=model), check, show, simpler)
