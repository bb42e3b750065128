"""Every fact the platform can know about a job, and what somebody did to anything else. The first file a newcomer
should read.

An event is appended once and never edited. `attempt` is the fence: facts about an older attempt are recorded and
ignored by `reduce`. `data` is a small JSON object whose keys are documented beside each kind; nothing large goes here.
`said` is what the platform says of it, as messages.said keeps it; what earlier versions said stands under `reason` or
`message`, in words. Adding a kind: one member here, its rule in `reduce`, its sentence in NAMES.

A `AuditEvent` is such a fact about a pool, a person or another thing that no reducer folds: it says itself what was
done.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final

from trainmaster._compat import StrEnum, dataclass
from trainmaster.messages.said import Said

if TYPE_CHECKING:
    from trainmaster.core.records import Job


class Kind(StrEnum):
    """Event kinds. The comment names the keys of `data`."""

    SUBMITTED = "submitted"  # job: Job as JSON
    PLACED = (
        # placement: [Assignment as JSON], rates?: [Rate as JSON] by role, roles?: [Role as JSON], what was placed where
        # it is not `roles`
        "placed"
    )
    CHECKED = "checked"
    BAD_NODE = "bad_node"  # node, said
    STAGED = "staged"
    ACCEPTED = "accepted"  # an engine that owns its queue has it, nothing runs yet
    STARTED = "started"  # placement?: [Assignment as JSON], where the engine chose the nodes
    LAUNCH_FAILED = "launch_failed"  # said, code?: verdict code
    TASK_RUNNING = "task_running"  # role, index
    TASK_EXITED = "task_exited"  # role, index, exit_code | signal, verdict?: Verdict as JSON
    TASK_LOST = "task_lost"  # role, index, said; code: platform_stopped, else lost
    # reason?: the words of who stopped it; code?: verdict code, said?: why the platform did
    STOP_REQUESTED = "stop_requested"
    EXPIRED = "expired"
    FAULT = "fault"  # said
    # by: id of the job that it makes room for or "", reason: a key of queue.reasons.EVICTED, or said: why
    PREEMPTED = "preempted"
    RELEASED = "released"  # end of a debug hold
    SAVED = "saved"  # model: "<id>@<version>" | null, files: int, size_bytes: int
    SAVE_FAILED = "save_failed"  # said
    REAPED = "reaped"
    DURATION_CHANGED = "duration_changed"  # duration_s, before: float | null
    PRIORITY_CHANGED = "priority_changed"  # priority, before: int
    SHARED = "shared"  # share: one of states.JobShare, before: as it was
    ANNOTATED = "annotated"  # tags: list[str], note: str, whichever changed; before: the same as it was
    CLOCK_SET = "clock_set"  # by_s: float; the server's clock was set by so much, and all times of the job move with it
    # role, index, program: who is the actor runs it inside the task; its arguments may hold secrets
    ENTERED = "entered"
    # number: of the place in `outputs`, place, opened_at: of this round, files, size_bytes, left_out, said
    UPLOADED = "uploaded"
    UPLOAD_FAILED = "upload_failed"  # number, place, opened_at, said
    UPLOAD_ASKED = "upload_asked"  # somebody asks to upload again what failed
    # code, said, path?: of the field it is about. Worth showing, changes nothing (a degraded sandbox, a warning)
    NOTED = "noted"


NAMES: Final[dict[Kind, tuple[str, str]]] = {
    Kind.SUBMITTED: ("已提交", "Submitted"),
    Kind.PLACED: ("已分配节点", "Assigned to nodes"),
    Kind.CHECKED: ("节点检查通过：均可调度", "Nodes checked: all in service"),
    Kind.BAD_NODE: ("节点未通过检查", "A node failed its check"),
    Kind.STAGED: ("代码与数据就绪", "Code and data ready"),
    Kind.ACCEPTED: ("已进入集群的队列", "Queued in cluster"),
    Kind.STARTED: ("已启动", "Started"),
    Kind.LAUNCH_FAILED: ("启动失败", "Start failed"),
    Kind.TASK_RUNNING: ("副本开始运行", "Replica running"),
    Kind.TASK_EXITED: ("副本退出", "Replica exited"),
    Kind.TASK_LOST: ("副本丢失", "Replica lost"),
    Kind.STOP_REQUESTED: ("请求停止", "Stop requested"),
    Kind.EXPIRED: ("达到运行时限", "Time limit reached"),
    Kind.FAULT: ("平台故障", "Platform fault"),
    Kind.PREEMPTED: ("被抢占", "Preempted"),
    Kind.RELEASED: ("结束调试保留", "Debug hold ended"),
    Kind.SAVED: ("输出已保存", "Outputs saved"),
    Kind.SAVE_FAILED: ("保存输出失败", "Saving outputs failed"),
    Kind.REAPED: ("资源已释放", "Resources released"),
    Kind.DURATION_CHANGED: ("运行时限已修改", "Time limit changed"),
    Kind.PRIORITY_CHANGED: ("优先级已修改", "Priority changed"),
    Kind.SHARED: ("共享已修改", "Sharing changed"),
    Kind.ANNOTATED: ("标记或备注已修改", "Tags or note changed"),
    Kind.CLOCK_SET: ("服务器时钟已调整", "Server clock adjusted"),
    Kind.ENTERED: ("进入副本", "Replica entered"),
    Kind.UPLOADED: ("输出已上传", "Outputs uploaded"),
    Kind.UPLOAD_FAILED: ("上传输出失败", "Uploading outputs failed"),
    Kind.UPLOAD_ASKED: ("请求重新上传", "Upload asked for again"),
    Kind.NOTED: ("提示", "Note"),
}


Data = dict[str, Any]
"""What an event says beside its kind, as the ledger keeps it."""


class ActorKind(StrEnum):
    """What somebody is who does something. JOB: the platform, to make room for a job."""

    PERSON = "person"
    TOKEN = "token"
    JOB = "job"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who does something, and how it reaches the server: from which `address`, with the token or for the job whose id
    is `through`. `name`: a user's, one of NOBODY, or empty where nobody proved who they are.
    """

    name: str
    kind: ActorKind = ActorKind.PERSON
    address: str = ""
    through: str = ""


SYSTEM: Final = Actor("system", ActorKind.SYSTEM)


@dataclass(frozen=True, slots=True)
class Event:
    """One fact. `seq` is given by the ledger at commit (0 before); `at` in seconds since the epoch.

    `actor` is a user name, or ``system``, ``scheduler``, ``agent``, ``engine``; `by` more of who it is. That is kept by
    the audit, not with the event.
    """

    job: str
    kind: Kind
    at: float
    actor: str = "system"
    attempt: int = 0
    data: Data = field(default_factory=dict)
    seq: int = 0
    by: Actor | None = field(default=None, compare=False)


SUBJECTS: Final = (
    "job", "pool", "virtual_cluster", "workspace", "flavor", "node", "policy", "person", "template", "dataset", "sweep",
    "algorithm",
    "image",
    "volume",
    "model",
)  # fmt: skip
"""What a fact can be about."""
NOBODY: Final = ("system", "scheduler", "agent", "engine")
"""Actors that are no person: what these did is of no interest to whoever asks what people did."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What something was done to. `kind`: one of SUBJECTS; `name`: of a flavor with its workspace in front (``w/f``),
    of a job, a sweep and whatever is kept under a name (a data set, a model) its id.

    `workspace` and `owner`: where it lies and whose it is, by which it is decided who may read of it; empty: nobody
    but who may read everything. `title`: what it is called where its name is an id.
    """

    kind: str
    name: str
    workspace: str = ""
    owner: str = ""
    title: str = ""


def subject_of(kind: str, name: str) -> Subject:
    """Return a subject that is no job. What lies in a workspace says so in its name, and people are their own."""
    workspace = name.partition("/")[0] if kind in ("workspace", "flavor") else ""
    return Subject(kind, name, workspace, name if kind == "person" else "")


def subject_job(job: Job) -> Subject:
    """Return a job as a subject."""
    return Subject("job", job.id, job.workspace, job.owner, job.name)


Changes = tuple[tuple[str, Any, Any], ...]
"""(field, before, after) of each field that became something else, as JSON; None: it was or is not there."""


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """What somebody did, and when. The code of `said` is its kind. Made by `access.roles.Principal.did` for people, by
    `did_itself` for the platform.
    """

    subject: Subject
    said: Said
    at: float
    by: Actor
    changes: Changes = ()


def did_itself(subject: Subject, said: Said, at: float, changes: Changes = ()) -> AuditEvent:
    """Return that the platform did something that nobody asked it for."""
    return AuditEvent(subject, said, at, SYSTEM, changes)
