"""What a job printed, and what people called things, does nothing to the terminal of who looks at it (R138)."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures import quick
from tests.fixtures.api_server import Running, running

SAID = "before\x1b]52;c;cm0gLXJmIH4=\x07\x1b]0;root@server\x1b\\ \x1b[31mred\x9b2J after\n"
SHOWN = "before \x1b[31mred after\n"
NAME = "a\x1b]0;title\x07b\x9b2J"
ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path) as made:
        yield made


@pytest.fixture
def job(server: Running) -> str:
    """An ended job with a hostile log and a hostile name."""
    import httpx

    headers = {"authorization": f"Bearer {server.token}"}
    asked = {"json": {"spec": {"name": NAME}}, "headers": headers}
    made = httpx.post(f"{server.url}/api/v1/jobs", timeout=60, **asked).json()["id"]
    server.call(lambda platform: platform.run(made))
    Path(server.platform.layout.task(made, 1, 0, 0).log).write_text(SAID)
    server.call(lambda platform: platform.finish(made))
    return str(made)


def tm(server: Running, *words: str) -> str:
    env = {**os.environ, "TRAINMASTER_URL": server.url, "TRAINMASTER_TOKEN": server.token}
    done = quick.tm_bytes(*words, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_a_log_is_text_and_colours_unless_it_is_asked_for_raw(server: Running, job: str) -> None:
    reset = "\x1b[0m"
    assert tm(server, "logs", job) == SHOWN + reset
    assert tm(server, "logs", job, "--tail", "1") == SHOWN + reset
    assert tm(server, "logs", job, "-f") == SHOWN + reset
    assert tm(server, "logs", job, "--search", "after") == f"1: {SHOWN.rstrip()}{reset}\n"
    assert tm(server, "logs", job, "--raw") == SAID
    assert tm(server, "logs", job, "--raw", "-f") == SAID


def test_of_a_bar_that_was_drawn_a_thousand_times_the_last_one_is_printed(server: Running, job: str) -> None:
    """And Windows' line ends are none of that."""
    bar = "\r".join(f"{n:>4}/1000 [{'#' * (n // 50):<20}]" for n in range(1, 1001))
    Path(server.platform.layout.task(job, 1, 0, 0).log).write_text(f"begin\n{bar}\nwindows\r\nend", newline="")
    last = bar.rpartition("\r")[2]
    assert tm(server, "logs", job) == f"begin\n{last}\nwindows\nend"
    assert tm(server, "logs", job, "--tail", "3") == f"{last}\nwindows\nend"
    assert tm(server, "logs", job, "--tail", "3", "--raw") == f"{bar}\nwindows\r\nend"


def test_names_are_shown_without_what_a_terminal_obeys(server: Running, job: str) -> None:
    for words in (("list",), ("show", job), ("explain", job), ("list", "--json"), ("show", job, "--json")):
        out = tm(server, *words)
        assert not ORDERS.search(out), words
        if "--json" in words:
            found = json.loads(out)
            assert (found[0] if isinstance(found, list) else found)["name"] == NAME
        else:
            assert "title" in out
