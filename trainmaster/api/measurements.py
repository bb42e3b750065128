"""The server's own gauges and counters as Prometheus text, computed when they are asked for. Nothing is counted twice.

Uses prometheus_client's text writer only, imported on the first question: the global registry and its process
collectors would cost memory in a server that nobody scrapes.
"""

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from trainmaster.service.platform import Platform
    from trainmaster.service.use_cases.readiness import Stats

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_GAUGES: Final[dict[str, tuple[str, str]]] = {
    "listeners": ("trainmaster_feed_listeners", "Open live views"),
    "uptime_s": ("trainmaster_uptime_seconds", "Seconds since the server started"),
}
_LEADING: Final[dict[str, tuple[str, str]]] = {
    "queued": ("trainmaster_jobs_queued", "Jobs that wait"),
    "active": ("trainmaster_jobs_active", "Jobs with a live attempt"),
    "nodes": ("trainmaster_nodes", "Machines known"),
    "gpus": ("trainmaster_gpus", "Cards of all machines"),
    "gpus_held": ("trainmaster_gpus_held", "Cards held by live attempts"),
}
_COUNTERS: Final[dict[str, tuple[str, str]]] = {
    "commits": ("trainmaster_commits", "Group commits since the server started"),
    "events": ("trainmaster_events", "Events in the ledger"),
}


class _Collector:
    def __init__(self, stats: "Stats", version: str) -> None:
        self.stats = stats
        self.version = version

    def collect(self) -> Any:
        """Yield the metric families (prometheus_client's protocol)."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily  # noqa: PLC0415

        yield InfoMetricFamily("trainmaster_build", "The version that runs", {"version": self.version})
        leading = self.stats.leading
        yield GaugeMetricFamily("trainmaster_leads", "1 while this server leads, else 0", leading is not None)
        for key, (name, text) in _GAUGES.items():
            yield GaugeMetricFamily(name, text, getattr(self.stats, key))
        if leading is None:
            return  # what the one that leads measures: a 0 of ours would be added to it
        for key, (name, text) in _LEADING.items():
            yield GaugeMetricFamily(name, text, getattr(leading, key))
        for key, (name, text) in _COUNTERS.items():
            yield CounterMetricFamily(name, text, getattr(leading, key))
        ended = CounterMetricFamily("trainmaster_jobs_ended", "Jobs ended since the server started", labels=["state"])
        for state, count in leading.finished.items():
            ended.add_metric([state], count)
        yield ended
        free = GaugeMetricFamily("trainmaster_disk_free_bytes", "What is free on each disk", labels=["folder"])
        size = GaugeMetricFamily("trainmaster_disk_bytes", "How large each disk is", labels=["folder"])
        for disk in leading.disks:
            free.add_metric([disk.folder], disk.room.free.bytes)
            size.add_metric([disk.folder], disk.room.total.bytes)
        yield from (free, size)


def render(platform: "Platform") -> bytes:
    """Return the text of everything in `platform.stats()`."""
    from prometheus_client import CollectorRegistry, generate_latest  # noqa: PLC0415

    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Collector(platform.stats(), platform.version))
    return generate_latest(registry)
