"""Joins the routes to one ASGI application. The only place that knows them all.

Order is meaning: the submits come first (they are asked most), the console's catch-all last. The application refuses to
be made when a route has no policy.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from trainmaster.api import problems, static
from trainmaster.api.auth import gate
from trainmaster.api.desk import Desk
from trainmaster.api.policy import Table, check_policies, express
from trainmaster.api.routes import (
    cluster,
    entering,
    feed,
    files,
    health,
    jobs,
    models,
    pools,
    queue,
    session,
    upkeep,
    uploads,
    watch,
    workspaces,
)
from trainmaster.api.routes.assets import (
    algorithms,
    bin,
    dataset_uploads,
    datasets,
    images,
    subscriptions,
    templates,
    volumes,
)
from trainmaster.api.routes.finding import compare, lineage, marks, search
from trainmaster.api.routes.money import balances, reports
from trainmaster.api.routes.notices import notifications, webhooks
from trainmaster.api.routes.people import accounts, invitations, secrets, sign_ins, ssh_keys, storage
from trainmaster.api.routes.personal import home
from trainmaster.api.routes.sweeps import sweeps
from trainmaster.api.socket.front import Front, Hosts
from trainmaster.api.socket.proxies import Proxies
from trainmaster.api.socket.servers import Servers
from trainmaster.core.errors import TrainmasterError
from trainmaster.service.folders.secret_files import servers_secret
from trainmaster.storage.logs.follow import Follower

if TYPE_CHECKING:
    from trainmaster.api.socket.forwarding import Forwarding
    from trainmaster.service.failover import Failover
    from trainmaster.service.platform import Platform

TABLES: Final[tuple[Table, ...]] = (
    marks.routes, jobs.routes, watch.routes, entering.routes, files.routes, feed.routes, session.routes,
    sign_ins.routes, ssh_keys.routes, cluster.routes, pools.routes, search.routes, workspaces.routes, accounts.routes,
    secrets.routes, storage.routes, invitations.routes, reports.routes, balances.routes, notifications.routes,
    webhooks.routes, queue.routes, models.routes, templates.routes, datasets.routes, dataset_uploads.routes,
    subscriptions.routes,
    algorithms.routes, volumes.routes, bin.routes, images.routes, sweeps.routes, uploads.routes, upkeep.routes,
    home.routes, compare.routes, lineage.routes,
    health.routes, static.routes,
)  # fmt: skip


def create_app(platform: "Platform", tables: tuple[Table, ...] = TABLES, failover: "Failover | None" = None) -> Front:
    """Return the ASGI application of `platform`, which starts and closes with it; with `failover`, of whichever it has
    at the moment.

    Set `app.state.closing` (an asyncio.Event) to end all live views before the server closes. Raises TypeError when a
    route has no policy.
    """

    @asynccontextmanager
    async def life() -> AsyncIterator[None]:
        serving = failover or platform
        await serving.start()
        if failover is None:
            await platform.announce()
        try:
            yield
        finally:
            inner.state.closing.set()
            await serving.close()
            if forwarding is not None:
                await forwarding.close()

    inner = FastAPI(
        title="Trainmaster",
        version=platform.version,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lambda _: life(),
        exception_handlers={
            TrainmasterError: problems.on_known,
            RequestValidationError: problems.on_validation,
            HTTPException: problems.on_http,
            ClientDisconnect: problems.on_gone,
            Exception: problems.on_unknown,
        },
    )
    inner.state.platform = platform
    servers = Servers(servers_secret(platform.layout)) if platform.config.server.shared else None
    forwarding: Forwarding | None = None
    if failover is not None and servers is not None:
        forwarding = _standing_by(inner, failover, servers)
    inner.state.forwarding = forwarding
    inner.state.console = static.Console()
    inner.state.closing = asyncio.Event()
    inner.state.follower, inner.state.desk = Follower(), Desk()
    inner.router.routes[:] = [make(gate) for table in tables for make in table.makers]
    check_policies(inner.router.routes)
    server = platform.config.server
    front = Front(
        inner,
        Hosts(server.host, server.allowed_hosts),
        Proxies(server.trusted_proxies),
        servers,
        life,
        express(inner.router.routes),
    )
    inner.state.connections = front.connections
    return front


def _standing_by(app: FastAPI, failover: "Failover", servers: Servers) -> "Forwarding":
    """Let `app` answer with whichever platform `failover` has; return what hands requests to the server that leads."""
    from trainmaster.api.socket.forwarding import Forwarding  # noqa: PLC0415 - an HTTP client costs memory

    def changed(platform: "Platform") -> None:
        app.state.platform = platform
        app.state.closing.set()  # live views hang on the former platform: end them, clients ask again
        app.state.closing = asyncio.Event()

    failover.on_change.append(changed)
    return Forwarding(servers, lambda: failover.leader)
