"""What Slurm's words mean: one literal table of the states of a job, one of the reasons to wait, one of the states of a
node. Pure.

`STATES` holds every state and flag of the manual (squeue, sacct, scontrol). A word that is in neither is unknown: the
job is taken to be still there, and a person is told; it is never guessed.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from trainmaster.engines.slurm.messages import slurm_states as say
from trainmaster.messages.said import Said
from trainmaster.messages.said import verbatim as as_it_is

Standing = Literal["pending", "running", "ended", "unknown"]
"""pending: holds nothing yet, or again. running: something of it may hold or use nodes. ended: nothing of it will run
any more.
"""


class State(NamedTuple):
    """What a state means. `code`: the verdict code when it ended ("" where our own records say it); `said`: to
    people.
    """

    standing: Standing
    code: str
    said: Said


STATES: Final[dict[str, State]] = {
    # --- not started
    "PENDING": State("pending", "", say.slurm_state_pending()),
    "REQUEUED": State("pending", "", say.slurm_state_requeued()),
    "REQUEUE_FED": State("pending", "", say.slurm_state_requeue_fed()),
    "REQUEUE_HOLD": State("pending", "", say.slurm_state_requeue_hold()),
    "RESV_DEL_HOLD": State("pending", "", say.slurm_state_resv_del_hold()),
    "SPECIAL_EXIT": State("pending", "", say.slurm_state_special_exit()),
    # --- holds nodes
    "CONFIGURING": State("running", "", say.slurm_state_configuring()),
    "POWER_UP_NODE": State("running", "", say.slurm_state_power_up_node()),
    "RUNNING": State("running", "", say.slurm_state_running()),
    "SUSPENDED": State("running", "", say.slurm_state_suspended()),
    "STOPPED": State("running", "", say.slurm_state_stopped()),
    "SIGNALING": State("running", "", say.slurm_state_signaling()),
    "RESIZING": State("running", "", say.slurm_state_resizing()),
    "STAGE_OUT": State("running", "", say.slurm_state_stage_out()),
    "COMPLETING": State("running", "", say.slurm_state_completing()),
    "UPDATE_DB": State("running", "", say.slurm_state_update_db()),
    "LAUNCH_FAILED": State("running", "", say.slurm_state_launch_failed()),
    "RECONFIG_FAIL": State("running", "", say.slurm_state_reconfig_fail()),
    # --- over
    "COMPLETED": State("ended", "", say.slurm_state_completed()),
    "FAILED": State("ended", "launch_failed", say.slurm_state_failed()),
    "CANCELLED": State("ended", "stopped", say.slurm_state_cancelled()),
    "TIMEOUT": State("ended", "expired", say.slurm_state_timeout()),
    "DEADLINE": State("ended", "expired", say.slurm_state_deadline()),
    "OUT_OF_MEMORY": State("ended", "out_of_memory", say.slurm_state_out_of_memory()),
    "NODE_FAIL": State("ended", "lost", say.slurm_state_node_fail()),
    "BOOT_FAIL": State("ended", "bad_node", say.slurm_state_boot_fail()),
    "PREEMPTED": State("ended", "lost", say.slurm_state_preempted()),
    "REVOKED": State("ended", "lost", say.slurm_state_revoked()),
}

SHORT: Final[dict[str, str]] = {
    "PD": "PENDING",
    "RQ": "REQUEUED",
    "RF": "REQUEUE_FED",
    "RH": "REQUEUE_HOLD",
    "RD": "RESV_DEL_HOLD",
    "SE": "SPECIAL_EXIT",
    "CF": "CONFIGURING",
    "R": "RUNNING",
    "S": "SUSPENDED",
    "ST": "STOPPED",
    "SI": "SIGNALING",
    "RS": "RESIZING",
    "SO": "STAGE_OUT",
    "CG": "COMPLETING",
    "CD": "COMPLETED",
    "F": "FAILED",
    "CA": "CANCELLED",
    "TO": "TIMEOUT",
    "DL": "DEADLINE",
    "OOM": "OUT_OF_MEMORY",
    "NF": "NODE_FAIL",
    "BF": "BOOT_FAIL",
    "PR": "PREEMPTED",
    "RV": "REVOKED",
}
"""The short forms, which jobcomp and old tools write."""


@dataclass(frozen=True, slots=True)
class JobStateSeen:
    """A job's state as read: Slurm's own words, and what they mean together."""

    words: tuple[str, ...]
    standing: Standing
    code: str = ""

    @property
    def said(self) -> Said:
        """The state as it is said to people; a word that is not known is shown as Slurm writes it."""
        known = [STATES[word].said if word in STATES else as_it_is(word) for word in self.words]
        return known[0] if len(known) == 1 else say.slurm_says_several(known)


def read(text: str) -> JobStateSeen:
    """Return what a state means, as any of Slurm's programs writes it: ``RUNNING``, ``CG``, ``CANCELLED by 1000``,
    ``A,B``.

    A base state with flags counts as running while any of them does: COMPLETED,COMPLETING still has processes.
    """
    words = tuple(
        SHORT.get(word, word) for word in text.split(" by ", maxsplit=1)[0].replace("+", ",").split(",") if word
    )
    if not words or any(word not in STATES for word in words):
        return JobStateSeen(words, "unknown")
    states = [STATES[word] for word in words]
    return JobStateSeen(
        words, _together(state.standing for state in states), next((s.code for s in states if s.code), "")
    )


def _together(standings: Iterable[Standing]) -> Standing:
    found = set(standings)
    order: tuple[Standing, ...] = ("unknown", "running", "pending", "ended")
    return next((standing for standing in order if standing in found), "unknown")


def of_components(seen: Iterable[JobStateSeen]) -> JobStateSeen:
    """Return the state of a heterogeneous job by those of its components: over only when all of them are."""
    parts = list(seen)
    words = tuple(dict.fromkeys(word for part in parts for word in part.words))
    return JobStateSeen(
        words, _together(part.standing for part in parts), next((part.code for part in parts if part.code), "")
    )


REASONS: Final[dict[str, Said]] = {
    "None": say.slurm_reason_none(),
    "WaitingForScheduling": say.slurm_reason_none(),
    "Resources": say.slurm_reason_resources(),
    "Priority": say.slurm_reason_priority(),
    "Dependency": say.slurm_reason_dependency(),
    "DependencyNeverSatisfied": say.slurm_reason_dependency_never_satisfied(),
    "BeginTime": say.slurm_reason_begin_time(),
    "Cleaning": say.slurm_reason_cleaning(),
    "Prolog": say.slurm_reason_prolog(),
    "JobArrayTaskLimit": say.slurm_reason_array_limit(),
    "Licenses": say.slurm_reason_licenses(),
    "JobHeldUser": say.slurm_reason_held_by_user(),
    "JobHeldAdmin": say.slurm_reason_held_by_administrator(),
    "launch failed requeued held": say.slurm_reason_launch_failed_held(),
    "job requeued in held state": say.slurm_reason_requeued_held(),
    "BadConstraints": say.slurm_reason_bad_constraints(),
    "PartitionDown": say.slurm_reason_partition_down(),
    "PartitionInactive": say.slurm_reason_partition_inactive(),
    "PartitionNodeLimit": say.slurm_reason_partition_nodes(),
    "PartitionTimeLimit": say.slurm_reason_partition_time(),
    "PartitionConfig": say.slurm_reason_partition_config(),
    "AccountNotAllowed": say.slurm_reason_account_not_allowed(),
    "QOSNotAllowed": say.slurm_reason_qos_not_allowed(),
    "InvalidAccount": say.slurm_reason_invalid_account(),
    "InvalidQOS": say.slurm_reason_invalid_qos(),
    "ReqNodeNotAvail": say.slurm_reason_nodes_not_available(),
    "NodeDown": say.slurm_reason_node_down(),
    (
        "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
    ): say.slurm_reason_nodes_kept_for_others(),
    "Reservation": say.slurm_reason_reservation(),
    "ReservationDeleted": say.slurm_reason_reservation_deleted(),
    "AssociationJobLimit": say.slurm_reason_account_jobs(),
    "AssociationResourceLimit": say.slurm_reason_account_resources(),
    "AssociationTimeLimit": say.slurm_reason_account_time(),
    "QOSJobLimit": say.slurm_reason_qos_jobs(),
    "QOSResourceLimit": say.slurm_reason_qos_resources(),
    "QOSTimeLimit": say.slurm_reason_qos_time(),
    "QOSUsageThreshold": say.slurm_reason_qos_threshold(),
    "AssocGrp*": say.slurm_reason_account_group(),
    "AssocMax*": say.slurm_reason_account_most(),
    "MaxJobsPerAccount": say.slurm_reason_account_jobs(),
    "QOSGrp*": say.slurm_reason_qos_resources(),
    "QOSMax*": say.slurm_reason_qos_most(),
    "QOSMin*": say.slurm_reason_qos_least(),
    "MaxMemPerLimit": say.slurm_reason_memory(),
    "BurstBufferResources": say.slurm_reason_burst_buffer(),
    "BurstBufferStageIn": say.slurm_reason_burst_buffer_stage_in(),
    "FedJobLock": say.slurm_reason_federation_lock(),
    "JobLaunchFailure": say.slurm_reason_launch_failure(),
    "SystemFailure": say.slurm_reason_system_failure(),
}
"""A name that ends with `*` stands for all that begin so. Those of https://slurm.schedmd.com/job_reason_codes.html that
users meet.
"""


def reason(text: str) -> Said:
    """Return why Slurm lets a job wait, of the reason as squeue writes it; one that is not known is shown as it is.

    What follows a comma names nodes (``ReqNodeNotAvail, UnavailableNodes:n[1-2]``).
    """
    name = text.strip("() ")
    for key in (name, name.split(",")[0].strip()):
        if key in REASONS:
            return REASONS[key]
    alike = (said for key, said in REASONS.items() if key.endswith("*") and name.startswith(key[:-1]))
    return next(alike, say.slurm_says(text))


NOT_USABLE: Final[dict[str, Said]] = {
    "DOWN": say.slurm_node_down(),
    "DRAIN": say.slurm_node_drained(),
    "DRAINED": say.slurm_node_drained(),
    "DRAINING": say.slurm_node_draining(),
    "FAIL": say.slurm_node_failing(),
    "FAILING": say.slurm_node_failing(),
    "ERROR": say.slurm_node_in_error(),
    "UNKNOWN": say.slurm_node_unknown(),
    "FUTURE": say.slurm_node_future(),
    "MAINT": say.slurm_node_in_maintenance(),
    "MAINTENANCE": say.slurm_node_in_maintenance(),
    "NOT_RESPONDING": say.slurm_node_not_responding(),
    "PERFCTRS": say.slurm_node_counting(),
    "INVALID": say.slurm_node_not_as_configured(),
    "INVALID_REG": say.slurm_node_not_as_configured(),
    "BLOCKED": say.slurm_node_blocked(),
    "REBOOT": say.slurm_node_to_be_rebooted(),
    "REBOOT_ISSUED": say.slurm_node_rebooting(),
    "REBOOT_REQUESTED": say.slurm_node_to_be_rebooted(),
    "POWER_DOWN": say.slurm_node_switching_off(),
    "POWERING_DOWN": say.slurm_node_switching_off(),
}
"""States of a node in which it starts nothing, the one that matters most first. One that is switched off to save power
is not among them: Slurm wakes it.
"""


def out_of_service(flags: Collection[str], why: str) -> Said | None:
    """Return why a node of these states starts nothing, None when it may. `why`: what an administrator wrote."""
    state = next((said for flag, said in NOT_USABLE.items() if flag in flags), None)
    if state is None:
        return None
    return say.slurm_says_why_of_node(state, why) if why else say.slurm_says_of_node(state)
