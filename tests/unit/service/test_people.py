"""What was taken away ends for everybody who uses it at that moment."""

import asyncio
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainmaster.access.roles import Principal
from trainmaster.core.errors import Unauthenticated
from trainmaster.core.folders.layout import Layout
from trainmaster.service.people import people
from trainmaster.service.people.people import ADMIN, People
from trainmaster.service.use_cases.people.credentials import Credentials, WantedToken
from trainmaster.store.database import Database
from trainmaster.store.people.accounts import PeopleRows as Rows
from trainmaster.store.people.accounts import Token


class Together(Rows):
    """Asked for a token, it answers two at once."""

    both = threading.Barrier(2)

    def token(self, mark: str, now: float) -> Token | None:
        found = super().token(mark, now)
        if found is not None:
            self.both.wait(60)
        return found


class Counting(People):
    """Counts who was looked up and is remembered."""

    looked_up = 0

    def _remember(self, *given: Any) -> Any:
        self.looked_up += 1
        return super()._remember(*given)


async def test_a_deleted_token_ends_all_that_was_opened_with_it_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two views of one browser ask again in the same moment; each was to hear of the deletion."""
    monkeypatch.setattr(people, "REMEMBER_S", 3600.0)
    layout = Layout(str(tmp_path))
    database = Database.open(f"sqlite:///{layout.database}", backup_dir=layout.path("backups"))
    rows = Together(database)
    known = Counting(rows, layout)
    context: Any = SimpleNamespace(clock=time.time)
    credentials = Credentials(context, known, rows)
    await known.start()
    admin = Principal(ADMIN, "admin")
    made = await credentials.create(admin, WantedToken("mine"))
    first, second = await asyncio.gather(*(known.by_token(made.token) for _ in range(2)))
    views = [asyncio.create_task(known.wait_until_lost(seen)) for seen in (first, second)]
    known._known.clear()  # as if REMEMBER_S had passed
    while known.looked_up < 4:
        await asyncio.sleep(0.01)
    await credentials.delete(admin, made.id)
    async with asyncio.timeout(60):
        assert [type(why) for why in await asyncio.gather(*views)] == [Unauthenticated, Unauthenticated]
    database.close()
