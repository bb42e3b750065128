"""What an engine may do beside what all do (`base.Engine`): each a small interface, which it has or has not.

An engine implements what it can do and nothing else. The server asks `Engines.abilities` once which of them it has, by
the names of the methods alone; nobody else looks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, Self, runtime_checkable

from trainmaster.core.errors import Problem
from trainmaster.core.launch import Asked, Gang
from trainmaster.core.records import Role
from trainmaster.engines.base import CardUsage, Engine, Refused, Terminal, Waiting, Window
from trainmaster.engines.findings import GangFindings
from trainmaster.messages.assets import caching, containers
from trainmaster.messages.jobs import rules
from trainmaster.messages.said import Said


@runtime_checkable
class Estimates(Protocol):
    """It foresees what becomes of jobs in its own queue."""

    def objections(self, roles: Sequence[Role], asked: Asked) -> tuple[Problem, ...]:
        """Return what speaks against ever running `roles` so, by what is known of the machines already; paths are those
        of a document.

        Asked at every submit: costs no question to the machines. What only they can say is said by `estimate`.
        """
        ...

    async def estimate(self, gang: Gang) -> Waiting | Refused:
        """Return what would become of `gang` in the engine's own queue now, and leave nothing there.

        Waiting: it would be taken; where nothing keeps it waiting `starts_at` is now. Refused: it would not be taken,
        or never start. Raises Unavailable.
        """
        ...


@runtime_checkable
class ChecksGangs(Protocol):
    """Not everything that a gang carries can be done there: image and credentials, variables, mounts, chosen nodes."""

    def check_gang(self, gang: Gang) -> GangFindings:
        """Return what of `gang`, which is placed nowhere yet (`asked`, no placement), is not carried out. Pure.

        Asked at every preview and submit: costs no question to the machines. An engine without this carries out all.
        What speaks against a job's size and time is said by `Estimates.objections`, for each of its flavors.
        """
        ...


@runtime_checkable
class Announces(Protocol):
    """It can use the time between a decision and its being on disk."""

    def announce(self, gang: Gang) -> None:
        """Make ready for a `launch` of `gang` that may follow; nothing of the user's starts yet."""
        ...


@runtime_checkable
class TakesSecrets(Protocol):
    """It brings secrets to tasks: into variables and files that are in no command line, and out of the log."""

    async def launch_with(self, gang: Gang, values: Mapping[str, str]) -> None:
        """Launch a gang that has `secrets`, as `launch` does one that has none. `values`: theirs, by name. They reach
        its tasks alone and are masked in what those print; nothing else that lasts ever holds one. Raises like
        `launch`.
        """
        ...


@runtime_checkable
class ShowsEnvironments(Protocol):
    """Its tasks can have the Python environment of an image of the platform (`Gang.environment`) instead of its own."""

    def no_environments(self) -> Said | None:
        """Return why they cannot as it is configured, None when they can. Costs no question to the machines."""
        ...


@runtime_checkable
class ShowsContainers(Protocol):
    """Its tasks can have the files of a container image (`Gang.environment`) in place of their node's."""

    def no_containers(self) -> Said | None:
        """Return why they cannot now, None when they can. Costs no question to the machines."""
        ...


@runtime_checkable
class CachesInputs(Protocol):
    """Its nodes have fast storage, to which inputs can be copied that never change (`core.launch.Mount.cache`)."""

    def no_cache(self) -> Said | None:
        """Return why they have none now, None when they have. Costs no question to the machines."""
        ...

    async def cache_inputs(self, gang: Gang, tell: Callable[[Said], bool]) -> tuple[Said, ...]:
        """Let the inputs of `gang` that are to be cached be on the nodes of its placement before its launch; return why
        some are not: they are read where they lie.

        `tell`: told every second how far it is; returns whether it is still wanted. Idempotent. Raises Unavailable.
        """
        ...


@runtime_checkable
class Adjusts(Protocol):
    """What waits or runs in its own queue can be changed."""

    async def adjust(self, attempt: str, asked: Asked) -> None:
        """Take in that this is asked for a launched attempt now: its limit or its priority were changed. Nothing
        happens for one that is not known.
        """
        ...


@runtime_checkable
class Attaches(Protocol):
    """Its tasks can be entered."""

    async def attach(
        self, attempt: str, role: int, index: int, argv: Sequence[str], window: Window | None, *, kept: bool = False
    ) -> Terminal:
        """Run `argv` inside the running task, as one of its own processes; `window`: on a terminal of that size, None:
        on none.

        `kept`: the task may have ended, and its attempt is held: it is entered with all that is left of it. The command
        ends with the task or the attempt at the latest, and keeps neither from ending. Raises Conflict when there is
        nothing to enter, Unavailable. What goes wrong later is said on the error stream, and by exit code 125
        (agent/enter).
        """
        ...


@runtime_checkable
class Measures(Protocol):
    """It sees how busy cards are."""

    def card_usage(self) -> Mapping[str, Sequence[CardUsage]]:
        """Return by node how busy its real cards are, by index; nothing where nothing is measured. May block."""
        ...


@runtime_checkable
class ChecksOwners(Protocol):
    """Not everybody's jobs can run there."""

    async def owner_problem(self, owner: str) -> Problem | None:
        """Return why jobs of `owner`, one of our people, cannot run here, None when they can. Raises Unavailable."""
        ...


@runtime_checkable
class Occupies(Protocol):
    """Its tasks see some folders of the machine at the same paths."""

    def places(self) -> tuple[str, ...]:
        """Return the folders that tasks see at the machine's own paths, as far as known: no job can mount there."""
        ...


@runtime_checkable
class KeepsAgent(Protocol):
    """A process beside the server that outlives it, and must suit it."""

    def demand_agent(self) -> None:
        """Return when the agent can be used, starting or replacing it; blocking. Raises Unavailable when it cannot."""
        ...


_WITH_IMAGE: Final = Gang(
    job="t" + "0" * 32,
    attempt=1,
    name="image",
    user="",
    framework="single",
    roles=(),
    commands=(),
    placement=(),
    asked=Asked(""),
    image="image",
)


@dataclass(frozen=True, slots=True)
class Abilities:
    """What one engine can do: itself for each interface that it has, None for each that it has not."""

    estimates: Estimates | None
    checks_gangs: ChecksGangs | None
    announces: Announces | None
    takes_secrets: TakesSecrets | None
    shows_environments: ShowsEnvironments | None
    shows_containers: ShowsContainers | None
    caches_inputs: CachesInputs | None
    adjusts: Adjusts | None
    attaches: Attaches | None
    measures: Measures | None
    checks_owners: ChecksOwners | None
    occupies: Occupies | None
    keeps_agent: KeepsAgent | None

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """Return what `engine` can do."""
        return cls(
            estimates=engine if isinstance(engine, Estimates) else None,
            checks_gangs=engine if isinstance(engine, ChecksGangs) else None,
            announces=engine if isinstance(engine, Announces) else None,
            takes_secrets=engine if isinstance(engine, TakesSecrets) else None,
            shows_environments=engine if isinstance(engine, ShowsEnvironments) else None,
            shows_containers=engine if isinstance(engine, ShowsContainers) else None,
            caches_inputs=engine if isinstance(engine, CachesInputs) else None,
            adjusts=engine if isinstance(engine, Adjusts) else None,
            attaches=engine if isinstance(engine, Attaches) else None,
            measures=engine if isinstance(engine, Measures) else None,
            checks_owners=engine if isinstance(engine, ChecksOwners) else None,
            occupies=engine if isinstance(engine, Occupies) else None,
            keeps_agent=engine if isinstance(engine, KeepsAgent) else None,
        )

    @property
    def no_environments(self) -> Said | None:
        """Why tasks cannot have the environment of an image of the platform, None when they can."""
        return rules.environments_not_shown() if (can := self.shows_environments) is None else can.no_environments()

    @property
    def no_containers(self) -> Said | None:
        """Why tasks cannot have the files of a container image, None when they can."""
        return containers.containers_not_here() if (can := self.shows_containers) is None else can.no_containers()

    @property
    def no_cache(self) -> Said | None:
        """Why inputs cannot be cached on nodes, None when they can."""
        return caching.cache_not_here() if (can := self.caches_inputs) is None else can.no_cache()

    @property
    def images(self) -> bool:
        """Whether tasks run in the container image that they name: nothing else is said of one."""
        findings = self.checks_gangs.check_gang(_WITH_IMAGE) if self.checks_gangs is not None else GangFindings()
        return not any(one.path == "image" for one in (*findings.problems, *findings.warnings))
