"""The shapes of what the API takes and answers, for the published contract. Imported only when the contract is asked for.

Never used to build an answer (service/views does that); the contract tests hold real answers against these shapes. A name
here is what routes write in `answers` and `takes`.
"""

from typing import Any

from pydantic import BaseModel

from trainmaster.api import shapes_base, shapes_cluster, shapes_jobs
from trainmaster.api.shapes_base import Shape, Text
from trainmaster.api.shapes_jobs import Job, Preview


class Document(Shape):
    """A document of its own format."""


class User(Shape):
    """Who is signed in."""

    name: str
    role: str
    must_change_password: bool
    locale: str | None


class Server(Shape):
    """The server itself."""

    version: str
    name: str
    sandbox: Any


class Session(Shape):
    """Who is signed in."""

    user: User
    server: Server


class NewSession(Session):
    """A session just begun; `key` is shown only here. `browser` is sent with the next sign-in of the same person there."""

    key: str
    browser: str


class Ticket(Shape):
    """`address`, with the ticket in it, is good once, for `expires_in_s`."""

    address: str
    expires_in_s: float


class Token(Shape):
    """An API token without its text."""

    id: str
    name: str
    user: str
    created_at: float
    expires_at: float | None


class NewToken(Token):
    """A token just made; `token` is shown only here."""

    token: str


class Tokens(Shape):
    """API tokens, newest first."""

    items: list[Token]
    next_cursor: str | None


class Cut(Shape):
    """A range that the log's size limit took away."""

    offset: int
    length: int


class LogWindow(Shape):
    """The text at [offset, next_offset)."""

    offset: int
    next_offset: int
    size: int
    text: str
    cut: list[Cut]
    ended: bool
    first_line: int | None = None


class LogHit(Shape):
    """A line that matches."""

    offset: int
    line: int
    text: str


class LogHits(Shape):
    """Matches of one bounded search; go on at `next_offset` unless `done`."""

    items: list[LogHit]
    next_offset: int
    done: bool


class Usage(Shape):
    """Samples by task as columns of equal length, and what each task may use."""

    tasks: dict[str, dict[str, list[float | None]]]
    limits: dict[str, dict[str, float | None]]


class Series(Shape):
    """One curve. `count`: how many points came in all; those shown may be fewer."""

    name: str
    source: str
    attempt: int
    task: str
    count: int
    steps: list[float | None]
    t: list[float | None]
    values: list[float | None]


class Metrics(Shape):
    """Curves, and the last value of each name."""

    series: list[Series]
    last: dict[str, float | None]


class File(Shape):
    """An entry of a folder."""

    name: str
    path: str
    kind: str
    size: int
    modified_at: float | None


class Files(Shape):
    """One folder."""

    path: str
    items: list[File]


class Used(Shape):
    """Held by tasks, and there is."""

    used: float
    total: float


class CardHolder(Shape):
    """A task that holds a card or a share (0..1) of it. Of jobs that the reader may not know of, only the share is told."""

    job: str | None
    name: str | None
    owner: str | None
    task: str | None
    state: str | None
    share: float


class Card(Shape):
    """One accelerator, and everybody who holds a part of it."""

    index: int
    model: str
    uses: list[CardHolder]
    utilisation: float | None
    memory_mib: float | None
    memory_total_mib: float | None


class NodeTask(Shape):
    """A task on a node. Of a job that the reader may not know of, only what it holds; the rest is null.

    `share`: how much of each of its cards, 0..1.
    """

    job: str | None
    name: str | None
    owner: str | None
    task: str | None
    state: str | None
    cpu: float
    memory_mib: int
    gpus: list[int]
    share: float


class Node(Shape):
    """One machine."""

    name: str
    host: str
    pool: str
    schedulable: bool
    reason: Text | None
    simulated: bool
    facts: dict[str, Any]
    cpu: Used
    memory_mib: Used
    gpus: list[Card]
    tasks: list[NodeTask]


class Pool(Shape):
    """A virtual cluster."""

    name: str


class Queue(Shape):
    """The queue in numbers."""

    waiting: int
    running: int


class Engine(Shape):
    """What runs the jobs of some pools. `owns_queue`: it decides order and places itself; `trouble`: why it does not answer now."""

    name: str
    kind: str
    owns_queue: bool
    pools: list[str]
    nodes: int
    nodes_in_service: int
    trouble: Text | None


class Engines(Shape):
    """All engines, as the configuration names them."""

    items: list[Engine]


class Cluster(Shape):
    """Machines, cards, who uses what."""

    nodes: list[Node]
    pools: list[Pool]
    queue: Queue
    sandbox: Any


class Model(Shape):
    """A saved model as lists show it."""

    id: str
    name: str
    owner: str
    workspace: str
    versions: int
    latest: int
    created_at: float


class ModelPage(Shape):
    """Saved models."""

    items: list[Model]


class ModelVersion(Shape):
    """An immutable version and where it came from."""

    version: int
    digest: str
    size_bytes: int
    files: int
    created_at: float
    job: str
    attempt: int
    path: str
    metrics: dict[str, Any]


class ModelDetail(Shape):
    """A model with its versions."""

    id: str
    name: str
    owner: str
    versions: list[ModelVersion]


class Upload(Shape):
    """An uploaded folder by its content's name."""

    upload: str
    files: int
    size_bytes: int


class Meta(Shape):
    """Names and limits for forms."""

    states: dict[str, Text]
    priorities: Any
    frameworks: list[dict[str, Any]]
    verdicts: dict[str, Any]
    limits: dict[str, Any]
    defaults: dict[str, Any]


class Alive(Shape):
    """The process answers."""

    ok: bool


class Ready(Shape):
    """Whether work can be taken in, and what does not answer."""

    ok: bool
    checks: dict[str, str]


UNIONS: dict[str, tuple[type[BaseModel], ...]] = {"JobOrPreview": (Job, Preview)}
"""Names in `answers` that mean one of several shapes."""


def all_shapes() -> dict[str, type[BaseModel]]:
    """Return every shape by name."""
    named = {**vars(shapes_base), **vars(shapes_jobs), **vars(shapes_cluster), **globals()}
    found = (value for value in named.values() if isinstance(value, type) and issubclass(value, BaseModel))
    return {shape.__name__: shape for shape in found if shape not in (BaseModel, Shape)}
