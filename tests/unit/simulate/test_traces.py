"""Reference results of other people's schedulers, on the shared traces where TRAINMASTER_TEST_TRACES names their
folder.

`scripts/test` sets it where the folder is there. The long ones are in `bench/run queue`.
"""

import os
from pathlib import Path

import pytest

from trainmaster.simulate.clusters import parse_cluster
from trainmaster.simulate.compare import settings
from trainmaster.simulate.run import simulate
from trainmaster.simulate.traces import read_trace
from trainmaster.simulate.workload import NodeSize

FOLDER = Path(os.environ.get("TRAINMASTER_TEST_TRACES") or "no folder")

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="TRAINMASTER_TEST_TRACES names no folder")


@pytest.mark.parametrize(("policy", "column"), [("fifo-strict", "wait_fifo"), ("sjf-strict", "wait_sjf")])
def test_every_wait_of_the_virtual_cluster_is_that_of_two_other_simulators(policy: str, column: str) -> None:
    nodes = parse_cluster(["8x8"])
    work = read_trace(str(FOLDER / "philly-vc-992.csv.gz"), NodeSize.of(nodes))
    rows = simulate(work, nodes, settings([policy])[0]).rows
    assert len(rows) == 992
    assert [row.job.id for row in rows if row.wait_s != row.job.reference[column]] == []
