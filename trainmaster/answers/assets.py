"""Templates of jobs, data sets, algorithms, and images. See the package."""

from typing import Literal

from trainmaster.answers.base import Answer, Json, Text
from trainmaster.core.states import JobShare


class TakenName(Answer, frozen=True):
    """A workspace that subscribes to something of another one, and what it is called there."""

    workspace: str
    name: str


TemplateRight = Literal["write", "share"]
"""What its reader may do with a template beside reading it and making jobs of it."""


class TemplateView(Answer, frozen=True):
    """A template as lists show it. `share`: with the other members of its workspace; `version`: its last one, made at
    `changed_at` by `changed_by`; `used`: jobs that were made of it; `favorite`: one of its reader's own; `may`: what
    its reader may do with it; `taken`: which of its reader's workspaces subscribe to it.
    """

    id: str
    name: str
    description: str
    workspace: str
    owner: str
    share: JobShare
    version: int
    created_at: float
    changed_at: float
    changed_by: str
    favorite: bool
    used: int
    used_at: float | None
    may: list[TemplateRight]
    taken: list[TakenName]


class TemplatePage(Answer, frozen=True):
    """A page of templates, what was changed last first; `total`: on all pages."""

    items: list[TemplateView]
    next_cursor: str | None
    total: int


class TemplateVersionView(Answer, frozen=True):
    """A version of a template: when it was made, and by whom."""

    version: int
    at: float
    by: str


class TemplateDetail(TemplateView, frozen=True):
    """A template with its versions, newest first, and the document `spec` of the version `shown`. For who may share it
    also to which other workspaces it is offered (`*`: to everybody), and which of them subscribe to it.
    """

    shown: int
    spec: Json
    versions: list[TemplateVersionView]
    offers: list[str]
    subscribers: list[TakenName]


DatasetRight = Literal["write", "share"]
"""What its reader may do with a data set beside reading it and giving it to jobs."""


class DatasetView(Answer, frozen=True):
    """A data set as lists show it. `share`: with the other members of its workspace; `latest`: the number of its last
    version, 0: none is left, of which `size_bytes` and `files` tell; `versions`: how many there are; `favorite`: one
    of its reader's own; `may`: what its reader may do with it; `taken`: which of its reader's workspaces subscribe to
    it.
    """

    id: str
    name: str
    description: str
    workspace: str
    owner: str
    share: JobShare
    latest: int
    versions: int
    size_bytes: int
    files: int
    created_at: float
    changed_at: float
    favorite: bool
    may: list[DatasetRight]
    taken: list[TakenName]


class DatasetPage(Answer, frozen=True):
    """A page of data sets, what was changed last first; `total`: on all pages."""

    items: list[DatasetView]
    next_cursor: str | None
    total: int


class DatasetVersionView(Answer, frozen=True):
    """A version of a data set. `digest` covers all files; `by`: who uploaded it; `path`: where it is on the server,
    for who may know.
    """

    version: int
    digest: str
    size_bytes: int
    files: int
    created_at: float
    by: str
    path: str | None


class DatasetDetail(DatasetView, frozen=True):
    """A data set with its versions, newest first. For who may share it also to which other workspaces it is offered
    (`*`: to everybody), and which of them subscribe to it.
    """

    history: list[DatasetVersionView]
    offers: list[str]
    subscribers: list[TakenName]


class DatasetEntry(Answer, frozen=True, omit_defaults=True):
    """One thing in a version of a data set, as an upload lists it: a file with `size` (bytes) and `sha256`, a symbolic
    `link` by its target, or an empty `folder`.
    """

    path: str
    size: int | None = None
    sha256: str | None = None
    executable: bool = False
    link: str | None = None
    folder: bool = False


class DatasetTree(Answer, frozen=True):
    """Everything in a version of a data set, by path. The contents of at most `small_bytes` come many at a time, each
    once, where its first file stands in `files`; a larger one comes as its file.
    """

    version: int
    digest: str
    size_bytes: int
    small_bytes: int
    files: list[DatasetEntry]


class DatasetUploadView(Answer, frozen=True):
    """An upload on its way: contents that the server lacks (`missing`, by sha256), how many bytes of some of them it
    has (`begun`), and how much all files together have. A content of at most `small_bytes` goes with others in
    requests of `batch_bytes`, a larger one alone in pieces. What nobody continues before `expires_at` goes.
    """

    id: str
    name: str
    workspace: str
    files: int
    size_bytes: int
    missing: list[str]
    begun: dict[str, int]
    small_bytes: int
    batch_bytes: int
    expires_at: float


class ReceivedView(Answer, frozen=True):
    """What came of an upload with a request: how many contents are whole now that were not, and how many the server
    still lacks. Of a piece: how many bytes of its content are here.
    """

    whole: int
    missing: int
    size_bytes: int | None = None


class MadeVersion(Answer, frozen=True):
    """The version that an upload became."""

    dataset: str
    name: str
    workspace: str
    version: DatasetVersionView


AlgorithmRight = Literal["write", "share"]
"""What its reader may do with an algorithm beside reading it and running it."""


class AlgorithmView(Answer, frozen=True):
    """An algorithm as lists show it. `preset`: made by an administrator, and shared; `share`: with the other members of
    its workspace; `latest`: the number of its last version, 0: none is left, which runs with `framework`; `versions`:
    how many there are; `favorite`: one of its reader's own; `may`: what its reader may do with it; `taken`: which of
    its reader's workspaces subscribe to it.
    """

    id: str
    name: str
    description: str
    workspace: str
    owner: str
    preset: bool
    share: JobShare
    latest: int
    versions: int
    framework: str
    created_at: float
    changed_at: float
    favorite: bool
    may: list[AlgorithmRight]
    taken: list[TakenName]


class AlgorithmPage(Answer, frozen=True):
    """A page of algorithms, what was changed last first; `total`: on all pages."""

    items: list[AlgorithmView]
    next_cursor: str | None
    total: int


class AlgorithmVersionView(Answer, frozen=True):
    """A version of an algorithm. `digest`: of its document; `code`: the upload that it runs, null: none of its own;
    `by`: who made it.
    """

    version: int
    digest: str
    code: str | None
    created_at: float
    by: str


class AlgorithmJob(Answer, frozen=True):
    """A job that has not ended and runs a version of an algorithm."""

    id: str
    name: str
    version: int


class AlgorithmDetail(AlgorithmView, frozen=True):
    """An algorithm with its versions, newest first, and the document `spec` of the version `shown`. `jobs`: some of
    those that run it and its reader may see, `more_jobs` further ones. For who may share it also to which other
    workspaces it is offered (`*`: to everybody), and which of them subscribe to it.
    """

    shown: int
    spec: Json
    history: list[AlgorithmVersionView]
    jobs: list[AlgorithmJob]
    more_jobs: int
    offers: list[str]
    subscribers: list[TakenName]


ImageRight = Literal["write", "share"]
"""What its reader may do with an image beside reading it and submitting jobs with it."""
BuildState = Literal["waiting", "resolving", "installing", "pulling", "unpacking", "ready", "failed", "stopped"]
"""How far a build is: the last three are its ends."""


class ImageView(Answer, frozen=True):
    """An image as lists show it. `share`: with the other members of its workspace; `version`: its last one, made at
    `changed_at` by `changed_by`, of Python `python`, `packages` of them, `size_bytes` large. `frameworks`, `cards`:
    what it is for, empty: anything. `built`: its environment is there; if not, it is made again when a job needs it.
    `jobs`: how many that have not ended have it, of everybody: it cannot be deleted while there are any. `kind`:
    environment or container; `container`: its reference with the digest; `code`: the upload that its jobs run, null:
    they bring it. `favorite`: one of its reader's own. `taken`: which of its reader's workspaces subscribe to it.
    """

    id: str
    name: str
    description: str
    workspace: str
    owner: str
    share: JobShare
    kind: str
    container: str
    code: str | None
    version: int
    created_at: float
    changed_at: float
    changed_by: str
    favorite: bool
    python: str
    frameworks: list[str]
    cards: list[str]
    packages: int
    size_bytes: int
    built: bool
    jobs: int
    may: list[ImageRight]
    taken: list[TakenName]


class ImagePage(Answer, frozen=True):
    """A page of images, what was changed last first; `total`: on all pages."""

    items: list[ImageView]
    next_cursor: str | None
    total: int


class ImagePackage(Answer, frozen=True):
    """A package of an environment, and its version, or the address that it came from."""

    name: str
    version: str


class ImageVersionView(Answer, frozen=True):
    """A version of an image: when it was made, by whom, how large it is, what it is for, and how jobs name it.
    `digest`: of the lock that says its packages, or of the container image `container`, with its code; `packages`: how
    many there are. `code`: the upload that its jobs run, null: they bring it; `base`: the version that it was built on.
    """

    version: int
    at: float
    by: str
    size_bytes: int
    python: str
    reference: str
    digest: str
    packages: int
    frameworks: list[str]
    cards: list[str]
    container: str
    code: str | None
    base: str


class ImageUse(Answer, frozen=True):
    """A job that has not ended and has a version of an image."""

    job: str
    name: str
    owner: str
    version: int


class ImageFile(Answer, frozen=True):
    """A file that an environment was made of."""

    name: str
    text: str


class ImageDetail(ImageView, frozen=True):
    """An image with its versions, newest first; of the version `shown` the packages, the lock that they came from and
    the files that it was made of. `used_by`: those of its `jobs` that the reader may see, the latest first, at most 50.
    For who may share it also to which other workspaces it is offered (`*`: to everybody), and which subscribe to it.
    """

    shown: int
    installed: list[ImagePackage]
    lock: str
    files: list[ImageFile]
    versions: list[ImageVersionView]
    used_by: list[ImageUse]
    offers: list[str]
    subscribers: list[TakenName]


class ImageBuild(Answer, frozen=True):
    """A build of an image's version. `error`, `remedy`: why it failed and what to do; `image`, `version`: what became
    of it; `packages`: how many there are, 0: not known yet; `log`: the last lines of what was said.
    """

    id: str
    name: str
    workspace: str
    owner: str
    state: BuildState
    started_at: float
    ended_at: float | None
    packages: int
    error: Text | None
    remedy: Text | None
    image: str | None
    version: int | None
    log: list[str]


class ImageBuilds(Answer, frozen=True):
    """Builds that are known, newest first. `pythons`: the versions of Python of which images can be made, the server's
    own first; none where nothing can be made, since uv is not there. `no_containers`: why no container images can be
    had, null: they can.
    """

    items: list[ImageBuild]
    pythons: list[str]
    no_containers: Text | None
