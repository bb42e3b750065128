"""The server's log as JSON lines: whatever is logged is one object a line, and is whole."""

import json
import logging
import subprocess
import sys
from pathlib import Path

from tests.fixtures.shell import ONE_NODE, serving
from trainmaster.cli.server.logs import JsonLines


def said(record: logging.LogRecord) -> dict[str, object]:
    line = JsonLines().format(record)
    assert "\n" not in line
    found = json.loads(line)
    assert isinstance(found, dict)
    return found


def record(name: str, text: object, *args: object) -> logging.LogRecord:
    made = logging.LogRecord(name, logging.WARNING, "x.py", 1, text, args, None)
    made.created = 1_700_000_000.25
    return made


def test_a_line_says_when_how_grave_where_and_what() -> None:
    assert said(record("trainmaster.master", "a %s\nof 任务 \x1b[1m", "line")) == {
        "at": "2023-11-14T22:13:20.250Z",
        "level": "warning",
        "logger": "trainmaster.master",
        "message": "a line\nof 任务 \x1b[1m",
    }


def test_an_error_brings_its_traceback_and_a_wrong_argument_loses_no_line() -> None:
    try:
        raise ValueError("broken")
    except ValueError:
        made = record("x", "it failed")
        made.exc_info = sys.exc_info()
    assert "ValueError: broken" in str(said(made)["error"])
    assert "%d of %d" in str(said(record("x", "%d of %d", "one"))["message"])


def test_a_request_is_told_in_fields() -> None:
    made = record("uvicorn.access", '%s - "%s %s HTTP/%s" %d', "10.0.0.1:5", "GET", "/api/v1/jobs", "1.1", 200)
    found = said(made)
    assert {name: found[name] for name in ("client", "method", "path", "status")} == {
        "client": "10.0.0.1:5",
        "method": "GET",
        "path": "/api/v1/jobs",
        "status": 200,
    }


def test_a_server_logs_so_where_its_settings_say_so(tmp_path: Path) -> None:
    """Every line of standard error, of requests too."""
    with serving(tmp_path, "--access-log", settings='[server]\nlog_format = "json"\n' + ONE_NODE) as shell:
        shell.here("list")
        told, shell.said = shell.stop(), ""
        shell.serve()
    lines = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    assert any(str(line.get("path")).startswith("/api/v1/jobs") and line["status"] == 200 for line in lines), told
    assert not [line for line in told.splitlines() if "INFO" in line]


def test_another_word_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[server]\nlog_format = "xml"\n')
    done = subprocess.run(
        [sys.executable, "-m", "trainmaster.cli", "serve", "--home", str(tmp_path), "--port", "0"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, "server.log_format" in done.stderr) == (2, True), done.stderr
