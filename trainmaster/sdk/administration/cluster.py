"""Pools, nodes, workspaces, flavors, the queue, the audit and retention of one server: what `Client.admin` offers.
Synchronous.

Limits are written as ``{"gpu": 8}`` (guaranteed, borrowing without end) or ``{"gpu": (8, 16)}`` (guaranteed, at most).
Every method raises Forbidden for who may not, NotFound, InvalidSpec with all problems, Unavailable.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from trainmaster import answers

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport

T = TypeVar("T")
Most = Mapping[str, float | None]
Limits = Mapping[str, float | tuple[float, float | None]]


class ClusterCalls:
    """See the module."""

    def __init__(self, http: "Transport") -> None:
        self._http = http

    # -- engines -----------------------------------------------------------------------------------------------

    def engines(self) -> list[answers.EngineView]:
        """Return what runs the jobs: this machine and clusters, each with its pools, its nodes and whether it
        answers.
        """
        return self._http.read(answers.EnginesView, "GET", "/engines").items

    # -- nodes -------------------------------------------------------------------------------------------------

    def nodes(self) -> list[answers.NodeDetail]:
        """Return all nodes: what they are, whether they are in service, what is used of them."""
        return self._http.read(answers.NodePage, "GET", "/nodes").items

    def node(self, name: str) -> answers.NodeDetail:
        """Return one node."""
        return self._read(answers.NodeDetail, "GET", f"/nodes/{word(name)}")

    def cordon(self, node: str, note: str = "") -> answers.NodeDetail:
        """Start nothing on a node any more; what runs there goes on."""
        return self._read(answers.NodeDetail, "POST", f"/nodes/{word(node)}/cordon", {"note": note})

    def uncordon(self, node: str) -> answers.NodeDetail:
        """Put a node into service again."""
        return self._read(answers.NodeDetail, "POST", f"/nodes/{word(node)}/uncordon")

    def drain(self, node: str, note: str = "", evict: str = "preemptible") -> answers.NodeDetail:
        """Cordon a node and let it become empty; `evict` (none, preemptible, all) jobs go back to the queue."""
        return self._read(answers.NodeDetail, "POST", f"/nodes/{word(node)}/drain", {"note": note, "evict": evict})

    def move_node(self, node: str, pool: str) -> answers.NodeDetail:
        """Move a node to another pool; what runs there goes on."""
        return self._read(answers.NodeDetail, "PATCH", f"/nodes/{word(node)}", {"pool": pool})

    def resources(
        self, flavors: Sequence[str] = (), workspace: str = "default", pool: str = ""
    ) -> answers.ClusterResources:
        """Return the nodes that fit the flavors (all without any), and what the queue asks for of every card model."""
        params = {"flavors": [*flavors], "workspace": workspace, "pool": pool}
        return self._http.read(answers.ClusterResources, "GET", "/cluster/resources", params=params)

    # -- pools and workspaces ----------------------------------------------------------------------------------

    def pools(self, workspace: str = "default") -> list[answers.ResourcePool]:
        """Return all pools; `selectable` says whether `workspace` may use one."""
        return self._http.read(answers.ResourcePools, "GET", "/pools", params={"workspace": workspace}).items

    def put_pool(
        self,
        name: str,
        *,
        workspaces: Sequence[str] = (),
        description: str = "",
        price_gpu: str | None = None,
        price_cpu: str | None = None,
    ) -> answers.ResourcePool:
        """Make or change a pool: public, or dedicated to `workspaces`. Prices are of one hour of a GPU and of a core,
        for example "12.50"; None: as they were.
        """
        kind = "dedicated" if workspaces else "public"
        body: dict[str, object] = {"kind": kind, "workspaces": [*workspaces], "description": description}
        body |= {"price_gpu": price_gpu, "price_cpu": price_cpu}
        return self._read(answers.ResourcePool, "PUT", f"/pools/{word(name)}", body)

    def delete_pool(self, name: str) -> None:
        """Remove a pool that nobody uses. Raises Conflict."""
        self._http.request("DELETE", f"/pools/{word(name)}")

    def virtual_clusters(self) -> list[answers.VirtualClusterView]:
        """Return all virtual clusters with what counts against them."""
        return self._http.read(answers.VirtualClusters, "GET", "/virtual-clusters").items

    def put_virtual_cluster(
        self, name: str, share: Limits, *, pool: str = "default", description: str = ""
    ) -> answers.VirtualClusterView:
        """Guarantee a share of a pool."""
        body = {"pool": pool, "share": _limits(share), "description": description}
        return self._read(answers.VirtualClusterView, "PUT", f"/virtual-clusters/{word(name)}", body)

    def delete_virtual_cluster(self, name: str) -> None:
        """Take back a share that no job counts against. Raises Conflict."""
        self._http.request("DELETE", f"/virtual-clusters/{word(name)}")

    def workspaces(self) -> list[answers.WorkspaceView]:
        """Return all workspaces with quotas, limits and what counts against them."""
        return self._http.read(answers.WorkspacesView, "GET", "/workspaces").items

    def put_workspace(  # noqa: PLR0913 - every field is a parameter
        self,
        name: str,
        *,
        weight: float = 1.0,
        quotas: Mapping[str, Limits] | None = None,
        urgent_per_user: int | None = None,
        urgent_total: int | None = None,
        description: str = "",
        sharing: str = "open",
        per_person: Mapping[str, Most] | None = None,
        people: Mapping[str, Mapping[str, Most]] | None = None,
        require_duration: bool = False,
        storage: Most | None = None,
        storage_per_person: Most | None = None,
        storage_people: Mapping[str, Most] | None = None,
    ) -> answers.WorkspaceView:
        """Make or change a workspace; `quotas` by pool, urgent limits None: any number. `sharing` of jobs between its
        members: off, open, or required (each submit says how). `per_person`: what each may hold at most, by pool and
        resource; `people`: what some may hold instead, by name; None: no limit. `require_duration`: a job without a
        time limit of its own is refused. `storage`: what may be kept at most, by ``mib`` and ``files``;
        `storage_per_person`, `storage_people`: the same of each person, and of some instead, by name.
        """
        body = {
            "weight": weight,
            "quotas": {pool: _limits(given) for pool, given in (quotas or {}).items()},
            "urgent_per_user": urgent_per_user,
            "urgent_total": urgent_total,
            "description": description,
            "sharing": sharing,
            "per_person": per_person or {},
            "people": people or {},
            "require_duration": require_duration,
            "storage": storage or {},
            "storage_per_person": storage_per_person or {},
            "storage_people": storage_people or {},
        }
        return self._read(answers.WorkspaceView, "PUT", f"/workspaces/{word(name)}", body)

    def put_limits(
        self,
        workspace: str,
        *,
        per_person: Mapping[str, Most] | None = None,
        people: Mapping[str, Mapping[str, Most]] | None = None,
        storage_per_person: Most | None = None,
        storage_people: Mapping[str, Most] | None = None,
    ) -> answers.WorkspaceView:
        """Say what each person in a workspace may hold at most, by pool and resource, and what some may hold instead,
        by name; None: no limit. For its owners and admins, too. `storage_per_person`, `storage_people`: what they may
        keep at most, by ``mib`` and ``files``; None: as it was.
        """
        body: dict[str, object] = {"per_person": per_person or {}, "people": people or {}}
        body |= {"storage_per_person": storage_per_person, "storage_people": storage_people}
        return self._read(answers.WorkspaceView, "PUT", f"/workspaces/{word(workspace)}/limits", body)

    def delete_workspace(self, name: str) -> None:
        """Remove a workspace that nobody uses. Raises Conflict."""
        self._http.request("DELETE", f"/workspaces/{word(name)}")

    def flavors(self, workspace: str = "default", kind: str = "", model: str = "") -> list[answers.FlavorView]:
        """Return the flavors of a workspace; `kind` is cpu, gpu, ascend or mlu, `model` a card's."""
        params = {"workspace": workspace, "kind": kind, "model": model}
        return self._http.read(answers.Flavors, "GET", "/flavors", params=params).items

    def put_flavor(self, name: str, *, workspace: str = "default", **fields: Any) -> answers.FlavorView:
        """Make or change a flavor: `cpu`, `memory_mib`, `gpu`, `gpu_type`, `gpu_share`, `shm_mib`, `description`,
        `vendor`, `price` (of one hour, as text), `cache_mib`, `pools`.
        """
        return self._read(answers.FlavorView, "PUT", f"/workspaces/{word(workspace)}/flavors/{word(name)}", fields)

    def delete_flavor(self, name: str, workspace: str = "default") -> None:
        """Remove a flavor; jobs submitted before keep what it was."""
        self._http.request("DELETE", f"/workspaces/{word(workspace)}/flavors/{word(name)}")

    # -- the queue ---------------------------------------------------------------------------------------------

    def queue(
        self, *, pool: str = "", workspace: str = "", mine: bool = False, offset: int = 0, limit: int = 50
    ) -> answers.QueuePage:
        """Return waiting jobs in order, each with its reason, and what they ask for together."""
        params = {"pool": pool, "workspace": workspace, "mine": mine, "offset": offset, "limit": limit}
        return self._http.read(answers.QueuePage, "GET", "/queue", params=params)

    def timeline(self, pool: str = "") -> answers.Timeline:
        """Return running and foreseen jobs by node and time."""
        return self._http.read(answers.Timeline, "GET", "/queue/timeline", params={"pool": pool})

    def history(self) -> Iterator[answers.AskedView]:
        """Yield what the jobs that ended asked for, oldest first."""
        cursor: str | None = ""
        while cursor is not None:
            params = {"cursor": cursor} if cursor else {}
            page = self._http.read(answers.HistoryView, "GET", "/queue/history", params=params)
            yield from page.items
            cursor = page.next_cursor

    def policy(self) -> answers.PolicyView:
        """Return every knob of the queue's policy with its bounds, meaning and value."""
        return self._read(answers.PolicyView, "GET", "/queue/policy")

    def set_policy(self, **values: Any) -> answers.PolicyView:
        """Change knobs; None is the default again, what is not named stays."""
        return self._read(answers.PolicyView, "PUT", "/queue/policy", {"values": values})

    def privacy(self) -> answers.PrivacyView:
        """Return whether people are told whose the jobs are that they may not see."""
        return self._read(answers.PrivacyView, "GET", "/cluster/privacy")

    def set_privacy(self, *, owners_told: bool) -> answers.PrivacyView:
        """Tell people whose the jobs are that they may not see, or hide it from all but administrators."""
        return self._read(answers.PrivacyView, "PUT", "/cluster/privacy", {"owners_told": owners_told})

    # -- what people did ---------------------------------------------------------------------------------------

    def audit(
        self,
        *,
        subject: str = "",
        by: str = "",
        kind: str = "",
        workspace: str = "",
        actor: str = "",
        after: float | None = None,
        before: float | None = None,
        limit: int | None = 50,
    ) -> list[answers.AuditEventView]:
        """Return what was done to what one may read of, newest first; `limit` None: all of it. `subject`: a kind of
        thing, or one (``pool:default``).

        `by`: who did it; `kind`: what (``pool_changed``); `workspace`: where; `actor`: person, token, job or system;
        `after` and `before`: when, in seconds since the epoch.
        """
        wanted = {"subject": subject, "by": by, "kind": kind, "workspace": workspace, "actor": actor}
        params = _given({**wanted, "after": after, "before": before})
        found: list[answers.AuditEventView] = []
        while limit is None or len(found) < limit:
            size = 500 if limit is None else min(limit - len(found), 500)
            page = self._http.read(answers.AuditPage, "GET", "/audit", params={**params, "limit": size})
            found += page.items
            if page.next_cursor is None:
                break
            params["cursor"] = page.next_cursor
        return found

    def audit_lines(self, **wanted: str | float | None) -> Iterator[bytes]:
        """Yield all of it as lines of JSON, in blocks of any size, without holding it. `wanted`: as for `audit`, but
        `limit`.
        """
        return self._http.download("/audit/export", params=_given(wanted))

    def retention(self, **days: float) -> list[answers.RetentionRule]:
        """Return what would be removed by itself now, by rule; nothing is removed by asking.

        `days`: as if things were kept so long (``jobs_days``, ``logs_days``, ``audit_days``, ``uploads_days``,
        ``keys_days``; 0: for ever).
        """
        return self._http.read(answers.RetentionView, "GET", "/retention", params=days, timeout=300.0).items

    def _read(self, kind: type[T], method: str, path: str, body: Mapping[str, object] | None = None) -> T:
        options = {} if body is None else {"json": body}
        return self._http.read(kind, method, path, repeat=method in ("GET", "PUT"), **options)


def _given(wanted: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in wanted.items() if value not in ("", None)}


def _limits(given: Limits) -> dict[str, dict[str, float | None]]:
    made = {}
    for name, limit in given.items():
        nominal, cap = limit if isinstance(limit, tuple) else (limit, None)
        made[name] = {"nominal": nominal, "cap": cap}
    return made


def word(text: str) -> str:
    """Return `text` as one segment of an address: what a person types must not reach another route."""
    return quote(text, safe="") or "%20"
