"""Where what a job writes goes while it runs: places of object storage (R147, R148, R158). Pure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from trainmaster.core.errors import Problem
from trainmaster.core.sending import LOGS, ROOTS
from trainmaster.messages.jobs import rules
from trainmaster.spec.inputs import STORED
from trainmaster.spec.problems import problem

if TYPE_CHECKING:
    from trainmaster.spec.job import JobSpec

WORDS: Final = ("{id}", "{name}")
"""What stands in a place for what a job is called."""
_LONGEST: Final = 512


class JobOutput(BaseModel):
    """A folder of the job that is copied to object storage, ``CONNECTION/PREFIX``, while the job runs. In the prefix
    ``{id}`` and ``{name}`` are those of the job. `folder`: ``outputs``, ``model``, or a folder beneath one of them;
    ``logs``: the logs of all attempts.
    `if_exists`: what becomes of objects that were there before and are called as a file of the job is.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    s3: Annotated[str, Field(pattern=STORED, max_length=_LONGEST)]
    folder: str = Field(default="outputs", min_length=1, max_length=_LONGEST)
    if_exists: Literal["keep", "overwrite", "refuse"] = Field(
        default="keep", description="keep: they stay; overwrite: they are replaced; refuse: the place must be empty"
    )


def place_of(ref: str, job: str, name: str) -> str:
    """Return the place that `ref` means for the job of this id and name."""
    return ref.replace("{id}", job).replace("{name}", name)


def fresh(ref: str) -> bool:
    """Return whether a place is one that no other job has."""
    return "{id}" in ref


def by_name(item: JobOutput) -> bool:
    """Return whether a place has to be empty, and is another for each name of a job."""
    return item.if_exists == "refuse" and "{name}" in item.s3 and not fresh(item.s3)


def of_any_name(spec: "JobSpec") -> "JobSpec":
    """Return `spec` as it is judged for all jobs that differ only by their names: their places are judged together."""
    if not any(map(by_name, spec.outputs)):
        return spec
    kept = [item.model_copy(update={"if_exists": "keep"}) if by_name(item) else item for item in spec.outputs]
    return spec.model_copy(update={"outputs": tuple(kept)})


def _is_folder(folder: str) -> bool:
    parts = folder.split("/")
    return folder.isprintable() and parts[0] in ROOTS and not any(part in ("", ".", "..") for part in parts)


def outputs_problems(spec: "JobSpec") -> Iterator[Problem]:
    """Yield everything that is wrong with the outputs of a job, apart from whether the places are there."""
    seen: list[str] = []
    for index, item in enumerate(spec.outputs):
        path = f"outputs.{index}"
        parts = item.s3.rstrip("/").split("/")
        if any(part in ("", ".", "..") for part in parts):
            yield problem(f"{path}.s3", rules.stored_place_not_plain(), item.s3)
        if any(letter in place_of(item.s3, "", "") for letter in "{}"):
            yield problem(f"{path}.s3", rules.output_place_word(), item.s3)
        if item.folder != LOGS and not _is_folder(item.folder):
            yield problem(f"{path}.folder", rules.output_folder_not_known(), item.folder)
        place = "/".join(parts) + "/"
        if any(place.startswith(other) or other.startswith(place) for other in seen):
            yield problem(f"{path}.s3", rules.outputs_in_one_place(), item.s3)
        seen.append(place)
