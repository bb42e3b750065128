"""What is found from anywhere, and saved views of lists. See the package."""

from trainmaster.answers.base import Answer
from trainmaster.core.states import Shown


class FoundJob(Answer, frozen=True):
    """A job that was found. `near`: its name has a word that differs by a character from what was looked for."""

    id: str
    name: str
    state: Shown
    owner: str
    workspace: str
    submitted_at: float
    near: bool


class FoundName(Answer, frozen=True):
    """A person, a workspace, a pool or a model that was found, and what is said of it. `ref`: what it is called by."""

    ref: str
    name: str
    about: str
    near: bool


class SearchView(Answer, frozen=True):
    """What was found of each kind, of what the caller may know; of each a few, jobs newest first."""

    jobs: list[FoundJob]
    people: list[FoundName]
    workspaces: list[FoundName]
    pools: list[FoundName]
    models: list[FoundName]


class SavedViewView(Answer, frozen=True):
    """A list of jobs that somebody named: the `query` of its address. `workspace`: whose members see it, null: nobody
    else. `mine`: its owner is who asks.
    """

    name: str
    owner: str
    workspace: str | None
    query: str
    mine: bool
    at: float


class SavedViews(Answer, frozen=True):
    """Saved views by name, one's own first."""

    items: list[SavedViewView]
