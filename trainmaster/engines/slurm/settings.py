"""What is said of a Slurm cluster in its `[[engines]]`, as typed data. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class SlurmEngineConfig:
    """`[[engines]]` of the kind slurm.

    `partitions`: which partition a pool is, by the name of the pool; one that is not named here is the partition of its
    own name. `conf`: the cluster's slurm.conf, "": as this machine has it. `programs`: the folder of sbatch and the
    others, "": as PATH finds them. `account`, `qos`, `reservation`, `features`: asked for with every job. `nice`: how
    far below their place jobs of the class normal stand in Slurm's order; urgent ones half of it, very urgent ones not
    at all. `python`: what runs our part on the nodes, 3.9 or newer. `environment`: prefix of the Python environment
    that tasks see first, on the nodes. `sandbox`: as in `[local]`. `card_features`: those features of nodes that name
    the model of their cards, where the cluster's cards have no type. `driver_feature`: how the features begin that name
    the version of the driver, as driver-535.104.05 does. `rest`: where slurmrestd listens, ``unix:/its/socket`` or a
    URL: jobs, nodes and partitions are then read from there; "": by Slurm's programs. `rest_token`: the file of its
    token, "": none is needed.
    `scratch`: where the nodes share no folder with the server, a folder of each node's own: what jobs need is then
    brought there and what they make fetched, through srun; "": `server.data` is a folder that all share. `fetch_s`: for
    how long a node then waits for a server that gets no further, at the start of a job and with what it made.
    `run_as`: the system user of jobs: service (the server's own) or owner (that of the person who submitted). `users`:
    which system user a person is; one who is not named here is the system user of the same name.
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
    sandbox: Literal["auto", "bubblewrap", "none"] = "auto"
    partitions: Mapping[str, str] = field(default_factory=dict)
    scratch: str = ""
    fetch_s: float = 600.0
    run_as: Literal["service", "owner"] = "service"
    users: Mapping[str, str] = field(default_factory=dict)
