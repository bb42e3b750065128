"""What the client makes of answers that it did not expect: of another version, of something else at the address, of a
server that another one is about to replace.
"""

import httpx
import msgspec
import pytest

from tests.unit.sdk.made import detail
from trainmaster.api.problems import HttpRefusal
from trainmaster.core.errors import TrainmasterError, Unavailable
from trainmaster.messages.said import Said, verbatim
from trainmaster.messages.server import ledger
from trainmaster.sdk.client import Client
from trainmaster.sdk.transport import error_of
from trainmaster.service.language import document_of


def answering(content: bytes) -> Client:
    """A client of a server that answers this to everything."""
    wire = httpx.MockTransport(lambda request: httpx.Response(200, content=content))
    return Client("http://there", "x", http=httpx.Client(transport=wire))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<!doctype html>",
        b'{"items": [], "next_cursor": null, "counts": {}}',
        b'{"id": "t1", "state": "asleep"}',
        b'{"id": "\xff"}',
    ],
)
def test_an_answer_that_is_none_of_ours_is_one_sentence(content: bytes) -> None:
    """Another version, or something else at this address."""
    with answering(content) as client:
        for ask in (client.session, client.list, lambda: client.get("t1")):
            with pytest.raises(TrainmasterError, match="does not understand the answer of the server") as refused:
                ask()
            assert type(refused.value) is TrainmasterError, "a server that is away is waited for, this one is not"
            assert "tm doctor" in refused.value.remedy


def test_what_a_newer_server_adds_is_left_out() -> None:
    """Nor is what it leaves out guessed."""
    told = {**msgspec.to_builtins(detail(name="b")), "mood": "good"}
    with answering(msgspec.json.encode(told)) as client:
        assert client.get("t1").detail == detail(name="b")
    told["tasks"].pop("lost")
    with answering(msgspec.json.encode(told)) as client, pytest.raises(TrainmasterError, match="lost"):
        client.get("t1")


def test_an_event_that_is_none_of_ours_ends_a_wait_with_a_sentence() -> None:
    said = b'event: job\ndata: {"id": "t1", "state": "asleep"}\n\n'

    def answer(request: httpx.Request) -> httpx.Response:
        whole = msgspec.json.encode(detail())
        return httpx.Response(200, content=said if request.url.path.endswith("/feed") else whole)

    http = httpx.Client(transport=httpx.MockTransport(answer))
    with Client("http://there", "x", http=http) as client, pytest.raises(TrainmasterError, match="does not understand"):
        client.get("t1").wait(timeout=60)


@pytest.mark.parametrize(
    ("said", "method", "again"),
    [
        (ledger.nobody_leads(), "POST", True),
        (ledger.nobody_leads(), "GET", True),
        (ledger.leader_ended(), "GET", True),
        (ledger.leader_ended(), "POST", False),
        (ledger.ledger_closed(), "GET", False),
    ],
)
def test_what_is_asked_while_another_server_takes_over_is_asked_again(said: Said, method: str, again: bool) -> None:
    """But not what may have been done, unless it may be repeated."""
    refusal = msgspec.json.encode(document_of("en", Unavailable(said)))
    answers_left = [httpx.Response(503, content=refusal), httpx.Response(200, content=b"{}")]
    http = httpx.Client(transport=httpx.MockTransport(lambda request: answers_left.pop(0)))
    with Client("http://there", "x", http=http) as client:
        if again:
            assert client.http.request(method, "/jobs").status_code == 200
        else:
            with pytest.raises(Unavailable):
                client.http.request(method, "/jobs")
            assert len(answers_left) == 1


def test_an_error_that_no_client_knows_is_one_of_ours_all_the_same() -> None:
    """Also beside a server in this process, which has errors of its own with the same status."""
    told = msgspec.to_builtins(document_of("en", HttpRefusal(500, verbatim("A disk is on fire"))))
    for answer in (httpx.Response(500, json=told), httpx.Response(500, text="no document")):
        error = error_of(answer)
        assert type(error) is TrainmasterError
    assert str(error_of(httpx.Response(500, json=told))) == "A disk is on fire"
