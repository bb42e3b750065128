"""The administrator's settings as typed data; parsed from HOME/config.toml by service/wiring. Pure.

Every key is documented here; unknown keys are refused with the list of known ones. All have defaults: an empty file is a
complete configuration.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """`[server]`. `database` empty: SQLite in HOME; else a PostgreSQL URL. `allowed_hosts`: Host headers besides loopback.

    `trusted_proxies`: addresses and networks of proxies in front, whose X-Forwarded-For and X-Forwarded-Proto are believed.
    `data`: absolute path of the folder in which uploads, jobs and models lie, for example on a file system that a cluster
    shares; "": HOME. The ledger, sockets and secrets always lie in HOME.
    """

    host: str = "127.0.0.1"
    port: int = 8470
    database: str = ""
    allowed_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    data: str = ""


@dataclass(frozen=True, slots=True)
class VirtualNode:
    """`[[local.nodes]]`: `count` equal virtual nodes; `cpu` and `memory_mib` 0: an equal share of the host.

    `gpus` simulated cards of model `gpu_type`. `slices` N > 0: each card is shown as N slices of model `slice_type`
    ("" = `gpu_type` with ".sN" behind it). `driver`, `os`, `kernel` "": those of the host. `pool`: where they begin.
    """

    count: int = 1
    cpu: float = 0.0
    memory_mib: int = 0
    gpus: int = 0
    gpu_type: str = "simulated"
    slices: int = 0
    slice_type: str = ""
    driver: str = ""
    os: str = ""
    kernel: str = ""
    pool: str = "default"


@dataclass(frozen=True, slots=True)
class LocalConfig:
    """`[local]`: the machine as nodes.

    virtual_nodes 0: this host is one node with all it has. N > 0: N nodes named node-1.. that share the host, each with
    `cpu` cores and `memory_mib` (0: an equal share of the host) and `simulated_gpus` cards of model `gpu_type` (or an
    equal share of the real cards when 0). Virtual nodes have the addresses 127.0.0.2, 127.0.0.3, ...
    `nodes`: virtual nodes that differ from one another, in place of `virtual_nodes` and `simulated_gpus`.
    `cpu` and `memory_mib` also override what is found for the single host node; `overcommit_cpu` multiplies cores offered.
    `sandbox`: auto (bubblewrap when it works, else none and said so), bubblewrap (required), none.
    `network`: shared (by all tasks of this machine), private (each job has a loopback of its own and no way out; needs the sandbox).
    `cgroups`: auto, off. `mount_roots`: host folders whose contents jobs may mount by path.
    `environment`: folder of the Python environment tasks see first on PATH ("" = the one the server runs in).
    """

    virtual_nodes: int = 0
    cpu: float = 0.0
    memory_mib: int = 0
    simulated_gpus: int = 0
    gpu_type: str = "simulated"
    nodes: tuple[VirtualNode, ...] = ()
    overcommit_cpu: float = 1.0
    sandbox: str = "auto"
    network: str = "shared"
    cgroups: str = "auto"
    mount_roots: tuple[str, ...] = ()
    environment: str = ""
    port_first: int = 21000
    port_last: int = 28999


@dataclass(frozen=True, slots=True)
class LimitsConfig:
    """`[limits]`. Sizes in MiB, times in seconds; 0 means no limit where that makes sense.

    A log larger than `log_mib` keeps its head (a quarter) and its tail. `disk_mib` is the budget of one job's folder, `inodes` of the
    files in it; `disk_share` (0..1) is the part of all the disk's bytes and files that one job may take whatever they say.
    `reserve_mib` is kept free for ends, stops and deletions; a sixteenth of the disk where that is less. With less than that free
    nothing is accepted or started, and the job that fills the disk is ended.
    `processes` is the limit of processes and threads of one task. `sample_s` is the usage sampling period.
    `keys_s` is how long the answer to a request with an idempotency key is known, `uploads_s` how long an upload is kept that no job
    names; 0: for ever.
    `model_mib` is the most that a model version may take on the disk, `save_s` how long saving it may take.
    """

    log_mib: int = 1024
    disk_mib: int = 0
    inodes: int = 0
    disk_share: float = 0.5
    reserve_mib: int = 64
    processes: int = 4096
    max_duration_s: float = 0.0
    max_debug_hold_s: float = 4 * 3600.0
    max_upload_mib: int = 200
    max_queued: int = 200_000
    sample_s: float = 2.0
    keys_s: float = 30 * 86400.0
    uploads_s: float = 30 * 86400.0
    model_mib: int = 1 << 20
    save_s: float = 6 * 3600.0


MOST_PENDING: Final = 1000


@dataclass(frozen=True, slots=True)
class LocalEngineConfig:
    """What `[[engines]]` of the kind local asks for beside: nothing, `[local]` says it."""


@dataclass(frozen=True, slots=True)
class SlurmEngineConfig:
    """`[[engines]]` of the kind slurm.

    `partitions`: which partition a pool is, by the name of the pool; one that is not named here is the partition of its own name.
    `conf`: the cluster's slurm.conf, "": as this machine has it. `programs`: the folder of sbatch and the others, "": as PATH
    finds them. `account`, `qos`, `reservation`, `features`: asked for with every job. `nice`: how far below their place jobs of the
    class normal stand in Slurm's order; urgent ones half of it, very urgent ones not at all. `python`: what runs our part on the nodes,
    3.9 or newer. `environment`: prefix of the Python environment that tasks see first, on the nodes. `sandbox`: as in `[local]`.
    `card_features`: those features of nodes that name the model of their cards, where the cluster's cards have no type.
    `driver_feature`: how the features begin that name the version of the driver, as driver-535.104.05 does.
    `rest`: where slurmrestd listens, ``unix:/its/socket`` or a URL: jobs, nodes and partitions are then read from there; "": by
    Slurm's programs. `rest_token`: the file of its token, "": none is needed.
    `scratch`: where the nodes share no folder with the server, a folder of each node's own: what jobs need is then brought there and
    what they make fetched, through srun; "": `server.data` is a folder that all share. `fetch_s`: for how long a node then waits for a
    server that gets no further, at the start of a job and with what it made.
    `run_as`: the system user of jobs: service (the server's own) or owner (that of the person who submitted). `users`: which system
    user a person is; one who is not named here is the system user of the same name.
    """

    conf: str = ""
    programs: str = ""
    account: str = ""
    qos: str = ""
    nice: int = 0
    reservation: str = ""
    features: tuple[str, ...] = ()
    card_features: tuple[str, ...] = ()
    driver_feature: str = "driver-"
    rest: str = ""
    rest_token: str = ""
    python: str = "/usr/bin/python3"
    environment: str = ""
    sandbox: str = "auto"
    partitions: Mapping[str, str] = field(default_factory=dict)
    scratch: str = ""
    fetch_s: float = 600.0
    run_as: str = "service"
    users: Mapping[str, str] = field(default_factory=dict)


ENGINE_KINDS: Final[dict[str, type[Any]]] = {"local": LocalEngineConfig, "slurm": SlurmEngineConfig}
"""The kinds of engines, and what each asks for in its `[[engines]]` beside `name`, `kind` and `pools`."""


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """`[[engines]]`: where jobs run, one for each cluster; without any: this machine.

    `pools`: names of those that live there; the first engine has every pool that no other names. `most_pending`: how many jobs
    of each pool may wait in the own queue of a cluster; more wait here, in our order. What else may stand here depends on
    `kind`.
    """

    name: str = "local"
    kind: str = "local"
    pools: tuple[str, ...] = ()
    most_pending: int = MOST_PENDING
    settings: Any = field(default_factory=LocalEngineConfig)


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration."""

    server: ServerConfig = field(default_factory=ServerConfig)
    local: LocalConfig = field(default_factory=LocalConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    engines: tuple[EngineConfig, ...] = field(default_factory=lambda: (EngineConfig(),))
