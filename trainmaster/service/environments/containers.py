"""Fetches container images by the runtime of this machine: in a process of its own (`agent.containers.fetching`), which
can be ended at any moment, and which is given credentials on its input alone.

Invariants: the runtime keeps no image that we have brought to it, and no container of ours, once nobody fetches;
nothing that is said or logged holds a password. All methods in the loop's thread; one image is fetched at a time.
"""

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from trainmaster.agent.containers import fetching
from trainmaster.agent.containers.references import Reference, reference_of
from trainmaster.core.config import Config
from trainmaster.core.errors import NotFound, TrainmasterError
from trainmaster.core.folders.layout import CONTAINER, Layout
from trainmaster.messages.assets import containers as said
from trainmaster.messages.assets import images
from trainmaster.messages.said import Said
from trainmaster.service.environments.definition import EnvironmentPlan
from trainmaster.service.environments.workshop import NotMade
from trainmaster.service.secrets.vault import Vault

log = logging.getLogger("trainmaster.environments")

BROUGHT: Final = "brought.json"
"""The images that the runtime has because of us, until they are removed again."""
KEY_RULES: Final = 1
"""Counts up when images of the same digest would be kept in another way."""
TIDY_S: Final = 20.0
_LINE: Final = 1 << 20


class _Fetched(msgspec.Struct, frozen=True):
    """What was fetched. `there`: the runtime had it before."""

    digest: str = ""
    there: bool = False


class _Line(msgspec.Struct, frozen=True):
    """A line of the fetching process: something that it says, what it does now, or how it ended."""

    say: str | None = None
    state: str | None = None
    done: _Fetched | None = None
    error: str = ""
    text: str = ""


def container_key(digest: str, machine: str) -> str:
    """Return the name of the environment that holds the files of an image."""
    return CONTAINER + hashlib.sha256(json.dumps([KEY_RULES, digest, machine]).encode()).hexdigest()[:32]


def credentials(name: str, value: str) -> dict[str, str]:
    """Return what a registry is given, from the value of the secret `name`. Raises NotMade."""
    if value.lstrip().startswith("{"):
        with contextlib.suppress(ValueError, RecursionError):
            told = json.loads(value)
            if all(isinstance(told.get(key), str) for key in ("username", "password")):
                return {"username": told["username"], "password": told["password"]}
    user, colon, password = value.strip().partition(":")
    if not (user and colon and password) or "\n" in value.strip():
        raise NotMade(said.secret_not_for_registry(name))
    return {"username": user, "password": password}


class Containers:
    """One object per server. `vault`: where the secrets are."""

    def __init__(self, layout: Layout, config: Config, vault: Vault | None, clock: Callable[[], float]) -> None:
        self._layout, self._limits, self._vault, self._clock = layout, config.limits, vault, clock
        self.socket = config.local.containers
        self._label = hashlib.sha256(os.path.realpath(layout.home).encode()).hexdigest()[:32]
        self._brought: set[str] = set()
        self._untidy = True  # an earlier server may have been killed
        self._turn = asyncio.Lock()

    async def start(self) -> None:
        """Remove what an earlier server has left at the runtime, if there is one."""
        with contextlib.suppress(OSError, ValueError):
            self._brought = set(await asyncio.to_thread(self._read))
        if self.socket:
            await self.tidy()

    async def pull(self, ref: Reference, workspace: str, secret: str, told: Callable[[str], None]) -> Reference:
        """Return `ref` pinned to the digest that the registry has for whoever the secret says. Raises NotMade."""
        async with self._turn:
            done = await self._fetch("pull", ref, workspace, secret, told, {})
        return ref.pinned(done.digest)

    async def unpack(
        self, plan: EnvironmentPlan, target: str, told: Callable[[str], None], state: Callable[[], None]
    ) -> None:
        """Bring the files of an image into `target`, an empty folder. Raises NotMade."""
        ref = reference_of(plan.lock)
        if ref is None:
            raise NotMade(images.not_made(plan.lock[:200]))
        more = {"target": target, "most_bytes": self._limits.build_mib << 20 or 1 << 62, "label": self._label}
        async with self._turn:
            await self._fetch("unpack", ref, plan.workspace, plan.secret, told, more, state)

    async def tidy(self) -> None:
        """Let the runtime forget what we have brought to it."""
        async with self._turn:
            if not self.socket or not self._untidy:
                return
            asked = {"do": "tidy", "socket": self.socket, "label": self._label, "images": sorted(self._brought)}
            try:
                async with asyncio.timeout(TIDY_S):
                    ended = await self._run(asked, lambda line: None, lambda: None)
            except (TimeoutError, OSError):
                ended = _Line(error="failed", text="no answer")
            if ended.done is not None:
                self._brought.clear()
                self._untidy = False
                await self._remember()
            else:
                log.warning("the container runtime keeps what was fetched: %s", ended.text)

    # -- inside ------------------------------------------------------------------------------------------------

    async def _fetch(
        self,
        do: str,
        ref: Reference,
        workspace: str,
        secret: str,
        told: Callable[[str], None],
        more: Mapping[str, object],
        state: Callable[[], None] = lambda: None,
    ) -> _Fetched:
        if not self.socket:
            raise NotMade(said.containers_off())
        auth = await self._credentials(workspace, secret) if secret else {}
        hidden = [auth["password"]] if auth else []
        asked = {"do": do, "socket": self.socket, "reference": ref.text, "auth": auth, **more}
        new = ref.text not in self._brought
        self._brought.add(ref.text)
        self._untidy = True
        await self._remember()
        limit = self._limits.build_s
        try:
            async with asyncio.timeout(limit or None):
                ended = await self._run(asked, lambda line: told(_without(line, hidden)), state)
        except TimeoutError:
            raise NotMade(said.image_too_slow(ref.text, limit)) from None
        if ended.done is None:
            raise NotMade(self._why(ref, ended.error, _without(ended.text, hidden)))
        others = any(one != ref.text and one.startswith(ref.name) for one in self._brought)
        if new and ended.done.there and not others:  # it was the runtime's before
            self._brought.discard(ref.text)
            await self._remember()
        return ended.done

    def _why(self, ref: Reference, kind: str, text: str) -> Said:
        if kind == "too_large":
            return said.image_too_large(ref.text, self._limits.build_mib)
        if kind == "disk":
            return images.not_made(text)
        ways = {
            "denied": said.registry_denied,
            "missing": said.image_not_in_registry,
            "damaged": said.image_damaged,
        }
        return ways.get(kind, said.image_not_fetched)(ref.text, text)

    async def _credentials(self, workspace: str, secret: str) -> dict[str, str]:
        if self._vault is None:
            raise NotMade(said.no_registry_secret(secret, workspace))
        try:
            found = await asyncio.to_thread(self._vault.values, workspace, [secret], self._clock())
        except NotFound:
            raise NotMade(said.no_registry_secret(secret, workspace)) from None
        except TrainmasterError as error:
            raise NotMade(error.said) from error
        return credentials(secret, found[secret])

    async def _run(self, asked: Mapping[str, object], told: Callable[[str], None], state: Callable[[], None]) -> _Line:
        """Return the last line that a fetching process says; it is ended with whoever waits for it."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", fetching.__name__),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ},
            start_new_session=True,
            limit=_LINE,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        last = _Line(error="failed", text="the fetching process ended without a word")
        try:
            process.stdin.write(json.dumps(asked).encode())
            await process.stdin.drain()
            process.stdin.close()
            async for line in process.stdout:
                one = msgspec.convert(json.loads(line), _Line)
                if one.say is not None:
                    told(one.say)
                elif one.state is not None:
                    state()
                else:
                    last = one
            await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return last

    async def _remember(self) -> None:
        with contextlib.suppress(OSError):
            await asyncio.to_thread(self._write, sorted(self._brought))

    def _write(self, brought: list[str]) -> None:
        path = self._layout.path("run", BROUGHT)
        if not brought:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            return
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(brought, file)
        os.replace(path + ".new", path)

    def _read(self) -> list[str]:
        with open(self._layout.path("run", BROUGHT), encoding="utf-8") as file:
            return [one for one in json.load(file) if isinstance(one, str)]


def _without(text: str, hidden: list[str]) -> str:
    for one in hidden:
        text = text.replace(one, "***")
    return "".join(one for one in text if one.isprintable())[:2000]
