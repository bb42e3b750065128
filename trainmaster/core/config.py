"""The administrator's settings as typed data; parsed from HOME/config.toml by service/wiring. Pure.

Every key is documented here; unknown keys are refused with the list of known ones. All have defaults: an empty file is
a complete configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Literal

from trainmaster._compat import dataclass


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """`[server]`. `database` empty: SQLite in HOME; else a PostgreSQL URL. `allowed_hosts`: Host headers besides
    loopback. `address`: host, or host and port, at which the other servers of the same home reach this one; "": where
    it listens. Needed with `--standby` where `host` stands for every address.

    `trusted_proxies`: addresses and networks of proxies in front, whose X-Forwarded-For and X-Forwarded-Proto are
    believed. `data`: absolute path of the folder in which uploads, jobs, models and data sets lie, for example on a
    file system that a cluster shares; "": HOME. The ledger, sockets and secrets always lie in HOME. `log_format`: how
    the log on standard error is written: text (lines for people), json (an object a line).
    """

    host: str = "127.0.0.1"
    port: int = 8470
    address: str = ""
    database: str = ""
    allowed_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    data: str = ""
    log_format: Literal["text", "json"] = "text"

    @property
    def shared(self) -> bool:
        """Whether several servers may use the database."""
        return self.database.startswith("postgresql")


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
    equal share of the real cards when 0). Virtual nodes have the addresses 127.0.0.2, 127.0.0.3, ... `nodes`: virtual
    nodes that differ from one another, in place of `virtual_nodes` and `simulated_gpus`. `cpu` and `memory_mib` also
    override what is found for the single host node; `overcommit_cpu` multiplies cores offered. `sandbox`: auto
    (bubblewrap when it works, else none and said so), bubblewrap (required), none. `network`: shared (by all tasks of
    this machine), private (each job has a loopback of its own and no way out; needs the sandbox). `cgroups`: auto, off.
    `mount_roots`: host folders whose contents jobs may mount by path.
    `environment`: folder of the Python environment tasks see first on PATH ("" = the one the server runs in).
    `containers`: socket of Docker or Podman from which container images are taken ("" = none are). Whoever reaches it
    is root of the machine: the server does, the jobs do not.
    `cache_folder`: absolute path of a folder on fast storage, to which inputs are copied of which a job says
    ``cache: true`` ("" = none are); no job sees it otherwise. `cache_mib` is what the copies may take together (0 =
    what the disk has beyond `limits.reserve_mib`), `cache_days` how long one is kept that nobody uses (0 = until room
    is needed).
    """

    virtual_nodes: int = 0
    cpu: float = 0.0
    memory_mib: int = 0
    simulated_gpus: int = 0
    gpu_type: str = "simulated"
    nodes: tuple[VirtualNode, ...] = ()
    overcommit_cpu: float = 1.0
    sandbox: Literal["auto", "bubblewrap", "none"] = "auto"
    network: Literal["shared", "private"] = "shared"
    cgroups: Literal["auto", "off"] = "auto"
    mount_roots: tuple[str, ...] = ()
    environment: str = ""
    containers: str = ""
    cache_folder: str = ""
    cache_mib: int = 0
    cache_days: float = 7.0
    port_first: int = 21000
    port_last: int = 28999


@dataclass(frozen=True, slots=True)
class LimitsConfig:
    """`[limits]`. Sizes in MiB, times in seconds; 0 means no limit where that makes sense.

    A log larger than `log_mib` keeps its head (a quarter) and its tail. `disk_mib` is the budget of one job's folder,
    `inodes` of the files in it; `disk_share` (0..1) is the part of all the disk's bytes and files that one job may take
    whatever they say. `reserve_mib` is kept free for ends, stops and deletions; a sixteenth of the disk where that is
    less. With less than that free nothing is accepted or started, and the job that fills the disk is ended.
    `processes` is the limit of processes and threads of one task. `sample_s` is the usage sampling period. `keys_s` is
    how long the answer to a request with an idempotency key is known, `uploads_s` how long an upload is kept that no
    job names; 0: for ever.
    `model_mib` is the most that a model version may take on the disk, `save_s` how long saving it may take.
    `environments_mib` is what the Python environments of images may take together: those that were used longest ago
    are removed, and made again when a job needs them. `build_s`, `build_mib` and `build_memory_mib` are the time, the
    disk and the memory that making one of them may take.
    `dataset_mib` is the most that a version of a data set, or an input from object storage, may hold; `fetched_mib` is
    what was fetched from there may take together: what was used longest ago is removed, and fetched again.
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
    environments_mib: int = 64 * 1024
    build_s: float = 3600.0
    build_mib: int = 32 * 1024
    build_memory_mib: int = 4096
    dataset_mib: int = 1 << 20
    fetched_mib: int = 1 << 20


@dataclass(frozen=True, slots=True)
class RetentionConfig:
    """`[retention]`: for how many days something is kept; 0: for ever. What would be removed is said by
    ``tm retention``.

    `jobs_days`: jobs after their end, with logs and files; saved models stay. `logs_days`: only the logs of jobs that
    ended. `audit_days`: what people did; jobs keep their own events. `bin_days`: what was deleted and can be restored
    until then. Keys and uploads: `keys_s` and `uploads_s` of
    `[limits]`.
    """

    jobs_days: float = 0.0
    logs_days: float = 0.0
    audit_days: float = 0.0
    bin_days: float = 7.0


@dataclass(frozen=True, slots=True)
class MoneyConfig:
    """`[money]`. `currency`: the name of the one currency in which prices, balances and budgets are; it converts
    nothing. `time_zone`: in which the months of reports and budgets begin and end, by its name in the IANA database.
    """

    currency: str = "CNY"
    time_zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class MailConfig:
    """`[mail]`: the server that takes the platform's mails; `host` "": none is sent.

    `tls`: starttls (encrypted after a greeting), tls (from the first byte), none. `user` and `password_file`: how we
    sign in there, "" not at all. `sender`: the address that mails come from; `ca`: file of the certificates that are
    trusted, "" those of the system. `link`: the console's address as people type it, which stands in mails and in what
    webhooks are sent; "": as the server listens.
    """

    host: str = ""
    port: int = 587
    tls: Literal["starttls", "tls", "none"] = "starttls"
    user: str = ""
    password_file: str = ""
    sender: str = ""
    ca: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class WebhooksConfig:
    """`[webhooks]`. `allow`: addresses and networks to which webhooks may go although they are not public; `http`:
    whether they may go unencrypted; `ca`: file of the certificates that are trusted, "" those of the system.
    """

    allow: tuple[str, ...] = ()
    http: bool = False
    ca: str = ""


@dataclass(frozen=True, slots=True)
class StorageConfig:
    """`[storage]`: object storage (S3). `allow`: hosts, addresses and networks that storage connections may go to
    although they are not public, and unencrypted; `ca`: file of the certificates that are trusted, "" those of the
    system. `send_every_s`: between two looks at what running jobs wrote; what changed since the last one waits.

    `region`: the one that the nodes are in, "": not said. `other_regions`: whether a job that names a bucket in another
    region is warned or refused.
    """

    allow: tuple[str, ...] = ()
    ca: str = ""
    send_every_s: float = 15.0
    region: str = ""
    other_regions: Literal["warn", "refuse"] = "warn"


@dataclass(frozen=True, slots=True)
class OidcConfig:
    """`[sign_in.oidc]`: a provider (OpenID Connect) through which people sign in. `issuer`: as the provider names
    itself; "": there is none. `client_id`: what it calls this server. Its secret: in `client_secret_file` (relative: to
    HOME), or in the variable `client_secret_env` of the server's environment; neither: a public client. `ca_file`:
    certificates by which the provider is known; "": those of the system. `label`: what the button says; "": the
    issuer's host.

    `name_claim`: of which claim a new account's name is made. `groups_claim`: the claim with a person's groups;
    `groups`: what each gives, group -> "workspace:role, ..."; `admin_groups`: whose members administer the platform;
    `everybody`: what all give who can sign in there, "": who is in no such group gets no account.
    """

    issuer: str = ""
    client_id: str = ""
    client_secret_file: str = ""
    client_secret_env: str = ""
    ca_file: str = ""
    label: str = ""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    name_claim: str = "preferred_username"
    groups_claim: str = "groups"
    groups: Mapping[str, str] = field(default_factory=dict)
    admin_groups: tuple[str, ...] = ()
    everybody: str = ""


@dataclass(frozen=True, slots=True)
class SignInConfig:
    """`[sign_in]`. `password`: whether one can sign in with name and password; off only beside `[sign_in.oidc]`."""

    password: bool = True
    oidc: OidcConfig = field(default_factory=OidcConfig)


MOST_PENDING: Final = 1000


@dataclass(frozen=True, slots=True)
class NoSettings:
    """What `[[engines]]` of a kind asks for that needs nothing beside."""


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """`[[engines]]`: where jobs run, one for each cluster; without any: this machine.

    `pools`: names of those that live there; the first engine has every pool that no other names. `most_pending`: how
    many jobs of each pool may wait in the own queue of a cluster; more wait here, in our order. What else may stand
    here depends on `kind`: see engines.kinds.
    """

    name: str = "local"
    kind: str = "local"
    pools: tuple[str, ...] = ()
    most_pending: int = MOST_PENDING
    settings: Any = field(default_factory=NoSettings)


@dataclass(frozen=True, slots=True)
class Config:
    """The whole configuration."""

    server: ServerConfig = field(default_factory=ServerConfig)
    local: LocalConfig = field(default_factory=LocalConfig)
    limits: LimitsConfig = field(default_factory=LimitsConfig)
    retention: RetentionConfig = field(default_factory=RetentionConfig)
    money: MoneyConfig = field(default_factory=MoneyConfig)
    mail: MailConfig = field(default_factory=MailConfig)
    webhooks: WebhooksConfig = field(default_factory=WebhooksConfig)
    storage: StorageConfig = field(default_factory=StorageConfig)
    sign_in: SignInConfig = field(default_factory=SignInConfig)
    engines: tuple[EngineConfig, ...] = field(default_factory=lambda: (EngineConfig(),))
