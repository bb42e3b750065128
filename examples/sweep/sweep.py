"""Submits a training for each pair of parameters, waits for all of them and says which was best.

    python sweep.py

It talks to the server of this machine, or to the one that TRAINMASTER_URL and TRAINMASTER_TOKEN name. All jobs are
accepted at once; as many run as there is room for, the others are queued.
"""

from itertools import product
from pathlib import Path

from trainmaster import Client

FILE = Path(__file__).parent / "job.yaml"

with Client() as client:
    jobs = {
        (lr, hidden): client.submit(
            FILE,
            name=f"sweep-lr{lr}-h{hidden}".replace(".", "_"),
            set={
                "roles.0.parameters.lr": lr,
                "roles.0.parameters.hidden": hidden,
                "labels": {"sweep": "digits"},
            },
        )
        for lr, hidden in product((0.001, 0.01, 0.1), (16, 64))
    }
    found = []
    for (lr, hidden), job in jobs.items():
        job.wait()
        found.append((job.metrics().last.get("accuracy") or 0.0, lr, hidden, job))
    print(f"{'lr':>6} {'hidden':>7} {'accuracy':>9}  job")
    for accuracy, lr, hidden, job in sorted(found, key=lambda row: row[0], reverse=True):
        print(f"{lr:>6} {hidden:>7} {accuracy:>9.4f}  {job.id} {job.state}")
