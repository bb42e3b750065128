"""The text of labels: it holds every label there can be, and an older store gets it from its records."""

import json
import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.histories import History, new_job
from tests.fixtures.older_stores import make_older
from tests.fixtures.seeing import ALL, reading
from trainmaster.spec.job import CLEAN
from trainmaster.store.database import Database
from trainmaster.store.jobs import labels
from trainmaster.store.jobs.job_query import JobQuery
from trainmaster.store.jobs.ledger import Batch, Ledger

LABEL = st.from_regex(CLEAN, fullmatch=True)


@given(st.lists(st.tuples(LABEL, LABEL), max_size=4))
def test_what_was_written_is_read(pairs: list[tuple[str, str]]) -> None:
    assert labels.read(labels.written(pairs)) == [list(pair) for pair in pairs]


@pytest.mark.parametrize(
    ("q", "words", "wanted"),
    [
        ("", "", []),
        ("loss", "loss", []),
        ("two  words", "two  words", []),
        ("xlabel:a", "xlabel:a", []),
        ("label:", "label:", []),
        ("label:a=b", "", ["a=b"]),
        ("one label:a two LABEL:b=c=d", "one two", ["a", "b=c=d"]),
        ('label:team="speech lab" x', "x", ["team=speech lab"]),
        ('label:"a b=c d"', "", ["a b=c d"]),
        ('label:"a', 'label:"a', []),
    ],
)
def test_filters_are_told_from_words(q: str, words: str, wanted: list[str]) -> None:
    assert labels.parted(q) == (words, wanted)


def test_a_store_of_schema_5_finds_its_jobs_by_their_labels(tmp_path: Path) -> None:
    """The real migration: labels were part of the record; a record that nobody can read stays as it is."""
    store = str(tmp_path / "trainmaster.db")
    held = [(("round", "2"), ("名", "语音")), (), (("round", "3"),)]

    def opened() -> Database:
        return Database.open(f"sqlite:///{store}", backup_dir=str(tmp_path / "backups"))

    database = opened()
    for seq, pairs in enumerate(held, 1):
        Ledger(database).commit(Batch(list(History(seq * 20).submit(new_job(seq, labels=pairs)).changes))).result(60)
    database.close()
    with sqlite3.connect(store) as old:
        for seq, pairs in enumerate(held, 1):
            (record,) = old.execute("SELECT record FROM job WHERE seq = ?", (seq,)).fetchone()
            written = json.dumps({**json.loads(record), "labels": pairs}, separators=(",", ":"), ensure_ascii=False)
            old.execute("UPDATE job SET record = ? WHERE seq = ?", (written if seq < 3 else written[:-5], seq))
    old.close()
    database = opened()
    database.write(lambda connection: make_older(connection, 5)).result(60)
    database.close()
    database = opened()
    reader = reading(database)
    assert [job.labels for job in reader.list_jobs(ALL, JobQuery(order="submitted_at")).items] == held[:2]
    assert [job.seq for job in reader.list_jobs(ALL, JobQuery(q="label:名=语音")).items] == [1]
    database.close()
