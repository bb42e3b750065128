"""What a debug hold keeps on a cluster: logs and files, and nothing that could be entered (R90)."""

import pytest

from trainmaster.core.errors import Conflict
from trainmaster.engines.slurm.client.commands import Access
from trainmaster.engines.slurm.entering import ClusterPlace, enter


async def test_a_kept_task_of_a_cluster_is_refused_with_what_can_be_looked_at() -> None:
    with pytest.raises(Conflict, match="keeps nothing of it to enter") as refused:
        await enter(ClusterPlace(Access(), "", "python3"), None, 0, 0, ("sh",), None, kept=True)
    assert refused.value.remedy == "Look at its log and its files instead."
