"""`[sign_in]` of config.toml, and what groups make of an account."""

from pathlib import Path

import pytest

from trainmaster.core.config import OidcConfig
from trainmaster.core.errors import InvalidSpec
from trainmaster.service.people.groups import decided, name_of
from trainmaster.service.people.provider import client_secret
from trainmaster.service.people.sign_in_settings import given_by, places, usable
from trainmaster.service.settings import load
from trainmaster.store.people.identities import Given
from trainmaster.store.people.members import Member

GOOD = '[sign_in]\npassword = false\n[sign_in.oidc]\nissuer = "https://id.example.org"\nclient_id = "tm"\n'


def problems(tmp_path: Path, text: str) -> list[str]:
    (tmp_path / "config.toml").write_text(text)
    try:
        load(str(tmp_path / "config.toml"))
    except InvalidSpec as error:
        return [problem.path for problem in error.problems]
    return []


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("", []),
        (GOOD, []),
        (GOOD + 'groups = { lab = "vision:member, speech:viewer" }\neverybody = "default:member"\n', []),
        ("[sign_in]\npassword = false\n", ["sign_in.password"]),
        ('[sign_in.oidc]\nclient_id = "tm"\n', ["sign_in.oidc.issuer"]),
        (GOOD.replace("https", "http"), ["sign_in.oidc.issuer"]),
        (GOOD.replace('.org"', '.org?x"'), ["sign_in.oidc.issuer"]),
        (GOOD.replace("tm", ""), ["sign_in.oidc.client_id"]),
        (GOOD + 'scopes = ["profile"]\n', ["sign_in.oidc.scopes"]),
        (GOOD + 'client_secret_file = "a"\nclient_secret_env = "B"\n', ["sign_in.oidc.client_secret_env"]),
        (GOOD + 'client_secret = "never here"\n', ["sign_in.oidc.client_secret"]),
        (
            GOOD + 'groups = { lab = "vision", b = "vision:god" }\n',
            ["sign_in.oidc.groups.lab", "sign_in.oidc.groups.b"],
        ),
        (GOOD + 'everybody = "default"\nname_claim = ""\n', ["sign_in.oidc.name_claim", "sign_in.oidc.everybody"]),
        ("[sign_in]\noidc = 3\n", ["sign_in.oidc"]),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(tmp_path: Path, text: str, paths: list[str]) -> None:
    assert problems(tmp_path, text) == paths


def test_where_secrets_may_be_sent() -> None:
    assert all(map(usable, ("https://a", "http://127.0.0.1:1", "http://localhost/x", "http://[::1]")))
    assert not any(map(usable, ("", "http://a", "ftp://a", "https://", "https://u@a", "http://127.0.0.1.evil", "//a")))


def test_the_secret_comes_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "s").write_text("abc\n")
    monkeypatch.setenv("THE_SECRET", " def ")
    assert client_secret(OidcConfig(client_secret_file="s"), str(tmp_path)) == "abc"
    assert client_secret(OidcConfig(client_secret_env="THE_SECRET"), str(tmp_path)) == "def"
    assert client_secret(OidcConfig(), str(tmp_path)) == ""
    (tmp_path / "two").write_text("a\nb\n")
    for wrong in ({"client_secret_file": "none"}, {"client_secret_file": "two"}, {"client_secret_env": "NOT_SET"}):
        with pytest.raises(InvalidSpec) as refused:
            client_secret(OidcConfig(**wrong), str(tmp_path))
        assert [problem.path for problem in refused.value.problems] == [f"sign_in.oidc.{next(iter(wrong))}"]


def test_of_several_groups_the_higher_role_counts() -> None:
    settings = OidcConfig(groups={"a": "vision:viewer, speech:member", "b": "vision:admin"}, everybody="default:viewer")
    assert given_by(settings, frozenset({"a", "b", "c"})) == {
        "vision": "admin",
        "speech": "member",
        "default": "viewer",
    }
    assert places("vision:admin,vision:viewer") == {"vision": "admin"}


@pytest.mark.parametrize(
    ("told", "name"),
    [("Ann@Lab.example", "ann"), ("ａｎｎ", "ann"), ("ann.li", "ann.li"), ("1ann", None), ("安", None), ("@lab", None),
     ("ann li", None), ("a" * 33, None), ("ann\n", "ann")],
)  # fmt: skip
def test_what_a_new_account_is_called(told: str, name: str | None) -> None:
    assert name_of(told) == name


def test_what_people_decided_stays() -> None:
    """R9: a hand-made role, and one changed by hand, are nobody's to take away but people's."""
    has = [
        Member(name, "ann", role, 1.0)
        for name, role in (("by-hand", "owner"), ("raised", "admin"), ("given", "member"))
    ]
    before = Given(False, {"raised": "member", "given": "member", "left": "member"})
    by = decided("ann", "user", has, before, Given(True, {"by-hand": "viewer", "given": "admin", "new": "viewer"}), 9.0)
    assert by.role == "admin"
    assert by.given == Given(True, {"given": "admin", "new": "viewer"})
    assert [(one.workspace, one.role, one.since) for one in by.joins] == [
        ("given", "admin", 1.0),
        ("new", "viewer", 9.0),
    ]
    assert by.leaves == []
    after = [
        Member("by-hand", "ann", "owner", 1.0),
        Member("given", "ann", "admin", 1.0),
        Member("new", "ann", "viewer", 9.0),
    ]
    gone = decided("ann", "admin", after, by.given, Given(), 10.0)
    assert (gone.role, [one.workspace for one in gone.leaves], gone.given) == ("user", ["given", "new"], Given())
    assert decided("ann", "admin", (), Given(), Given(), 1.0).role is None, "an administrator by hand stays one"
