"""A Slurm cluster as a kind of engine."""

from collections.abc import Iterator

from trainmaster.core.config import Config, EngineConfig
from trainmaster.core.folders.layout import Layout
from trainmaster.engines.adding import Adding, EngineToAdd, Examination, Option
from trainmaster.engines.base import Engine
from trainmaster.engines.kinds import EngineKind
from trainmaster.engines.slurm.messages import slurm
from trainmaster.engines.slurm.settings import SlurmEngineConfig
from trainmaster.messages.said import Said


def _make(own: EngineConfig, layout: Layout, config: Config) -> Engine:
    # Imported here, because reading the configuration loads the kind and needs no engine.
    from trainmaster.engines.slurm.engine import SlurmEngine  # noqa: PLC0415

    return SlurmEngine(own.name, own.settings, layout, config, own.pools)


def _problems(settings: SlurmEngineConfig) -> Iterator[tuple[str, Said]]:
    if settings.scratch and settings.run_as == "owner":
        yield "scratch", slurm.scratch_not_of_owners()


def _examine(wanted: EngineToAdd) -> Examination:
    # Imported here: only `tm engine add` and `check` look at the cluster.
    from trainmaster.engines.slurm.checks import examine  # noqa: PLC0415

    return examine.ClusterExamination(wanted)


ADDING = Adding(
    (
        Option("scratch", "Folder that each node has for its own, where they share none with the server.", "DIR"),
        Option("conf", "The cluster's slurm.conf.", "FILE"),
        Option("programs", "Folder of sbatch and the others.", "DIR"),
        Option("python", "Python on the nodes, 3.9 or newer.", "PATH"),
        Option("environment", "Python environment of tasks, on the nodes.", "PREFIX"),
        Option("sandbox", "How tasks are kept apart: auto, bubblewrap or none."),
        Option("account", "Slurm account to submit with."),
        Option("qos", "Quality of service to submit with."),
        Option("reservation", "Reservation to use."),
        Option("features", "Feature that nodes must have; repeatable.", name="feature"),
        Option("rest", "Read the cluster from slurmrestd there: unix:/its/socket or a URL.", "PLACE"),
        Option("rest_token", "File of slurmrestd's token, where it wants one.", "FILE"),
    ),
    _examine,
    "tm engine add slurm alps --data /shared/trainmaster --pool gpu --pool long=batch",
    places="partitions",
    place="partition",
)
KIND = EngineKind("slurm", slurm.slurm_cluster(), _make, SlurmEngineConfig, _problems, adding=ADDING)
