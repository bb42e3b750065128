"""Secrets of workspaces as rows, sealed, on both databases (B12)."""

import base64
import stat
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import update

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event, audit_of
from trainmaster.core.errors import Conflict, NotFound, Unavailable
from trainmaster.core.folders.layout import Layout
from trainmaster.service.secrets.vault import Vault
from trainmaster.store.cluster_settings import ClusterSettings, Setting
from trainmaster.store.people.secrets import SecretRow, SecretRows
from trainmaster.store.tables import secret

VALUE = "canary-5d0b7a11"


@pytest.fixture
def vault(store: Store, tmp_path: Path) -> Vault:
    return Vault(Layout(str(tmp_path / "home")), SecretRows(store.database))


def put(vault: Vault, workspace: str, name: str, value: str = VALUE, most: int = 10) -> SecretRow:
    key, sealed = vault.seal(workspace, name, value)
    return vault.rows.put(SecretRow(workspace, name, key, sealed, 1.0, 1.0, "ann"), audit_event(), most)


def keys(vault: Vault) -> Path:
    return Path(vault._path)


def test_what_was_sealed_is_opened_and_its_use_is_noted(vault: Vault, store: Store) -> None:
    put(vault, "vision", "TOKEN")
    put(vault, "vision", "KEY", "ein Schlüssel\nmit Zeilen")
    assert vault.values("vision", ["KEY", "TOKEN", "KEY"], 7.0) == {"KEY": "ein Schlüssel\nmit Zeilen", "TOKEN": VALUE}
    store.database.write(lambda connection: None).result()
    assert [one.used_at for one in vault.rows.of_workspace("vision")] == [7.0, 7.0]
    assert stat.S_IMODE(keys(vault).stat().st_mode) == 0o600


def test_the_same_value_is_sealed_differently_each_time_and_told_by_no_row(vault: Vault) -> None:
    one, two = put(vault, "vision", "A"), put(vault, "vision", "B")
    assert one.sealed != two.sealed
    assert VALUE.encode() not in base64.b64decode(one.sealed)
    assert VALUE not in repr(one)
    assert one.sealed not in repr(one)


def test_another_value_replaces_the_first_and_keeps_when_it_was_made(vault: Vault, store: Store) -> None:
    put(vault, "vision", "TOKEN")
    key, sealed = vault.seal("vision", "TOKEN", "another value")
    changed = vault.rows.put(SecretRow("vision", "TOKEN", key, sealed, 5.0, 5.0, "li"), audit_event(at=5.0), 1)
    assert (changed.created_at, changed.changed_at, changed.changed_by) == (1.0, 5.0, "li")
    assert vault.values("vision", ["TOKEN"], 9.0) == {"TOKEN": "another value"}
    assert len(audit_of(store.database)) == 2


def test_all_that_is_not_there_is_named_and_other_workspaces_do_not_count(vault: Vault) -> None:
    put(vault, "vision", "TOKEN")
    for workspace in ("speech", "nowhere"):
        with pytest.raises(NotFound) as refused:
            vault.values(workspace, ["TOKEN", "KEY"], 2.0)
        assert [one.args["name"] for one in refused.value.said.args["wrong"]] == ["TOKEN", "KEY"]
    assert vault.names("speech") == frozenset()


def test_a_row_in_anothers_place_does_not_open(vault: Vault, store: Store) -> None:
    ours, theirs = put(vault, "vision", "TOKEN"), put(vault, "speech", "TOKEN", "the other's value")
    put(vault, "vision", "KEY", "for the key")
    for workspace, name, source in (("speech", "TOKEN", ours), ("vision", "KEY", ours), ("vision", "TOKEN", theirs)):
        place = (secret.c.workspace == workspace) & (secret.c.name == name)
        swap = update(secret).where(place).values(sealed=source.sealed)
        store.database.write(lambda connection, swap=swap: connection.execute(swap).close()).result()
        with pytest.raises(NotFound):
            vault.values(workspace, [name], 2.0)


@pytest.mark.parametrize("damage", ["", "not base64 !", "AAAA", base64.b64encode(b"x" * 40).decode()])
def test_a_damaged_row_is_said_to_be_unreadable(vault: Vault, store: Store, damage: str) -> None:
    put(vault, "vision", "TOKEN")
    store.database.write(lambda c: c.execute(update(secret).values(sealed=damage)).close()).result()
    with pytest.raises(NotFound) as refused:
        vault.values("vision", ["TOKEN"], 2.0)
    assert refused.value.said.args["wrong"][0].code == "secret_not_readable"


def test_a_new_key_in_the_first_line_seals_and_the_old_one_still_opens(vault: Vault) -> None:
    before = put(vault, "vision", "OLD")
    old = keys(vault).read_text()
    keys(vault).write_text(base64.urlsafe_b64encode(b"n" * 32).decode() + "\n" + old)
    after = put(vault, "vision", "NEW")
    assert before.key != after.key
    assert set(vault.values("vision", ["OLD", "NEW"], 2.0)) == {"OLD", "NEW"}
    keys(vault).write_text(keys(vault).read_text().splitlines()[0])
    with pytest.raises(NotFound):
        vault.values("vision", ["OLD"], 2.0)
    assert vault.values("vision", ["NEW"], 2.0) == {"NEW": VALUE}


@pytest.mark.parametrize("text", ["", "short\n", "é" * 50])
def test_a_key_file_that_is_damaged_is_never_made_anew(vault: Vault, text: str) -> None:
    put(vault, "vision", "TOKEN")
    keys(vault).write_text(text)
    for attempt in (lambda: vault.seal("vision", "X", VALUE), lambda: vault.values("vision", ["TOKEN"], 2.0)):
        with pytest.raises(Unavailable):
            attempt()
    assert keys(vault).read_text() == text


def test_a_workspace_has_so_many_and_they_go_with_it(vault: Vault, store: Store) -> None:
    put(vault, "vision", "A", most=2)
    put(vault, "vision", "B", most=2)
    with pytest.raises(Conflict):
        put(vault, "vision", "C", most=2)
    put(vault, "vision", "A", most=2)
    vault.rows.drop("vision", "B", audit_event())
    with pytest.raises(NotFound):
        vault.rows.drop("vision", "B", audit_event())
    settings = ClusterSettings(store.database)
    settings.put(Setting("workspace", "vision", {}, 1.0, "admin"), audit_event()).result(60)
    settings.drop("workspace", "vision", audit_event()).result(60)
    assert vault.rows.of_workspace("vision") == []


def test_a_row_is_what_was_stored(vault: Vault) -> None:
    one = put(vault, "vision", "TOKEN")
    assert vault.rows.of_workspace("vision") == [one] == [replace(one)]
