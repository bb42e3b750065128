"""Money: prices fixed at the start, reports, balances, arrears, budgets (R2, R3, R14, R15, R18, R19, R169)."""

import asyncio
import csv
import io
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.fixtures.fakes.clock import WallClock
from tests.fixtures.people import person
from tests.fixtures.seeing import ALL
from tests.scenario.conftest import WatchfulMachines
from tests.scenario.stage import ADMIN, Stage, fake_spec
from trainmaster.access.roles import Principal
from trainmaster.core.cluster import Budget, Flavor, Pool, Workspace
from trainmaster.core.errors import Conflict, Forbidden, InvalidSpec, NotFound
from trainmaster.core.ids import attempt_id
from trainmaster.core.money.amounts import MILLION, read_amount
from trainmaster.service.use_cases.auditing import AuditFilters

HOUR_S = 3600.0
PRICE = 3_600 * MILLION
"""Of an hour: a second of one replica costs one unit."""
SMALL: dict[str, Any] = {"cpu": 0.5, "memory": 256}
BIG = Flavor("big", cpu=0.5, memory_mib=256, price=PRICE)


class SameClock(WallClock):
    """The machines' clock is that of their platform, also where a test lets time pass."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def now(self) -> float:
        """Return seconds since the epoch."""
        return self._stage.clock()

    def call_at(self, when: float, what: Callable[[], None]) -> None:
        """Call `what` once `when` has come."""
        asyncio.get_running_loop().call_later(max(0.0, when - self.now()), what)


@pytest.fixture(autouse=True)
def one_time(fake: Stage, machines: WatchfulMachines) -> None:
    """See SameClock."""
    machines.clock = SameClock(fake)


def wish(name: str = "a", **fields: Any) -> dict[str, Any]:
    """Return a job of the flavor `big` that runs until it is stopped."""
    document = fake_spec(name, "sleep infinity", **{"model": {"save": False}, **fields})
    [role] = document["roles"]
    role.pop("resources")
    return {**document, "roles": [{**role, "flavors": ["big"]}]}


async def put(stage: Stage, *flavors: Flavor) -> None:
    for flavor in flavors:
        await stage.platform.administer.put_flavor(flavor, ADMIN)


async def run(stage: Stage, seconds: float, **fields: Any) -> str:
    """Let a job run for so long and stop it; return its id."""
    job = await stage.submit(wish(**fields))
    await stage.running(job)
    stage.let_pass(seconds)
    await stage.platform.stop(job, ADMIN)
    await stage.ended(job)
    return job


def real_ms(stage: Stage, job: str) -> int:
    """Return how long a job's replicas ran, by what the platform shows of each attempt."""
    attempts = stage.platform.context.reader.history(ALL, job)[0]
    return sum(
        round(1000 * max(task.ended_at or 0.0 for task in attempt.tasks))
        - round(1000 * min(task.started_at or 0.0 for task in attempt.tasks))
        for attempt in attempts
    )


async def balance(stage: Stage, workspace: str = "default") -> int:
    return read_amount((await stage.platform.balances.of(workspace, ADMIN)).balance, least=-(10**18))


async def limited(stage: Stage, credit: int, limit: int = 0, workspace: str = "default") -> None:
    """Let a workspace have so much, and no more than `limit` below 0."""
    if credit:
        await stage.platform.balances.enter(workspace, ADMIN, "credit", credit)
    await stage.platform.balances.set_budget(Budget(workspace, limit), ADMIN)


async def test_the_price_is_fixed_at_the_start_and_the_next_attempt_has_the_next(fake: Stage) -> None:
    await put(fake, BIG)
    job = await fake.submit(wish())
    await fake.running(job)
    await put(fake, replace(BIG, price=2 * PRICE))
    fake.let_pass(100)
    await fake.platform.stop(job, ADMIN)
    await fake.ended(job)
    later = await run(fake, 10, name="b")
    entries = (await fake.platform.balances.entries("default", ADMIN)).items
    assert [(one.job, one.price) for one in entries] == [(later, "7200.00"), (job, "3600.00")]
    for one in entries:
        assert (
            -read_amount(one.amount, least=-(10**18))
            == real_ms(fake, str(one.job)) * (2 if one.job == later else 1) * 1000
        )
    assert sum(read_amount(one.amount, least=-(10**18)) for one in entries) == await balance(fake)


async def test_what_runs_is_shown_and_what_is_deleted_stays(fake: Stage) -> None:
    await put(fake, BIG)
    job = await fake.submit(wish())
    await fake.running(job)
    fake.let_pass(50)
    before = await fake.platform.reports.usage(ADMIN)
    stands = await fake.platform.balances.of("default", ADMIN)
    assert 50 <= before.machine_s < 50 + HOUR_S
    assert stands.balance == "0.00"
    assert read_amount(stands.running) >= 50 * MILLION
    await fake.platform.stop(job, ADMIN)
    await fake.ended(job)
    after = await fake.platform.reports.usage(ADMIN)
    assert after.machine_s == real_ms(fake, job) / 1000 >= before.machine_s
    await fake.platform.delete(job, ADMIN)
    assert (await fake.platform.reports.usage(ADMIN)).lines == after.lines
    await fake.restart()
    assert (await fake.platform.reports.usage(ADMIN)).lines == after.lines
    assert await balance(fake) == -read_amount(after.amount)


async def test_a_role_without_a_flavor_costs_what_its_pool_asks(fake: Stage) -> None:
    """GPUs and cores have a price of their own; prices of 0 are free."""
    await fake.platform.administer.put_pool(Pool("default"), ADMIN, price_gpu=10 * MILLION, price_cpu=2 * MILLION)
    await fake.platform.administer.put_pool(Pool("default", description="as it was"), ADMIN)
    free = await fake.submit(fake_spec("f", "sleep infinity", resources={"cpu": 0, "memory": 64} | {"cpu": 0.5}))
    gpu = await fake.submit(
        fake_spec("g", "sleep infinity", resources={"cpu": 1.5, "memory": 64, "gpu": 2}, replicas=2)
    )
    for job in (free, gpu):
        await fake.running(job)
    hourly = fake.platform.context.purses.hourly
    live = fake.platform.context.master.live
    assert (hourly(live[free]), hourly(live[gpu])) == (1 * MILLION, 2 * (2 * 10 + 3) * MILLION)
    view = next(one for one in fake.platform.resources.pools(ADMIN).items if one.name == "default")
    assert (view.price_gpu, view.price_cpu, view.description) == ("10.00", "2.00", "as it was")


async def test_money_is_in_use_once_something_has_a_price_or_a_workspace_an_amount(fake: Stage) -> None:
    """Where nothing costs anything, nobody is shown amounts: R3 is for those who account for it."""
    platform = fake.platform

    async def priced() -> bool:
        report, balances = await platform.reports.usage(ADMIN), await platform.balances.all(ADMIN)
        assert report.priced == balances.priced
        return report.priced

    await put(fake, replace(BIG, price=0))
    assert not await priced()
    await put(fake, BIG)
    assert await priced()
    await put(fake, replace(BIG, price=None))
    await platform.administer.put_pool(Pool("default"), ADMIN, price_cpu=1)
    assert await priced()
    await platform.administer.put_pool(Pool("default"), ADMIN, price_cpu=0)
    assert not await priced()
    await limited(fake, 0)
    assert await priced()


async def test_a_free_flavor_costs_nothing_and_is_counted(fake: Stage) -> None:
    await put(fake, replace(BIG, price=0))
    await limited(fake, 0)
    job = await run(fake, 20)
    report = await fake.platform.reports.usage(ADMIN)
    assert (report.amount, report.machine_s) == ("0.00", real_ms(fake, job) / 1000)


async def test_every_attempt_is_charged_for_what_it_ran(fake: Stage, machines: WatchfulMachines) -> None:
    await put(fake, BIG)
    job = await fake.submit(wish(fault_restarts=2))
    for number in (1, 2, 3):
        await fake.until(job, lambda view: view.tasks.running == 1 and len(view.attempt_list) == number, "it runs")  # noqa: B023
        fake.let_pass(30)
        machines.lose_task(attempt_id(job, number))
    await fake.ended(job)
    assert len((await fake.platform.balances.entries("default", ADMIN)).items) == 3
    assert -await balance(fake) == real_ms(fake, job) * 1000 >= 90 * MILLION


async def test_fifty_at_once_spend_exactly_what_there_is(fake: Stage) -> None:
    """A balance that pays for three jobs of their time limit lets three in, whatever comes at once (R18)."""
    await put(fake, BIG)
    await limited(fake, 3 * 600 * MILLION)
    codes: set[str] = set()

    async def submit(number: int) -> bool:
        slug = {"slug": f"s{number}"} if number % 3 == 0 else {}
        try:
            await fake.platform.submit(
                {"spec": wish(duration=600, **slug)}, ADMIN, f"k{number}" if number % 2 else None
            )
        except InvalidSpec as refused:
            codes.update(one.code for one in refused.problems)
            return False
        return True

    assert sum(await asyncio.gather(*map(submit, range(50)))) == 3
    assert codes == {"not_enough_balance"}
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.submit_batch([{"spec": wish(duration=1)}], ADMIN, None)
    assert [(one.path, one.code) for one in refused.value.problems] == [("items.0.workspace", "not_enough_balance")]
    assert (await fake.platform.balances.of("default", ADMIN)).available == "0.00"


async def test_a_batch_spends_no_more_than_there_is_either(fake: Stage) -> None:
    await put(fake, BIG)
    await limited(fake, 2 * 600 * MILLION)
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.submit_batch([{"spec": wish(duration=600)}] * 3, ADMIN, None)
    assert [one.code for one in refused.value.problems] == ["not_enough_balance"]
    await fake.platform.submit_batch([{"spec": wish(duration=600)}] * 2, ADMIN, None)


async def test_a_refusal_names_workspace_balance_and_remedy_and_ends_with_a_credit(fake: Stage) -> None:
    await put(fake, BIG)
    await limited(fake, 0)
    with pytest.raises(InvalidSpec) as refused:
        await fake.submit(wish(duration=60))
    [problem] = refused.value.problems
    assert (problem.path, problem.code) == ("workspace", "not_enough_balance")
    assert all(part in problem.rule for part in ("default", "60.00 CNY", "0.00 CNY"))
    assert "time limit" in problem.remedy
    await fake.platform.balances.enter("default", ADMIN, "credit", 60 * MILLION)
    job = await fake.submit(wish(duration=60))
    await fake.running(job)
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.change(job, ADMIN, duration_s=61.0)
    assert [(one.path, one.code) for one in refused.value.problems] == [("duration_s", "not_enough_balance")]
    await fake.platform.change(job, ADMIN, duration_s=30.0)
    assert (await fake.platform.balances.of("default", ADMIN)).available == "30.00"


async def test_amounts_in_a_refusal_have_two_digits_unless_more_tell_them(fake: Stage) -> None:
    await put(fake, BIG)
    await limited(fake, 59_999_999)
    await fake.platform.balances.enter("default", ADMIN, "correction", -417, "rounding")
    with pytest.raises(InvalidSpec) as refused:
        await fake.submit(wish(duration=60))
    assert "up to 60.00 CNY, and 59.999582 CNY are available (balance 60.00," in refused.value.problems[0].rule


async def test_who_owes_is_refused_until_the_debt_is_paid(fake: Stage) -> None:
    """R18."""
    await put(fake, BIG)
    await run(fake, 100)
    await limited(fake, 0, limit=50 * MILLION)
    with pytest.raises(InvalidSpec) as refused:
        await fake.submit(wish(duration=1))
    assert [(one.path, one.code) for one in refused.value.problems] == [("workspace", "in_arrears")]
    assert (await fake.platform.balances.of("default", ADMIN)).in_arrears
    await fake.restart()
    with pytest.raises(InvalidSpec):
        await fake.submit(wish(duration=1))
    await fake.submit(fake_spec("free", "sleep infinity", resources=SMALL))  # what costs nothing owes nothing
    await fake.platform.balances.enter("default", ADMIN, "credit", 1000 * MILLION)
    await fake.submit(wish(duration=1))


async def test_a_job_without_a_limit_is_set_aside_for_an_hour_and_what_it_has_cost(fake: Stage) -> None:
    await put(fake, BIG)
    await limited(fake, 2 * 3600 * MILLION)
    job = await fake.submit(wish())
    await fake.running(job)
    fake.let_pass(1000)
    stands = await fake.platform.balances.of("default", ADMIN)
    assert stands.available is not None
    assert 2600 * MILLION - HOUR_S * MILLION < read_amount(stands.available) <= 2600 * MILLION
    assert stands.reserved == "3600.00"
    with pytest.raises(InvalidSpec):
        await fake.submit(wish())


@pytest.mark.parametrize("by_s", [7200.0, -7200.0])
async def test_a_clock_that_is_set_changes_no_charge(fake: Stage, by_s: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainmaster.service.upkeep.dates.LOOK_S", 0.02)
    await put(fake, BIG)
    job = await fake.submit(wish())
    await fake.running(job)
    fake.let_pass(40)
    fake.set_by += by_s
    await fake.until(job, lambda _: "clock_set" in fake.kinds(job), "the clock to be noticed")
    await fake.platform.stop(job, ADMIN)
    await fake.ended(job)
    spent = -await balance(fake)
    assert 40 * MILLION <= spent < 640 * MILLION
    assert spent == real_ms(fake, job) * 1000


async def test_what_ends_while_a_report_is_made_is_counted_once(fake: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between what runs and the entries, a job ends and is stored."""
    await put(fake, BIG)
    job = await fake.submit(wish())
    await fake.running(job)
    fake.let_pass(100)
    master, durable = fake.platform.context.master, fake.platform.context.master.durable

    async def end_first() -> None:
        monkeypatch.undo()
        await fake.platform.stop(job, ADMIN)
        await fake.ended(job)
        await durable()

    monkeypatch.setattr(master, "durable", end_first)
    report = await fake.platform.reports.usage(ADMIN)
    assert (await fake.view(job)).state == "stopped"
    assert round(report.machine_s * 1000) == real_ms(fake, job)


async def test_a_clock_that_was_set_back_hides_nothing_of_a_report(
    fake: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainmaster.service.upkeep.dates.LOOK_S", 0.02)
    await put(fake, BIG)
    job = await run(fake, 60)
    fake.set_by -= 60.0
    other = await fake.submit(wish("b"))
    await fake.until(other, lambda _: "clock_set" in fake.kinds(other), "the clock to be noticed")
    await fake.platform.stop(other, ADMIN)
    await fake.ended(other)
    report = await fake.platform.reports.usage(ADMIN)
    assert round(report.machine_s * 1000) == real_ms(fake, job) + real_ms(fake, other)


async def test_each_sees_what_is_theirs(fake: Stage) -> None:
    """A person their own lines, a workspace's admin its report, the platform's administrator all."""
    await fake.platform.administer.put_workspace(Workspace("vision"), ADMIN)
    await put(fake, BIG, replace(BIG, workspace="vision"))
    ann, bob, lead = person("ann", "vision"), person("bob", "vision"), person("lead", "vision", role="admin")
    for who in (ann, bob):
        view, _ = await fake.platform.submit({"spec": wish(workspace="vision")}, who, None)
        await fake.running(view.id)
        fake.let_pass(10)
        await fake.platform.stop(view.id, who)
        await fake.ended(view.id)
    await fake.platform.balances.enter("vision", ADMIN, "credit", MILLION)

    async def owners(who: Principal) -> list[str]:
        return sorted(line.owner for line in (await fake.platform.reports.usage(who)).lines)

    assert [await owners(who) for who in (ann, bob, lead, ADMIN, person("eve"))] == [
        ["ann"], ["bob"], ["ann", "bob"], ["ann", "bob"], [],
    ]  # fmt: skip
    assert [one.workspace for one in (await fake.platform.balances.all(ann)).items] == ["vision"]
    assert {one.owner for one in (await fake.platform.balances.entries("vision", ann)).items} == {"ann"}
    assert {one.owner for one in (await fake.platform.balances.entries("vision", lead)).items} == {"ann", "bob", ""}
    for who in (person("eve"), ann):
        with pytest.raises((NotFound, Forbidden)):
            await fake.platform.balances.enter("vision", who, "credit", MILLION)
        with pytest.raises((NotFound, Forbidden)):
            await fake.platform.balances.set_budget(Budget("vision", 5), who)
    with pytest.raises(NotFound):
        await fake.platform.balances.of("vision", person("eve"))


async def test_the_csv_says_what_the_report_says(fake: Stage) -> None:
    await put(fake, BIG)
    job = await run(fake, 90)
    report = await fake.platform.reports.usage(ADMIN)
    [line] = csv.DictReader(io.StringIO(await fake.platform.reports.usage_csv(ADMIN, report.month)))
    assert (line["workspace"], line["person"], line["flavor"]) == ("default", "admin", "big")
    assert float(line["replica_seconds"]) * 1000 == real_ms(fake, job)
    assert (line["amount"], line["currency"]) == (report.amount, "CNY")
    assert sum(day.machine_s for day in report.days) == pytest.approx(report.machine_s)
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.reports.usage(ADMIN, "2026-13")
    assert [one.path for one in refused.value.problems] == ["month"]


async def test_a_use_over_a_months_end_belongs_to_both(fake: Stage) -> None:
    """And the two reports add up to the entry."""
    await put(fake, BIG)
    job = await fake.submit(wish())
    await fake.running(job)
    started = datetime.fromtimestamp(fake.clock(), UTC)
    fake.let_pass(32 * 86400.0)
    await fake.platform.stop(job, ADMIN)
    await fake.ended(job)
    months, at = [], started.replace(day=1)
    while at.timestamp() < fake.clock():
        months.append(f"{at:%Y-%m}")
        at = at.replace(year=at.year + at.month // 12, month=at.month % 12 + 1)
    reports = [await fake.platform.reports.usage(ADMIN, month) for month in months]
    assert len(reports) >= 2
    assert all(report.machine_s > 0 for report in reports)
    assert sum(round(report.machine_s * 1000) for report in reports) == real_ms(fake, job)
    assert sum(read_amount(report.amount) for report in reports) == -await balance(fake)


async def test_a_budget_alarms_once_at_each_part_and_stops_nothing(fake: Stage) -> None:
    await put(fake, BIG)
    await fake.platform.balances.set_budget(Budget("default", None, 100 * MILLION, (50, 100)), ADMIN)
    job = await fake.submit(wish())
    await fake.running(job)
    tell = fake.platform.balances.tell_alarms
    assert await tell() == []
    fake.let_pass(60)
    assert [one.percent for one in await tell()] in ([50], [50, 100])
    fake.let_pass(60)
    await tell()
    assert await tell() == []
    stands = await fake.platform.balances.of("default", ADMIN)
    assert [one.percent for one in stands.alarmed] == [50, 100]
    told = (
        await fake.platform.auditing.page(ADMIN, AuditFilters(subject="workspace:default", kind="budget_alarm"))
    ).items
    assert [one.by for one in told] == ["system", "system"]
    assert (await fake.view(job)).state == "running"


async def test_bad_entries_are_refused_with_their_fields(fake: Stage) -> None:
    for kind, amount, note, fields in (
        ("credit", 0, "", ["amount"]),
        ("credit", -MILLION, "", ["note"]),
        ("correction", 0, "", ["amount", "note"]),
        ("correction", MILLION, " ", ["note"]),
    ):
        with pytest.raises(InvalidSpec) as refused:
            await fake.platform.balances.enter("default", ADMIN, kind, amount, note)
        assert [one.path for one in refused.value.problems] == fields
    with pytest.raises(NotFound):
        await fake.platform.balances.enter("nowhere", ADMIN, "credit", MILLION)
    for alarms in ((0,), (1001,), tuple(range(1, 12))):
        with pytest.raises(InvalidSpec):
            await fake.platform.balances.set_budget(Budget("default", alarms=alarms), ADMIN)
    first = await fake.platform.balances.enter("default", ADMIN, "credit", MILLION, key="once")
    assert await fake.platform.balances.enter("default", ADMIN, "credit", MILLION, key="once") == first
    with pytest.raises(Conflict):
        await fake.platform.balances.enter("default", ADMIN, "credit", 2 * MILLION, key="once")
    assert await balance(fake) == MILLION


async def test_flavors_are_chosen_by_type_vendor_model_and_pool(fake: Stage) -> None:
    """R2, R14, R15, R169."""
    await fake.platform.administer.put_pool(Pool("lab"), ADMIN)
    await put(
        fake,
        BIG,
        Flavor("npu", gpu=1, gpu_type="Ascend910B", vendor="Huawei", cache_mib=2048),
        Flavor("mlu", gpu=1, gpu_type="MLU370-X8", vendor="Cambricon", pools=("lab",)),
        Flavor("a100", gpu=1, gpu_type="A100", vendor="NVIDIA", price=12_500_000),
    )
    flavors = fake.platform.resources.flavors

    def names(**wanted: str) -> list[str]:
        return sorted(one.name for one in flavors(ADMIN, "default", **wanted).items)

    assert [names(kind=kind) for kind in ("cpu", "gpu", "ascend", "mlu")] == [["big"], ["a100"], ["npu"], ["mlu"]]
    assert (names(vendor="nvidia"), names(model="A100"), names(pool="default")) == (
        ["a100"], ["a100"], ["a100", "big", "npu"],
    )  # fmt: skip
    found = {one.name: one for one in flavors(ADMIN, "default").items}
    assert (found["a100"].price, found["npu"].price, found["npu"].cache_mib) == ("12.50", None, 2048)
    document = wish()
    document["roles"][0]["flavors"] = ["big", "mlu"]
    with pytest.raises(InvalidSpec) as refused:
        await fake.submit(document)
    assert [(one.path, one.code) for one in refused.value.problems if one.code == "flavor_elsewhere"] == [
        ("roles.0.flavors", "flavor_elsewhere")
    ]
    with pytest.raises(InvalidSpec):
        await put(fake, Flavor("x", pools=("nowhere",)))


async def test_a_price_in_a_job_file_is_an_unknown_field(fake: Stage) -> None:
    """Nobody says what they pay."""
    await put(fake, BIG)
    for document in ({**wish(), "price": 0}, {**wish(), "rates": []}):
        with pytest.raises(InvalidSpec) as refused:
            await fake.submit(document)
        assert [one.path for one in refused.value.problems] == [next(iter(document.keys() - wish().keys()))]


async def test_a_time_limit_is_shortened_whatever_the_workspace_has_left(fake: Stage) -> None:
    """R15: what costs less than it may now is no new debt."""
    await put(fake, BIG)
    job = await fake.submit(wish(duration="100s"))
    await fake.running(job)
    await fake.platform.balances.set_budget(Budget("default", credit_limit=0), ADMIN)
    await fake.platform.balances.enter("default", ADMIN, "correction", -50 * MILLION, "arrears")
    assert (await fake.platform.balances.of("default", ADMIN)).in_arrears
    view = await fake.platform.change(job, ADMIN, duration_s=60.0)
    assert view.duration_s == 60.0
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.change(job, ADMIN, duration_s=61.0)
    assert [(one.path, one.code) for one in refused.value.problems] == [("duration_s", "in_arrears")]


async def test_what_has_run_long_without_a_limit_gets_one(fake: Stage) -> None:
    """What it has cost so far is spent, not asked for again."""
    await put(fake, BIG)
    await limited(fake, 14_500 * MILLION)
    job = await fake.submit(wish())
    await fake.running(job)
    fake.let_pass(10_800)
    assert (await fake.platform.change(job, ADMIN, duration_s=11_160.0)).duration_s == 11_160.0
    stands = await fake.platform.balances.of("default", ADMIN)
    assert stands.available == "3340.00"
    with pytest.raises(InvalidSpec) as refused:
        await fake.platform.change(job, ADMIN, duration_s=15_000.0)
    assert "14,500.00 CNY are available (balance 14,500.00," in refused.value.problems[0].rule
