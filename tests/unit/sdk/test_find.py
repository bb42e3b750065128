"""Where the server is: arguments, environment, home; and to whom which token is sent."""

import json
from pathlib import Path

import pytest

from trainmaster.core.errors import Unavailable
from trainmaster.sdk.find import Target, locate

LOCAL = "http://127.0.0.1:8470"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "run").mkdir()
    (tmp_path / "secrets").mkdir()
    (tmp_path / "run" / "server.json").write_text(json.dumps({"url": LOCAL, "pid": 1}))
    (tmp_path / "secrets" / "cli-token").write_text("tm_local_x\n")
    return tmp_path


def test_the_home_names_the_server_and_its_token(home: Path) -> None:
    assert locate(home=str(home), environ={}) == Target(LOCAL, "tm_local_x")
    assert locate(environ={"TRAINMASTER_HOME": str(home)}) == Target(LOCAL, "tm_local_x")


def test_the_local_token_is_never_sent_elsewhere(home: Path) -> None:
    env = {"TRAINMASTER_HOME": str(home), "TRAINMASTER_URL": "http://elsewhere.example"}
    assert locate(environ=env) == Target("http://elsewhere.example", None)
    assert locate("http://127.0.0.1:9999", environ={"TRAINMASTER_HOME": str(home)}).token is None
    assert locate(LOCAL + "/", environ={"TRAINMASTER_HOME": str(home)}).token == "tm_local_x"


def test_arguments_win_over_the_environment(home: Path) -> None:
    env = {"TRAINMASTER_URL": "http://env.example", "TRAINMASTER_TOKEN": "tm_env"}
    assert locate("http://arg.example", "tm_arg", environ=env) == Target("http://arg.example", "tm_arg")
    assert locate(environ=env) == Target("http://env.example", "tm_env")
    assert locate(home=str(home), environ=env) == Target(LOCAL, "tm_local_x")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_nobody_is_there(tmp_path: Path, text: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "server.json").write_text(text)
    with pytest.raises(Unavailable, match="No Trainmaster server") as refused:
        locate(home=str(tmp_path), environ={})
    assert "trainmaster serve" in refused.value.remedy


def test_an_address_of_another_kind() -> None:
    with pytest.raises(Unavailable, match="not a server's address"):
        locate("ftp://x", environ={})


def test_a_home_of_somebody_else_is_told_as_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that may not be entered: not "no server runs there"."""
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(Unavailable) as refused:
        locate(home=str(tmp_path), environ={})
    assert refused.value.code == "home_is_closed"
    assert "TRAINMASTER_TOKEN" in refused.value.remedy
