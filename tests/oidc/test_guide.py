"""The guide's page on signing in as it is typed: its settings, its command for the secret, its commands that link."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.fixtures.ports import free_ports
from tests.fixtures.shell import ONE_NODE, Shell, serving
from tests.oidc.provided import SECRET, Certified

PAGE = (Path(__file__).parents[2] / "docs/guide/sign-in.md").read_text()


def block(kind: str, holding: str) -> str:
    """Return the block of the page that holds a text."""
    blocks: list[str] = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    (found,) = [text for text in blocks if holding in text]
    return found


@pytest.fixture(scope="module")
def url() -> str:
    return f"http://127.0.0.1:{free_ports(1, 17_000, 18_000)}"


@pytest.fixture(scope="module")
def provider(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Certified]:
    made = Certified(tmp_path_factory.mktemp("provider"), [f"{url}/sign-in"])
    yield made
    made.close()


@pytest.fixture(scope="module")
def tm(url: str, provider: Certified, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    user = tmp_path_factory.mktemp("user")
    home = user / ".trainmaster"
    (home / "secrets").mkdir(parents=True, mode=0o700)
    install = block("bash", "install -m 600")
    subprocess.run(
        ["bash", "-euc", install], env={**os.environ, "HOME": str(user)}, input=SECRET, text=True, check=True
    )
    settings = block("toml", "[sign_in.oidc]").replace("https://id.example.org/realms/lab", provider.issuer)
    with serving(home, "--port", url.rpartition(":")[2], settings=ONE_NODE + settings) as shell:
        yield shell


def comes(url: str, provider: Certified, subject: str) -> httpx.Response:
    """Sign in as a browser does."""
    with httpx.Client(base_url=f"{url}/api/v1", headers={"origin": url}, trust_env=False, timeout=30) as http:
        begun = http.post("/session/provider").json()
        told = provider.signs_in(begun["address"], subject)
        return http.post("/session/provider/back", json={**told, "flow": begun["flow"]})


def test_the_settings_of_the_page_let_people_in_by_their_groups(tm: Shell, url: str, provider: Certified) -> None:
    tm.here("workspace", "create", "vision")
    tm.here("workspace", "create", "speech")
    ways = httpx.get(f"{url}/api/v1/session/ways", trust_env=False, timeout=60).json()
    assert ways["provider"] == {"label": "Lab ID"}
    provider.people({"s-1": {"preferred_username": "li", "groups": ["staff"]}})
    answer = comes(url, provider, "s-1")
    assert answer.status_code == 201, answer.text
    assert {one["workspace"]: one["role"] for one in answer.json()["user"]["workspaces"]} == {
        "vision": "admin",
        "speech": "viewer",
    }


def test_an_account_that_exists_is_linked_as_the_page_says(tm: Shell, url: str, provider: Certified) -> None:
    tm.here("user", "add", "ann")
    link, show, unlink = (line.split()[1:] for line in block("bash", "tm user link").splitlines())
    subject = link[-1]
    provider.people({subject: {"preferred_username": "ann", "groups": ["students"]}})
    refused = comes(url, provider, subject)
    assert refused.status_code == 409
    assert subject in refused.text
    tm.here(*link)
    assert subject in tm.here(*show)
    assert comes(url, provider, subject).json()["user"]["name"] == "ann"
    tm.here(*unlink)
    assert comes(url, provider, subject).status_code == 409
