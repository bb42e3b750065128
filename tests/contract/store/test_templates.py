"""Templates as rows: written by whom they are shared with so, each change a version, of two at once one."""

from dataclasses import replace
from typing import Final

import pytest

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from tests.fixtures.seeing import ALL, only
from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.core.events import AuditEvent
from trainmaster.store.assets.templates import Edit, TemplateRows, document_in, editor_of, template_version
from trainmaster.store.assets.versions import Asset, AssetKind, AssetQuery, AssetReader, NewVersion

KIND: Final = AssetKind.TEMPLATE
PLAN: Final = Asset("p1", KIND, "plan", "vision", "ann", 1.0)


def new(at: float, by: str = "ann") -> NewVersion:
    return template_version({"name": f"at-{at}"}, f"sha256:{at}", 10, by, at)


def told(*_: Asset) -> AuditEvent:
    return audit_event()


@pytest.fixture
def rows(store: Store) -> TemplateRows:
    return TemplateRows(store.database)


def test_each_change_is_a_version_and_the_second_of_two_is_refused(store: Store, rows: TemplateRows) -> None:
    first = rows.add(PLAN, new(1.0), told())
    after = rows.edit(ALL, "p1", Edit("other", "for all", version=1), new(2.0, "bob"), told)
    assert (first.latest, after.latest, after.name, after.description) == (1, 2, "other", "for all")
    with pytest.raises(Conflict):
        rows.edit(ALL, "p1", Edit(version=1), new(3.0), told)
    reader = AssetReader(store.database)
    assert reader.called(ALL, KIND, "other") == [after_of(reader)]
    assert [(one.number, document_in(one), editor_of(one)) for one in reader.versions(ALL, "p1")] == [
        (2, {"name": "at-2.0"}, "bob"),
        (1, {"name": "at-1.0"}, "ann"),
    ]


def after_of(reader: AssetReader) -> Asset:
    [found] = reader.page(ALL, KIND, AssetQuery("FOR all"), 5).items
    assert (found.changed_at, found.versions, found.latest) == (2.0, 2, 2)
    return found


def test_it_is_written_by_whom_it_is_shared_with_so(store: Store, rows: TemplateRows) -> None:
    """Asked in the writer's thread: a share that was taken back counts."""
    rows.add(replace(PLAN, share="read-write"), new(1.0), told())
    bob = Visible(owner="bob", shared=frozenset({"vision"}), levels=frozenset({"read-write"}))
    assert rows.edit(bob, "p1", Edit(), new(2.0, "bob"), told).latest == 2
    assert rows.share(only("ann"), "p1", "read", told).share == "read"
    for refused in (
        lambda: rows.edit(bob, "p1", Edit(), new(3.0), told),
        lambda: rows.share(bob, "p1", "none", told),
    ):
        with pytest.raises(NotFound):
            refused()


def test_names_are_unique_and_pages_lose_nothing(store: Store, rows: TemplateRows) -> None:
    for at in range(7):
        rows.add(replace(PLAN, id=f"p{at}", name=f"plan-{at}"), new(float(at // 2)), told())
    with pytest.raises(Conflict):
        rows.add(replace(PLAN, id="p9", name="plan-3", owner="bob"), new(9.0), told())
    with pytest.raises(Conflict):
        rows.edit(ALL, "p4", Edit("plan-3"), new(9.0), told)
    rows.used("p0", 5.0)
    rows.used("p0", 6.0)
    rows.used("gone", 6.0)
    reader, found, cursor = AssetReader(store.database), list[Asset](), None
    while True:
        page = reader.page(ALL, KIND, AssetQuery(), 2, cursor)
        found, cursor = found + page.items, page.next_cursor
        if cursor is None:
            break
    assert [one.id for one in found] == ["p6", "p4", "p5", "p2", "p3", "p0", "p1"]
    assert [(one.used, one.used_at) for one in found if one.id == "p0"] == [(2, 6.0)]
    assert rows.names("vision") == {f"plan-{at}" for at in range(7)}
    assert reader.list_assets(ALL, AssetKind.MODEL) == []
