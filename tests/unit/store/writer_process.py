"""A process that commits until it is killed: prints the number of each job once its batch is acknowledged."""

import sys

from tests.fixtures.histories import life
from trainmaster.store.database import Database
from trainmaster.store.jobs.ledger import Batch, Ledger
from trainmaster.store.jobs.read_ledger import LedgerReader

database = Database.open(sys.argv[1], backup_dir=sys.argv[2])
ledger = Ledger(database)
seq = LedgerReader(database).next_job_seq()
sys.stdout.write("ready\n")
sys.stdout.flush()
while True:
    flights = [(number, ledger.commit(Batch(list(life(number).changes)))) for number in range(seq, seq + 8)]
    for number, future in flights:
        future.result(60)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    seq += 8
