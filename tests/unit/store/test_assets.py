"""What questions about assets cost in SQLite."""

from tests.fixtures.plans import plans
from tests.fixtures.seeing import ALL
from trainmaster.access.visible import Visible
from trainmaster.store.assets.named import NamedVersions
from trainmaster.store.assets.subscriptions import SubscriptionRows
from trainmaster.store.assets.versions import (
    PASSED_ON,
    Asset,
    AssetKind,
    AssetQuery,
    AssetReader,
    AssetSource,
    NewVersion,
    add_version,
)
from trainmaster.store.database import Database

MEMBER = Visible(
    owner="ann",
    workspaces=frozenset({"optics"}),
    shared=frozenset({"optics", "default"}),
    levels=frozenset({"read"}),
    subscribed=frozenset({"optics"}),
)


def test_no_question_about_assets_looks_at_those_of_other_kinds_or_at_all_versions(database: Database) -> None:
    """A list, the last versions of what it shows, what a name means, how it is shared, what is offered."""
    new = NewVersion("sha256:d", 1, 1, 1.0, AssetSource.PERSON, "datasets/x")
    for kind in AssetKind:
        line = Asset(f"a-{kind}", kind, "digits", "default", "ann", 1.0)
        database.write(lambda connection, line=line: add_version(connection, line, new)).result()
    reader, named, rows = AssetReader(database), NamedVersions(database), SubscriptionRows(database)

    def ask(visible: Visible, kind: AssetKind) -> None:
        page = reader.page(visible, kind, AssetQuery(), 10)
        assert set(reader.latest(visible, page.items)) == set(rows.latest(page.items)) == {f"a-{kind}"}
        reader.count(visible, kind, AssetQuery("dig"))
        reader.find(visible, kind, "digits")
        reader.called(visible, kind, "digits")
        assert reader.named(visible, kind, "default", "digits", 1) is not None
        assert named.find(kind, "default", "digits", 1) is not None
        assert named.shares("default", [(kind, "digits"), (AssetKind.MODEL, "none"), (kind, "none")])
        if kind in PASSED_ON:
            rows.published("optics", (), kind, "", 10, None)
            rows.of_workspace("optics", kind, ())

    for visible in (ALL, MEMBER):
        for kind in AssetKind:
            found = plans(database, lambda visible=visible, kind=kind: ask(visible, kind))
            assert len(found) > 8
            for statement, plan in found:
                scans = [step for step in plan if step.startswith("SCAN") and "asset" in step]
                assert not scans, (statement, plan)


def test_a_page_and_its_count_walk_one_index_in_their_order(database: Database) -> None:
    """Whoever asks: no row of the table is looked at but those shown, and none is sorted but those."""
    reader = AssetReader(database)
    for visible in (ALL, MEMBER):
        for kind in AssetKind:
            (_, page), *_ = plans(database, lambda v=visible, k=kind: reader.page(v, k, AssetQuery(), 10))
            (_, count), *_ = plans(database, lambda v=visible, k=kind: reader.count(v, k, AssetQuery()))
            for plan in (page, count):
                assert "SEARCH asset USING COVERING INDEX asset_by_change (kind=?)" in plan, plan
            assert sum("TEMP B-TREE" in step for step in page) == 1, page
            assert not any("TEMP B-TREE" in step for step in count), count
