"""`tm image build` with a Containerfile (R235-R238): a real Podman, that of who types it, builds it and pushes it to a
registry with a password; the server pulls it with a secret, and its test runs without a GPU.
"""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures.podman import Podman, podman
from tests.fixtures.registry import PASSWORD, USER, Registry, registry, small_system
from tests.fixtures.shell import ONE_NODE, Shell, serving

AUTH = '{{"auths": {{"{host}": {{"auth": "{word}"}}}}}}'


@pytest.fixture(scope="module")
def held() -> Iterator[Registry]:
    if os.geteuid() != 0:
        pytest.skip("a runtime of its own needs root")
    with registry() as made:
        made.put("team/tiny", small_system(), {"Env": ["PATH=/bin"]})
        yield made


@pytest.fixture(scope="module")
def runtime(held: Registry) -> Iterator[Podman]:
    with podman(held.host) as made:
        word = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        (made.folder / "auth.json").write_text(AUTH.format(host=held.host, word=word))
        yield made


@pytest.fixture(scope="module")
def tm(runtime: Podman, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    settings = ONE_NODE.replace("[local]\n", f'[local]\ncontainers = "{runtime.socket}"\n')
    with serving(tmp_path_factory.mktemp("home"), settings=settings) as shell:
        shell.env |= runtime.env | {"CONTAINER_HOST": f"unix://{runtime.socket}"}
        yield shell


def test_a_containerfile_is_built_pushed_and_tested(tm: Shell, held: Registry, tmp_path: Path) -> None:
    tm("secret", "set", "REGISTRY", "--workspace", "default", input=f"{USER}:{PASSWORD}")
    reference = f"{held.host}/ann/digits:1"
    (tmp_path / "Containerfile").write_text(f"FROM {held.host}/team/tiny\nCOPY mark /opt/mark\n")
    (tmp_path / "mark").write_text("built here\n")
    (tmp_path / "say.sh").write_text("cat /opt/mark; cat /code/mark; exit 3\n")
    words = ("image", "build", "digits", str(tmp_path), "--containerfile", str(tmp_path / "Containerfile"))
    more = ("--push", reference, "--secret", "REGISTRY", "--test", "sh say.sh", "--json")
    told, _ = json.JSONDecoder().raw_decode(tm(*words, *more, code=3))
    assert told["reference"] == "digits@1"
    assert told["test"]["exit_code"] == 3
    assert told["test"]["lines"] == ["built here", "built here"]
    assert told["commands"]["submit"].endswith("--set image=digits@1")
    assert f"-w /code {held.host}/ann/digits@sha256:" in told["commands"]["here"]
    image = tm.json("image", "show", "digits")
    assert image["container"].startswith(f"{held.host}/ann/digits@sha256:")
    assert image["versions"][0]["code"].startswith("sha256:")
    assert PASSWORD not in repr((told, image))


def test_what_is_built_here_must_be_pushed(tm: Shell, tmp_path: Path) -> None:
    (tmp_path / "Containerfile").write_text("FROM scratch\n")
    words = ("image", "build", "x", str(tmp_path), "--containerfile", str(tmp_path / "Containerfile"))
    assert "--push REF" in tm(*words, code=2)
