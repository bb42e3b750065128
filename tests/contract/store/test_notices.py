"""Notifications, the outbox and webhooks, on both databases."""

from dataclasses import replace

import pytest
from sqlalchemy import insert, select

from tests.contract.store.conftest import Store
from tests.fixtures.audited import audit_event
from trainmaster.access.decide import decide
from trainmaster.access.roles import Principal
from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict, NotFound
from trainmaster.messages.server import notices as said
from trainmaster.store import tables
from trainmaster.store.notices import webhooks as of_webhooks
from trainmaster.store.notices.deliveries import DROPPED, FAILED, SENT, WAITING, WEBHOOK, Delivery, DeliveryRows
from trainmaster.store.notices.happened import HappenedRows
from trainmaster.store.notices.rows import Notice, NoticeRows, ToTell
from trainmaster.store.notices.settings import NoticeSettingRows
from trainmaster.store.notices.webhooks import BROKEN, ON, Webhook, WebhookRows

MINE = Visible(owner="ann")
ONE = Notice("ann", "failed/t1/1", 5.0, "failed", "t1", "vision", {"said": {"code": "x", "args": {}}})
SENDS = Delivery("msg_1", WEBHOOK, "w1", "ann", "failed", "ann", "vision", "{}", 10.0, 5.0)
HOOK = Webhook("w1", "ann", "", "mine", "https://example.org/", (), created_at=1.0)


def test_what_is_told_moves_the_place_and_is_told_once(store: Store) -> None:
    rows, happened = NoticeRows(store.database), HappenedRows(store.database)
    assert (happened.begin(), happened.begin()) == (True, False)
    told = ToTell((ONE,), (SENDS,), place=(0, 7))
    assert rows.tell(told, 6.0) == {"ann"}
    assert rows.tell(told, 6.0) is None  # the place is another: a second server, or the same after a kill
    again = ToTell((ONE, replace(ONE, key="failed/t2/1", job="t2")), (), place=(7, 9))
    assert rows.tell(again, 6.0) == {"ann"}
    assert [one.job for one in rows.page(MINE, "ann", 10)] == ["t2", "t1"]
    assert [one.id for one in DeliveryRows(store.database).due(10.0)] == ["msg_1"]
    assert happened.page().before == 9
    assert HappenedRows(store.reopen().database).page().before == 9


def test_a_row_that_cannot_be_stored_leaves_the_place(store: Store) -> None:
    rows, happened = NoticeRows(store.database), HappenedRows(store.database)
    happened.begin()
    twice = ToTell((ONE,), (SENDS, SENDS), place=(0, 7))
    with pytest.raises(Conflict):
        rows.tell(twice, 6.0)
    assert rows.page(MINE, "ann", 10) == []
    assert happened.page().before == 0


def test_what_no_event_says_is_told_once(store: Store) -> None:
    rows = NoticeRows(store.database)
    told = ToTell((replace(ONE, key="idle/t1/1"),), (), once="idle/t1/1")
    assert rows.tell(told, 6.0) == {"ann"}
    assert rows.tell(told, 6.0) is None
    rows.skip(["budget/vision/2026-11/80"], 6.0)
    assert rows.told_once(["budget/vision/2026-11/80", "other"]) == {"budget/vision/2026-11/80"}
    rows.skip(["later"], 500 * 86400.0)
    assert rows.told_once(["idle/t1/1", "later"]) == {"later"}


def test_each_reads_and_marks_their_own_and_budgets_of_where_they_are(store: Store) -> None:
    rows = NoticeRows(store.database)
    budget = Notice("ann", "budget/vision", 6.0, "budget", None, "vision", ONE.record)
    rows.tell(ToTell((ONE, budget, replace(ONE, user="bob")), (), once="a"), 6.0)
    lead = decide(Principal("ann", memberships=(("vision", "owner"),)), "balance:read").visible
    assert [one.kind for one in rows.page(lead, "ann", 10)] == ["budget", "failed"]
    assert [one.kind for one in rows.page(MINE, "ann", 10)] == ["failed"]
    assert (rows.unread(lead, "ann"), rows.unread(MINE, "ann")) == (2, 1)
    assert rows.page(replace(MINE, within="speech"), "ann", 10) == []
    [bobs] = rows.page(MINE, "bob", 10)
    assert rows.mark(MINE, "ann", 9.0, [bobs.seq]) == 0
    assert rows.mark(MINE, "ann", 9.0, None, 2**62) == 1  # the budget, which is hidden, is not read
    assert (rows.unread(lead, "ann"), rows.unread(MINE, "bob")) == (1, 1)


def test_beyond_what_may_wait_it_is_dropped_and_said_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainmaster.store.notices.rows.MOST_WAITING", 2)
    many = tuple(replace(SENDS, id=f"msg_{nth}") for nth in range(4))
    NoticeRows(store.database).tell(ToTell((), many, once="a"), 6.0)
    found = DeliveryRows(store.database).newest(WEBHOOK, ["w1"])
    assert [one.state for one in found] == [DROPPED, DROPPED, WAITING, WAITING]
    assert found[0].error == said.delivery_too_many(2)


def test_what_is_due_and_what_became_of_it(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainmaster.store.notices.deliveries.KEPT", 2)
    rows = DeliveryRows(store.database)
    ones = tuple(replace(SENDS, id=f"msg_{nth}", next_at=10.0 + nth) for nth in range(5))
    NoticeRows(store.database).tell(ToTell((), ones, once="a"), 6.0)
    assert (rows.next_at(), rows.next_at(["w1"]), rows.due(9.0)) == (10.0, None, [])
    first, second = rows.due(11.0)
    rows.later([first], 99.0, 500, said.delivery_refused(500))
    assert [one.id for one in rows.due(11.0)] == ["msg_1"]
    [again] = [one for one in rows.due(99.0) if one.id == "msg_0"]
    assert (again.tries, again.status, again.error) == (1, 500, said.delivery_refused(500))
    assert [one.id for one in rows.due(99.0)][-1] == "msg_0"  # what was tried least goes first
    rows.done([second], SENT, 12.0, 204)
    assert rows.last_sent(WEBHOOK, "w1") == 12.0
    for one in rows.due(99.0):
        rows.done([one], FAILED, 13.0)
    assert len(rows.newest(WEBHOOK, ["w1"])) == 2
    far = replace(SENDS, id="msg_9", next_at=9e9)
    NoticeRows(store.database).tell(ToTell((), (far,), once="b"), 6.0)
    assert [one.id for one in rows.due(14.0)] == ["msg_9"]  # stored before the clock was set back


def test_a_webhook_that_fails_puts_off_what_waits_and_ends_switched_off(store: Store) -> None:
    hooks, sent = WebhookRows(store.database), DeliveryRows(store.database)
    hooks.add(HOOK, audit_event())
    NoticeRows(store.database).tell(ToTell((), (SENDS,), once="a"), 6.0)
    assert [hooks.went_wrong("w1", 50.0 + nth, said.delivery_refused(500)) for nth in range(3)] == [1, 2, 3]
    assert sent.next_at() == 52.0
    hooks.went_well("w1", 20.0)
    found = hooks.find("w1")
    assert found is not None
    assert (found.failures, found.resume_at, found.error, sent.next_at()) == (0, 0.0, None, 20.0)
    assert (hooks.switch_off("w1", 60.0, audit_event()), hooks.switch_off("w1", 60.0, audit_event())) == (True, False)
    assert hooks.on_for(["ann"], []) == []
    [given_up] = sent.newest(WEBHOOK, ["w1"])
    assert (given_up.state, given_up.error) == (FAILED, said.delivery_switched_off())
    broken = hooks.find("w1")
    assert broken is not None
    assert broken.state == BROKEN
    hooks.change(replace(broken, state=ON), 61.0, audit_event())
    assert [one.state for one in hooks.on_for(["ann"], [])] == [ON]
    hooks.drop("w1", audit_event())
    assert sent.newest(WEBHOOK, ["w1"]) == []
    with pytest.raises(NotFound):
        hooks.drop("w1", audit_event())


def test_who_sees_which_webhooks(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_webhooks, "MOST", 1)
    hooks = WebhookRows(store.database)
    team = replace(HOOK, id="w2", workspace="vision", kinds=("failed",))
    hooks.add(HOOK, audit_event())
    hooks.add(team, audit_event())
    with pytest.raises(Conflict):
        hooks.add(replace(HOOK, id="w3"), audit_event())
    ann, lead = Principal("ann"), Principal("lead", memberships=(("vision", "admin"),))
    eve = Principal("eve", memberships=(("vision", "member"),))
    seen = {
        (who.name, workspace): [one.id for one in hooks.all(decide(who, "webhooks:write").visible, who.name, workspace)]
        for who in (ann, lead, eve)
        for workspace in ("", "vision")
    }
    assert seen["ann", ""] == ["w1"]
    assert seen["lead", ""] == []
    assert seen["lead", "vision"] == ["w2"]
    assert seen["eve", "vision"] == []
    assert [one.id for one in hooks.on_for(["lead"], ["vision"])] == ["w2"]


def test_settings_and_what_goes_with_who_is_deleted(store: Store) -> None:
    rows = NoticeSettingRows(store.database)
    rows.put("ann", {"address": "a@example.org"}, [audit_event()])
    rows.put("ann", {"address": "b@example.org"}, [audit_event()])
    assert rows.of(["ann", "bob"]) == {"ann": {"address": "b@example.org"}}
    store.database.write(
        lambda connection: connection.execute(
            insert(tables.META.tables["notice_setting"]).values(user="bob", record="no JSON")
        )
    ).result(60)
    assert rows.of(["bob"]) == {"bob": {}}
    with store.database.read() as connection:
        assert connection.execute(select(tables.audit)).all()
