"""The entries of workspaces' balances: what attempts used, credits, corrections. Appended to and never edited.

What an attempt used is written by the ledger in the transaction that ends it (`use_row`), credits and corrections here
with the audit event that tells of them. A balance is the sum of a workspace's entries, a report the sum of those in a
span of time; nothing else says what was spent. Deleting a job leaves its entries. Methods block until durable or read.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    and_,
    case,
    delete,
    func,
    insert,
    literal_column,
    not_,
    or_,
    select,
)

from trainmaster.access.visible import Visible
from trainmaster.core.errors import Conflict
from trainmaster.core.events import AuditEvent
from trainmaster.core.money.amounts import MILLION
from trainmaster.core.money.metering import MachineUse, parts_of
from trainmaster.core.money.rates import Rate
from trainmaster.messages.server import money as said
from trainmaster.store import audit
from trainmaster.store.database import Database
from trainmaster.store.seen import seen
from trainmaster.store.tables import budget_alarm, money_entry

_ENTRY: Final = money_entry.c
USE, CREDIT, CORRECTION, CLOSING = "use", "credit", "correction", "closing"


@dataclass(frozen=True, slots=True)
class MoneyEntry:
    """One entry. `amount`: by how much the balance changed, in millionths: a use's is negative or 0. `by`: who entered
    it, "" for a use; `owner`: whose job it was. `start_ms`, `end_ms`: from when until when machines were used, or the
    moment of the entry. `key`: tells a repeated request apart.
    """

    at: float
    kind: str
    workspace: str
    amount: int
    start_ms: int
    end_ms: int
    owner: str = ""
    by: str = ""
    pool: str = ""
    job: str | None = None
    attempt: int | None = None
    role: int | None = None
    flavor: str = ""
    machines: int = 0
    gpu_milli: int = 0
    price: int = 0
    note: str = ""
    key: str | None = None
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """What entries of one kind add up to, in one of the spans asked for. `gpu_ms`: milliseconds of cards, their
    thousandths as such.
    """

    kind: str
    workspace: str
    owner: str
    flavor: str
    span: int
    machine_ms: int
    gpu_ms: int
    amount: int


@dataclass(frozen=True, slots=True)
class BudgetAlarm:
    """That a workspace has spent so many percent of its budget of a month (YYYY-MM), told once."""

    workspace: str
    month: str
    percent: int
    at: float
    spent: int
    budget: int


class Spending(NamedTuple):
    """What was spent, and which attempts (job, number) are in it that had not ended a moment ago."""

    parts: list[Spent]
    settled: frozenset[tuple[str, int]]


def spent_of(use: MachineUse, bounds: Sequence[int]) -> Iterator[Spent]:
    """Yield what a use spends in each of the spans between `bounds`."""
    for span, machine_ms, amount in parts_of(use, bounds):
        gpu_ms = machine_ms * use.rate.gpu_milli
        yield Spent(USE, use.workspace, use.owner, use.rate.flavor, span, machine_ms, gpu_ms, -amount)


class MoneyRows:
    """Reads some, adds one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, entry: MoneyEntry, audit_event: AuditEvent) -> tuple[MoneyEntry, bool]:
        """Store a credit or a correction; return it with its number, and whether it was stored now: one of the same key
        was stored before. Raises Conflict where that was another one.
        """

        def work(connection: Connection) -> tuple[MoneyEntry, bool]:
            if entry.key is not None:
                same = select(money_entry).where(_ENTRY.workspace == entry.workspace, _ENTRY.key == entry.key)
                before = connection.execute(same).first()
                if before is not None:
                    return _same(_entry(before), entry), False
            number = _insert(connection, entry)
            audit.write(connection, [audit_event])
            return replace(entry, seq=number), True

        return self._database.write(work).result()

    def balances(self) -> dict[str, int]:
        """Return the balance of every workspace that has entries. O(entries)."""
        statement = select(_ENTRY.workspace, *_amount()).group_by(_ENTRY.workspace)
        with self._database.read() as connection:
            return {row.workspace: _whole(row) for row in connection.execute(statement)}

    def page(self, visible: Visible, workspace: str, limit: int, before: int | None = None) -> list[MoneyEntry]:
        """Return the entries of a workspace below number `before`, newest first. O(limit) for who sees all of them."""
        where = [_ENTRY.workspace == workspace, *seen(visible, money_entry)]
        if before is not None:
            where.append(_ENTRY.seq < before)
        statement = select(money_entry).where(*where).order_by(_ENTRY.seq.desc()).limit(limit)
        with self._database.read() as connection:
            return [_entry(row) for row in connection.execute(statement)]

    def last(self) -> int:
        """Return the number of the last entry, 0 before the first."""
        with self._database.read() as connection:
            return int(connection.scalar(select(func.max(_ENTRY.seq))) or 0)

    def spent(
        self, visible: Visible, bounds: Sequence[int], workspace: str = "", owner: str = "", *, after: int = 0
    ) -> Spending:
        """Return what was spent, credited and corrected in each of the spans between `bounds` (milliseconds, rising),
        and which attempts are in it by entries above number `after`.

        A use that reaches over a bound is cut there. O(entries that end behind the first bound).
        """
        where = seen(visible, money_entry)
        where += [_ENTRY[name] == value for name, value in (("workspace", workspace), ("owner", owner)) if value]
        return self._spent(where, bounds, after)

    def spent_by_all(self, bounds: Sequence[int], after: int) -> Spending:
        """Return `spent` of everybody: what the platform asks for itself, to compare it with budgets. Of a workspace
        whose name was another's in these spans only what came after that one was removed.
        """
        of_others = select(_ENTRY.workspace, func.max(_ENTRY.seq).label("last")).group_by(_ENTRY.workspace)
        of_others = of_others.where(_ENTRY.end_ms >= bounds[0], _ENTRY.kind == CLOSING)
        with self._database.read() as connection:
            gone = connection.execute(of_others).all()
        return self._spent(
            [or_(_ENTRY.workspace != row.workspace, _ENTRY.seq > row.last) for row in gone], bounds, after
        )

    def _spent(self, where: list[ColumnElement[bool]], bounds: Sequence[int], after: int) -> Spending:
        until = case(
            *[(_ENTRY.start_ms < literal_column(str(bound)), literal_column(str(bound))) for bound in bounds[1:]],
            else_=literal_column(str(bounds[-1])),
        )
        within = and_(
            _ENTRY.start_ms >= bounds[0],
            _ENTRY.start_ms < bounds[-1],
            _ENTRY.end_ms >= bounds[0],
            _ENTRY.end_ms <= bounds[-1],
            _ENTRY.end_ms <= until,
        )
        over = and_(_ENTRY.end_ms > bounds[0], _ENTRY.start_ms < bounds[-1], not_(within), _ENTRY.kind == USE)
        with self._database.read() as connection:
            found = list(_whole_spans(connection, [*where, within], until, bounds))
            for row in connection.execute(select(money_entry).where(*where, over)):
                found += spent_of(_use(row), bounds)
            fresh = select(_ENTRY.job, _ENTRY.attempt).where(_ENTRY.seq > after, _ENTRY.kind == USE)
            settled = frozenset((row.job, row.attempt) for row in connection.execute(fresh))
        return Spending(found, settled)

    # -- alarms ------------------------------------------------------------------------------------------------

    def alarms(self, months: Iterable[str]) -> list[BudgetAlarm]:
        """Return the alarms of these months, oldest first."""
        table = budget_alarm
        statement = select(table).where(table.c.month.in_(list(months))).order_by(table.c.at, table.c.percent)
        with self._database.read() as connection:
            return [BudgetAlarm(**row._mapping) for row in connection.execute(statement)]

    def alarm(self, one: BudgetAlarm, audit_event: AuditEvent) -> None:
        """Store an alarm, unless that was done before."""
        table = budget_alarm

        def work(connection: Connection) -> None:
            same = and_(table.c.workspace == one.workspace, table.c.month == one.month, table.c.percent == one.percent)
            if connection.execute(select(table.c.at).where(same)).first() is None:
                connection.execute(insert(table).values(asdict(one)))
                audit.write(connection, [audit_event])

        self._database.write(work).result()


def close_balance(connection: Connection, workspace: str, at: float, by: str) -> None:
    """Bring the balance of a workspace that is removed to 0, within that transaction: who makes another one of its name
    begins anew, also with what is spent of a budget.
    """
    table = budget_alarm
    connection.execute(delete(table).where(table.c.workspace == workspace))  # the audit keeps that they were told
    row = connection.execute(
        select(*_amount(), func.count().label("entries")).where(_ENTRY.workspace == workspace)
    ).one()
    if row.entries:
        now = round(at * 1000)
        _insert(connection, MoneyEntry(at, CLOSING, workspace, -_whole(row), now, now, by=by))


def _insert(connection: Connection, entry: MoneyEntry) -> int:
    values = {name: value for name, value in asdict(entry).items() if name != "seq"}
    done = connection.execute(insert(money_entry).values(values))
    return int(done.inserted_primary_key[0])  # type: ignore[index]


def _same(before: MoneyEntry, entry: MoneyEntry) -> MoneyEntry:
    if (before.kind, before.amount, before.note) != (entry.kind, entry.amount, entry.note):
        raise Conflict(said.entry_key_used())
    return before


def _amount() -> tuple[ColumnElement[int], ColumnElement[int]]:
    """Return the sum of amounts in two parts, which no column overflows: units of the currency, and the rest."""
    whole, rest = _ENTRY.amount // MILLION, _ENTRY.amount % MILLION
    return func.coalesce(func.sum(whole), 0).label("units"), func.coalesce(func.sum(rest), 0).label("rest")


def _whole(row: Any) -> int:
    return int(row.units) * MILLION + int(row.rest)


def _whole_spans(
    connection: Connection, where: Sequence[ColumnElement[bool]], until: ColumnElement[int], bounds: Sequence[int]
) -> Iterator[Spent]:
    machine_ms = _ENTRY.machines * (_ENTRY.end_ms - _ENTRY.start_ms)
    names = (_ENTRY.kind, _ENTRY.workspace, _ENTRY.owner, _ENTRY.flavor)
    sums = (func.sum(machine_ms).label("machine_ms"), func.sum(machine_ms * _ENTRY.gpu_milli).label("gpu_ms"))
    statement = select(*names, until.label("until"), *sums, *_amount()).where(*where).group_by(*names, until)
    span = {bound: at for at, bound in enumerate(bounds[1:])}
    for row in connection.execute(statement):
        yield Spent(
            row.kind,
            row.workspace,
            row.owner,
            row.flavor,
            span[int(row.until)],
            int(row.machine_ms),
            int(row.gpu_ms),
            _whole(row),
        )


def _entry(row: Row[Any]) -> MoneyEntry:
    return MoneyEntry(**row._mapping)


def _use(row: Row[Any]) -> MachineUse:
    rate = Rate(row.flavor, row.price, row.gpu_milli)
    return MachineUse(
        row.workspace,
        row.owner,
        row.pool,
        row.job or "",
        row.attempt or 0,
        row.role or 0,
        row.machines,
        rate,
        row.start_ms,
        row.end_ms,
    )
