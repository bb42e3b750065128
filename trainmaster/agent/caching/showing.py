"""Which folder the tasks of a gang see for an input that is to be cached: its copy where there is one, else where it
lies. Asked when a gang is made ready, and again by every agent that takes it over: a copy that it has stays.
"""

from __future__ import annotations

from dataclasses import replace

from trainmaster.agent.caching.cache import NodeCache, copy_place
from trainmaster.agent.settings import Settings
from trainmaster.core.launch import Gang, Mount


def at_copies(gang: Gang, settings: Settings) -> Gang:
    """Return `gang` with each input where its copy will be. Pure."""
    if not settings.cache or not any(mount.cache for mount in gang.mounts):
        return gang
    places = (copy_place(settings.cache, mount.cache) if mount.cache else mount.source for mount in gang.mounts)
    return _placed(gang, tuple(places))


def with_copies(gang: Gang, settings: Settings, attempt: str, record: str) -> tuple[Gang, tuple[Mount, ...]]:
    """Return `gang` with each input at the copy that is there, which `attempt` has for as long as `record` is there;
    and what was to be cached and is not.
    """
    wanted = tuple(mount for mount in gang.mounts if mount.cache)
    if not wanted or not settings.cache:
        return gang, wanted
    cache = NodeCache(settings.cache)
    found = [cache.take(mount.cache, attempt, record) if mount.cache else None for mount in gang.mounts]
    missing = tuple(mount for mount, place in zip(gang.mounts, found) if mount.cache and place is None)
    return _placed(gang, tuple(place or mount.source for mount, place in zip(gang.mounts, found))), missing


def _placed(gang: Gang, places: tuple[str, ...]) -> Gang:
    return replace(gang, mounts=tuple(replace(m, source=place) for m, place in zip(gang.mounts, places)))


def give_back(gang: Gang, settings: Settings, attempt: str, record: str) -> None:
    """Let the copies that `attempt` has be removed, as far as others do not have them."""
    if settings.cache:
        cache = NodeCache(settings.cache)
        for mount in gang.mounts:
            if mount.cache:
                cache.give_back(mount.cache, attempt, record)
