"""The controller's log as a clock: what it tells of a submit, a start and an end."""

from bench.slurm_cluster import Log, read_log

TEXT = """\
[2026-11-21T12:00:00.250] _slurm_rpc_submit_batch_job: JobId=7 InitPrio=4294901319 usec=407
[2026-11-21T12:00:01.500] sched: Allocate JobId=7 NodeList=n1 #CPUs=1 Partition=batch
[2026-11-21T12:00:02.000] sched/backfill: _start_job: Started JobId=8 in batch on n1
[2026-11-21T12:00:03.000] _job_complete: JobId=7 WEXITSTATUS 0
[2026-11-21T12:00:03.125] _job_complete: JobId=7 done
[2026-11-21T12:00:04.000] update_part: setting state_up to 3 for partition batch
"""


def test_the_log_tells_when_a_job_came_started_and_ended() -> None:
    log: Log = {"accepted": {}, "started": {}, "ended": {}}
    read_log(TEXT.splitlines(), log)
    came = log["accepted"][7]
    assert log["started"] == {7: came + 1.25, 8: came + 1.75}
    assert log["ended"] == {7: came + 2.875}
