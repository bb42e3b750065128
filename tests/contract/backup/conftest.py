"""Homes to back up and to restore into, on SQLite and on a real PostgreSQL."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fixtures.postgres import Server, cluster

KINDS = ("sqlite", pytest.param("postgresql", marks=pytest.mark.postgres))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A private PostgreSQL server."""
    with cluster() as server:
        yield server


Place = Callable[[str, str], tuple[Path, str]]


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Give (folder, address of the database) of a home on a kind of database, with nothing in it but settings."""

    def give(name: str, kind: str) -> tuple[Path, str]:
        home = tmp_path / name
        if kind == "sqlite":
            return home, f"sqlite:///{home}/trainmaster.db"
        url = request.getfixturevalue("postgres").database()
        home.mkdir(mode=0o700)
        (home / "config.toml").write_text(f'[server]\ndatabase = "{url}"\n')
        (home / "config.toml").chmod(0o600)
        return home, str(url)

    return give
