from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

import lexbeam
from lexbeam.errors import LexbeamError
from lexbeam.server.scheduler import Scheduler
from lexbeam.server.sentence_queue import LARGEST_BATCH, SentenceQueue, Waiting
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Translation

TEXTS = [f"The number of the printer is {n}." for n in range(12)]


@pytest.fixture(scope="module")
def translator() -> lexbeam.Translator:
    return lexbeam.load()


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    scheduler = Scheduler(2)
    yield scheduler
    scheduler.stop()


def _waiting(owner: int, count: int, group: str = "a", length: int = 5) -> list[Waiting[int]]:
    return [Waiting(owner, group, length, 0.0, n) for n in range(count)]


def test_requests_get_their_turns() -> None:
    queue: SentenceQueue[int] = SentenceQueue()
    queue.add(_waiting(1, 100))
    queue.add(_waiting(2, 1))
    queue.add(_waiting(3, 2))
    queue.add(_waiting(4, 90))
    assert [each.owner for each in queue.take(queue.owners(short=True))] == [2, 3, 3]
    assert queue.owners(short=False) == [1, 4]
    assert [each.owner for each in queue.take(queue.owners(short=False))][:4] == [1, 4, 1, 4]
    assert not queue.owners(short=True)


def test_batches_are_bounded_and_of_one_group() -> None:
    queue: SentenceQueue[int] = SentenceQueue()
    for owner in range(50):
        queue.add(_waiting(owner, 1, "ab"[owner % 2]))
    first = queue.take(queue.owners(short=True))
    assert {each.group for each in first} == {"a"}
    assert len(first) == 25
    queue.add(_waiting(99, 1, length=10_000))
    taken = [queue.take(queue.owners(short=True)) for _ in range(2)]
    assert sum(map(len, taken)) == 26
    assert not queue.owners(short=True)
    for owner in range(50):
        queue.add(_waiting(owner, 3))
    assert len(queue.take(queue.owners(short=True))) == LARGEST_BATCH


def test_dropped_requests_are_forgotten() -> None:
    queue: SentenceQueue[int] = SentenceQueue()
    queue.add(_waiting(1, 5))
    queue.add(_waiting(2, 1))
    queue.drop(1)
    assert len(queue) == 1
    assert [each.owner for each in queue.take(queue.owners(short=True))] == [2]


def test_gives_what_the_translator_gives(
    translator: lexbeam.Translator, scheduler: Scheduler
) -> None:
    requests = [TextRequest(text, constraints=["Drucker"]) for text in TEXTS]
    requests.append(TextRequest(" ".join(TEXTS), constraints=["Drucker"], avoid=["Nummer"]))
    found = scheduler.submit(translator, requests).result(60)
    assert found == translator.translate_each(requests)


def test_a_bad_request_spoils_no_other(
    translator: lexbeam.Translator, scheduler: Scheduler
) -> None:
    bad = TextRequest("Hello.", constraints=["neu"], avoid=["neu"])
    futures = [scheduler.submit(translator, [TextRequest(text)]) for text in TEXTS]
    refused = scheduler.submit(translator, [bad, TextRequest(TEXTS[0])]).result(60)
    assert isinstance(refused[0], LexbeamError)
    assert isinstance(refused[1], Translation)
    texts = [future.result(60)[0] for future in futures]
    assert texts == translator.translate(TEXTS)


def test_what_was_found_is_kept(translator: lexbeam.Translator, scheduler: Scheduler) -> None:
    request = TextRequest("Select a printer from the list.")
    first = scheduler.submit(translator, [request]).result(60)
    sentences = scheduler.counters.sentences
    assert scheduler.submit(translator, [request]).result(60) == first
    assert scheduler.counters.sentences == sentences


def test_equal_sentences_are_searched_once(
    translator: lexbeam.Translator, scheduler: Scheduler
) -> None:
    text = "Open the window.\n" * 200
    (found,) = scheduler.submit(translator, [TextRequest(text)]).result(60)
    assert isinstance(found, Translation)
    assert len(set(found.text.splitlines())) == 1
    assert scheduler.counters.sentences == 1


def test_a_request_that_is_cancelled_leaves_the_queue(translator: lexbeam.Translator) -> None:
    scheduler = Scheduler(1)
    book = " ".join(f"Page {n} of the book has {n} words." for n in range(2000))
    future = scheduler.submit(translator, [TextRequest(book)])
    while not scheduler.waiting:
        time.sleep(0.01)
    future.cancel()
    start = time.monotonic()
    scheduler.submit(translator, [TextRequest("Hello.")]).result(60)
    assert time.monotonic() - start < 30
    assert scheduler.waiting == 0
    scheduler.stop()


def test_what_nobody_expected_is_an_error_of_one_text(
    translator: lexbeam.Translator, scheduler: Scheduler, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing:
        def searches(self, request: TextRequest) -> object:
            yield from ()
            raise RuntimeError(f"secret {request.text}")

    (found,) = scheduler.submit(Failing(), [TextRequest("my text")]).result(60)  # type: ignore[arg-type]
    assert isinstance(found, LexbeamError)
    assert "RuntimeError" in caplog.text
    assert "my text" not in caplog.text
    assert isinstance(scheduler.submit(translator, [TextRequest("Hi.")]).result(60)[0], Translation)


def test_stopping_answers_what_was_accepted(translator: lexbeam.Translator) -> None:
    scheduler = Scheduler(2)
    futures = [scheduler.submit(translator, [TextRequest(text)]) for text in TEXTS]
    scheduler.stop()
    assert all(future.done() for future in futures)


def test_many_threads_may_use_one_translator(translator: lexbeam.Translator) -> None:
    requests = [
        TextRequest(text, constraints=["Drucker"], settings={"beam_size": 3 + n % 3})
        for n, text in enumerate(TEXTS)
    ]
    expected = [translator.translate_each([request])[0] for request in requests]
    together = threading.Barrier(4)

    def work(shift: int) -> list[object]:
        together.wait()
        order = [(n + shift) % len(requests) for n in range(len(requests))]
        found = {n: translator.translate_each([requests[n]])[0] for n in order}
        return [found[n] for n in range(len(requests))]

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(work, range(4)):
            assert found == expected
