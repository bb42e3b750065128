"""What raw routes take, for the published contract: `service` reads the bodies by itself. Imported only when the
contract is asked for.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from trainmaster.spec.document import Document, FieldChanges


class BatchSubmission(BaseModel):
    """A job to submit: `spec` is a native or OpenPAI document; `set` changes fields by dotted path before the checks.

    `code_follows`: in a preview, the sender has the code folder and will upload it.
    """

    model_config = ConfigDict(extra="forbid")

    spec: Document
    dialect: Literal["auto", "native", "pai"] = "auto"
    set: FieldChanges = {}
    dry_run: bool = False
    code_follows: bool = False


class Submission(BatchSubmission):
    """A job to submit by itself. `instead_of`: id of a queued job, which is stopped in the same transaction; limits and
    places are judged as if it were gone. `version_of`: id of a job of which it is the next version, if that is the
    submitter's own in the same workspace.
    """

    instead_of: str | None = None
    version_of: str | None = None


class Question(Submission):
    """Would it start if it were submitted? `suggest`: say what helps."""

    suggest: bool = False


class SweepSubmission(BaseModel):
    """A sweep to submit: `spec` is a native document with `sweep` in it; `set` and `code_follows` as of a job."""

    model_config = ConfigDict(extra="forbid")

    spec: Document
    dialect: Literal["auto", "native"] = "auto"
    set: FieldChanges = {}
    code_follows: bool = False


class Submissions(BaseModel):
    """1 to 10,000 jobs, taken in all or none."""

    model_config = ConfigDict(extra="forbid")

    items: Annotated[list[BatchSubmission], Field(min_length=1, max_length=10_000)]


class DatasetUploadBody(BaseModel):
    """A version of the data set `name` to be uploaded: `files` lists all that it holds, each with its `path` and `size`
    and `sha256` (and `executable`), or the target of a `link`, or ``folder: true`` for an empty one. Of a data set that
    is made by it, `description` and `share` say more; `workspace`: where it is.
    """

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(max_length=200)]
    files: list[Any]
    workspace: Annotated[str | None, Field(max_length=200)] = None
    description: Annotated[str, Field(max_length=4000)] = ""
    share: Literal["none", "read", "read-write"] = "none"


TAKES = (Submission, Question, Submissions, DatasetUploadBody, SweepSubmission)
