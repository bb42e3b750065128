"""Which addresses, commits and folders may be the origin of an algorithm's code (R23, R150)."""

import re
from typing import Any

import pytest

from trainmaster.core.errors import InvalidSpec
from trainmaster.spec.algorithms.algorithm import AlgorithmSpec
from trainmaster.spec.algorithms.checking import read_algorithm, written
from trainmaster.spec.algorithms.origins import read_origin

COMMIT = "4f1c9a0d" * 5
UPLOAD = "sha256:" + "7" * 64


def wrong(**origin: Any) -> dict[str, str]:
    with pytest.raises(InvalidSpec) as why:
        read_origin({"git": "https://example.org/a", "commit": COMMIT, **origin}, "code")
    assert "hunter2" not in repr(why.value.problems)
    return {one.path: one.code for one in why.value.problems}


@pytest.mark.parametrize(
    "address",
    [
        "https://git.example.org/lab/nets.git",
        "http://10.0.0.7:3000/lab/nets",
        "https://example.org/~ann/a b.git".replace(" ", "%20"),
        "ssh://git@git.example.org/lab/nets.git",
        "ssh://git.example.org:2222/lab/nets",
        "git@git.example.org:lab/nets.git",
        "https://[2001:db8::1]/nets",
        "git@git.example.org:/srv/nets.git",
    ],
)
def test_a_repository_of_another_machine_is_taken(address: str) -> None:
    assert read_origin({"git": address, "commit": COMMIT}, "code").git == address


@pytest.mark.parametrize(
    "address",
    [
        "ext::sh -c touch% /tmp/x",
        "ext::ssh host",
        "file:///etc",
        "FILE:///etc",
        "file://localhost/srv/a",
        "/srv/git/a",
        "./a",
        "../a",
        "a",
        "~/a",
        "fd::17",
        "git://example.org/a",
        "ftp://example.org/a",
        "rsync://example.org/a",
        "transport::https://example.org/a",
        "--upload-pack=touch /tmp/x",
        "-oProxyCommand=x",
        "https://-example.org/a",
        "ssh://-oProxyCommand=x/a",
        "-x@example.org:a",
        "git@-oProxyCommand=x:a",
        "git@example.org:-a",
        "git@example.org::a",
        "ssh://git@example.org/-a",
        "https://example.org/a\\b",
        "https://example.org",
        "https://example.org/",
        "https:///a",
        "https://exam ple.org/a",
        "https://example.org/a b",
        "https://example.org/a\nb",
        "https://example.org:port/a",
        "javascript://example.org/%0aalert(1)",
        "C:\\repo",
        "C:/repo",
        "\u202ehttps://example.org/a",
        " https://example.org/a",
        "",
    ],
)
def test_programs_files_options_and_other_protocols_are_refused(address: str) -> None:
    """`ext::` runs a program, `file://` reads this machine, what begins with a dash is an option to git or ssh."""
    assert wrong(git=address).keys() == {"code.git"}


@pytest.mark.parametrize(
    "address",
    [
        "https://ann:hunter2@example.org/a",
        "https://hunter2@example.org/a",
        "http://:hunter2@example.org/a",
        "ssh://git:hunter2@example.org/a",
        "https://example.org/a?token=hunter2",
        "https://example.org/a#hunter2",
        "HTTPS://ann:hunter2@example.org/a",
        "git+https://ann:hunter2@example.org/a",
        "git@example.org:a?token=hunter2",
    ],
)
def test_an_address_with_a_password_is_refused_and_not_told_again(address: str) -> None:
    assert wrong(git=address) == {"code.git": "origin_with_password"}


@pytest.mark.parametrize(
    "commit",
    [
        "main",
        "HEAD",
        "v1.0",
        "4f1c9a0",
        COMMIT.upper(),
        COMMIT + "0",
        "-" * 40,
        "",
        f"{COMMIT}\n",
        COMMIT[:-1] + "g",
        f"{COMMIT}^{{tree}}",
    ],
)
def test_only_the_full_hash_of_a_commit_stays_what_it_is(commit: str) -> None:
    assert wrong(commit=commit) == {"code.commit": "not_a_commit"}


@pytest.mark.parametrize(
    "folder", ["/a", "../a", "a/..", "a//b", "a/", ".", "-a", "a/-b", "a\\b", "a:b", "a\nb", " a", "a/./b"]
)
def test_a_folder_lies_in_the_repository(folder: str) -> None:
    assert wrong(folder=folder) == {"code.folder": "not_a_folder_of_repository"}


def test_all_that_is_wrong_is_told_at_once() -> None:
    found = wrong(git="file:///srv/a", commit="main", folder="..")
    assert found == {
        "code.git": "not_an_origin",
        "code.commit": "not_a_commit",
        "code.folder": "not_a_folder_of_repository",
    }
    assert wrong(git=5, more=1).keys() == {"code.git", "code.more"}


def test_the_server_judges_what_a_client_says() -> None:
    """Whoever speaks to the API directly: the console shows the address to others."""
    base = {"command": "python train.py", "code": {"upload": UPLOAD}}
    origin = {"git": "https://example.org/a", "commit": COMMIT, "folder": "nets/a"}
    made = read_algorithm({**base, "origin": origin})
    assert isinstance(made, AlgorithmSpec)
    assert read_algorithm(written(made)) == made
    for bad, paths in (
        ({**base, "origin": {"git": "javascript://x/%0aalert(1)", "commit": "main"}}, {"origin.git", "origin.commit"}),
        ({**base, "code": None, "origin": origin}, {"origin"}),
        ({**base, "origin": {**origin, "git": None}}, {"origin.git"}),
    ):
        with pytest.raises(InvalidSpec) as why:
            read_algorithm(bad)
        assert {re.sub(r"\.type$", "", one.path) for one in why.value.problems} == paths
