"""What the shell offers when Tab is pressed: names of jobs, pools, workspaces, nodes, flavors and models, asked of the
server.

Invariant: whatever is wrong, nothing is offered and nothing is said; the shell never waits longer than PATIENCE_S.
"""

import os
from collections.abc import Callable, Sequence
from itertools import dropwhile
from typing import TYPE_CHECKING, Any, Final, TypeVar

import typer

if TYPE_CHECKING:
    from trainmaster import answers
    from trainmaster.sdk.client import Client

T = TypeVar("T")
Offered = list[tuple[str, str]]
"""What may stand there, each with a word on what it is."""

PATIENCE_S: Final = 1.5
MOST: Final = 200


def jobs(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer slugs and ids of the newest jobs, each with name and state."""
    from trainmaster import answers

    page = _asked(ctx, answers.JobPage, "/jobs", limit=MOST)
    found: Offered = []
    for job in page.items if page else ():
        about = f"{job.name}, {job.state}"
        named = [job.slug] if job.slug and job.slug.startswith(incomplete) and incomplete else []
        found += [(one, about) for one in named or [job.id[:12]]]
    return _beginning(found, incomplete)


def models(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of models, behind @ numbers of versions."""
    from trainmaster import answers

    name, at, _ = incomplete.partition("@")
    page = _asked(ctx, answers.ModelPage, "/models", q=name)
    found = [(one.name, f"@{one.latest}") for one in (page.items if page else ())]
    if at:
        numbers = [one.latest for one in (page.items if page else ()) if one.name == name]
        found = [(f"{name}@{number}", "") for latest in numbers for number in range(latest, max(0, latest - 20), -1)]
    return _beginning(found, incomplete)


def volumes(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of volumes."""
    from trainmaster import answers

    page = _asked(ctx, answers.VolumePage, "/volumes", q=incomplete, limit=MOST)
    return _beginning([(one.name, one.description) for one in (page.items if page else ())], incomplete)


def pools(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of pools."""
    from trainmaster import answers

    page = _asked(ctx, answers.ResourcePools, "/pools")
    return _beginning([(one.name, one.kind) for one in (page.items if page else ())], incomplete)


def workspaces(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of workspaces."""
    from trainmaster import answers

    page = _asked(ctx, answers.WorkspacesView, "/workspaces")
    return _beginning([(one.name, one.description) for one in (page.items if page else ())], incomplete)


def views(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of saved views."""
    from trainmaster import answers

    page = _asked(ctx, answers.SavedViews, "/views")
    return _beginning([(one.name, one.owner) for one in (page.items if page else ())], incomplete)


def datasets(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of data sets, behind @ numbers of versions."""
    from trainmaster import answers

    name, at, _ = incomplete.partition("@")
    page = _asked(ctx, answers.DatasetPage, "/datasets", q=name, limit=MOST)
    found = [(one.name, f"@{one.latest}") for one in (page.items if page else ())]
    if at:
        numbers = [one.latest for one in (page.items if page else ()) if one.name == name]
        found = [(f"{name}@{number}", "") for latest in numbers for number in range(latest, max(0, latest - 20), -1)]
    return _beginning(found, incomplete)


def algorithms(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of algorithms, behind @ numbers of versions."""
    from trainmaster import answers

    name, at, _ = incomplete.partition("@")
    page = _asked(ctx, answers.AlgorithmPage, "/algorithms", q=name, limit=MOST)
    found = [(one.name, f"@{one.latest}") for one in (page.items if page else ())]
    if at:
        numbers = [one.latest for one in (page.items if page else ()) if one.name == name]
        found = [(f"{name}@{number}", "") for latest in numbers for number in range(latest, max(0, latest - 20), -1)]
    return _beginning(found, incomplete)


def templates(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of templates."""
    from trainmaster import answers

    page = _asked(ctx, answers.TemplatePage, "/templates", limit=500)
    return _beginning([(one.name, one.description) for one in (page.items if page else ())], incomplete)


def images(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of images."""
    from trainmaster import answers

    page = _asked(ctx, answers.ImagePage, "/images", limit=500)
    return _beginning([(one.name, one.description) for one in (page.items if page else ())], incomplete)


def sweeps(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of sweeps."""
    from trainmaster import answers

    page = _asked(ctx, answers.SweepPage, "/sweeps", limit=200)
    return _beginning([(one.name, one.owner) for one in (page.items if page else ())], incomplete)


def users(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of users."""
    from trainmaster import answers

    page = _asked(ctx, answers.AccountsView, "/users")
    return _beginning([(one.name, one.role) for one in (page.items if page else ())], incomplete)


def nodes(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of nodes."""
    from trainmaster import answers

    page = _asked(ctx, answers.NodePage, "/nodes")
    return _beginning([(one.name, one.pool) for one in (page.items if page else ())], incomplete)


def flavors(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer names of flavors."""
    from trainmaster import answers

    workspace = ctx.params.get("workspace")
    if not workspace:
        session = _asked(ctx, answers.SessionView, "/session")
        workspace = own_workspace(session.user) if session else "default"
    page = _asked(ctx, answers.Flavors, "/flavors", workspace=workspace)
    return _beginning([(one.name, one.kind) for one in (page.items if page else ())], incomplete)


def own_workspace(user: "answers.UserView") -> str:
    """Return the workspace that `user` means who names none: `default`, but for who is in exactly one other."""
    names = [one.workspace for one in user.workspaces]
    return names[0] if user.role != "admin" and len(names) == 1 else "default"


def states(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer the states of a job."""
    from trainmaster.cli.language import words
    from trainmaster.core.states import SHOWN_NAMES

    return _beginning([(one.value, words(en, zh)) for one, (zh, en) in SHOWN_NAMES.items()], incomplete)


def frameworks(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer the frameworks that launch jobs."""
    from trainmaster.cli.language import words
    from trainmaster.core.framework_kinds import KINDS

    return _beginning([(str(name), words(kind.en, kind.zh)) for name, kind in KINDS.items()], incomplete)


def one_of(*values: str) -> Callable[[typer.Context, str], Offered]:
    """Return what offers these."""

    def offered(ctx: typer.Context, incomplete: str) -> Offered:
        return _beginning([(value, "") for value in values], incomplete)

    return offered


def replicas(ctx: typer.Context, incomplete: str) -> Offered:
    """Offer the replicas of the job that stands before."""
    from trainmaster import answers

    ref = str(ctx.params.get("job") or _job_typed())
    job = _asked(ctx, answers.JobDetail, f"/jobs/{ref}") if ref.isalnum() else None
    names = [f"{role.name}-{at}" for role in (job.roles if job else ()) for at in range(min(role.replicas, MOST))]
    return _beginning([(name, "") for name in names], incomplete)


def _job_typed() -> str:
    """Return the first word behind the command that is no option: what click drops where the last option still lacks
    its value.
    """
    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    behind = dropwhile(lambda word: word not in ("logs", "exec"), typed.split())
    return next((word for word in [*behind][1:] if not word.startswith("-")), "")


def _beginning(found: Sequence[tuple[str, str]], incomplete: str) -> Offered:
    return [(name, about) for name, about in found if name.startswith(incomplete)]


def _asked(ctx: typer.Context, kind: type[T], path: str, **params: Any) -> T | None:
    """Return the server's answer, None where there is none in time."""
    from contextlib import suppress

    with suppress(Exception), _client(ctx) as server:  # a shell that waits for a name shows nothing of what is wrong
        return server.http.read(kind, "GET", path, params=params, repeat=False, timeout=PATIENCE_S)
    return None


def _client(ctx: typer.Context) -> "Client":
    """Return the client of the server that the global options before the command name, or the environment."""
    from trainmaster.sdk.client import Client

    given: dict[str, Any] = ctx.find_root().params
    url, folder = given.get("url"), given.get("home")
    return Client(url=url, token=given.get("token"), home=None if url else folder, ca=given.get("ca"))
