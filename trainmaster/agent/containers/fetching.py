"""The program that brings an image to a folder: `python -m trainmaster.agent.containers.fetching`.

A request comes as JSON on its input, which alone holds credentials; lines of JSON go out: `say`, `state`, and in the
end `done` or `error`. It is a process of its own so that it can be ended at any moment. What it has created at the
runtime then is found by its label, and removed by the next `tidy`.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Mapping
from typing import Any, Final

from trainmaster.agent.containers.places import CONFIG, ROOT
from trainmaster.agent.containers.references import Reference, reference_of
from trainmaster.agent.containers.runtime import Runtime, RuntimeFailed, digests_of
from trainmaster.agent.containers.unpacking import NotUnpacked, Unpacker, settle

SPEAK_S: Final = 1.0
MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64", "ppc64le": "ppc64le", "s390x": "s390x", "riscv64": "riscv64"}
_DENIED: Final = (
    "unauthorized",
    "authentication required",
    "denied",
    "forbidden",
    "no basic auth",
    "incorrect username",
)
_MISSING: Final = ("manifest unknown", "not found", "name unknown", "no such image", "does not exist")
_MIB: Final = 1 << 20


class _Pulling:
    """Says how far a pull is, once a second."""

    def __init__(self) -> None:
        self._layers: dict[str, tuple[int, int]] = {}
        self._whole: set[str] = set()
        self._at = 0.0

    def __call__(self, told: Mapping[str, Any]) -> None:
        """Take in what the runtime says."""
        layer, status = str(told.get("id") or ""), str(told.get("status") or "")
        if not layer:
            return
        detail = told.get("progressDetail") or {}
        current, total = (detail.get(key) if isinstance(detail, dict) else 0 for key in ("current", "total"))
        before = self._layers.get(layer, (0, 0))
        self._layers[layer] = (int(current or before[0]), int(total or before[1]))
        if status in ("Pull complete", "Already exists", "Download complete"):
            self._whole.add(layer)
        if time.monotonic() - self._at >= SPEAK_S:
            self._at = time.monotonic()
            have, all_ = (sum(one[at] for one in self._layers.values()) // _MIB for at in (0, 1))
            _say(f"layers: {len(self._whole)} of {len(self._layers)}, {have} of {all_} MiB")


def _tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def _say(text: str) -> None:
    _tell(say=text)


def _pull(runtime: Runtime, ref: Reference, asked: Mapping[str, Any]) -> dict[str, Any]:
    _say(f"pulling {ref.text}")
    runtime.pull(ref, asked.get("auth") or {}, _Pulling())
    image = runtime.image(ref)
    if image is None:
        raise RuntimeFailed(f"{ref.text} is not there after it was pulled")
    return image


def _looked(runtime: Runtime, ref: Reference, asked: Mapping[str, Any]) -> dict[str, Any]:
    there = runtime.image(ref) is not None
    image = _pull(runtime, ref, asked)
    machine = MACHINES.get(platform.machine(), platform.machine())
    if str(image.get("Architecture") or machine) != machine:
        raise RuntimeFailed(f"it is for {image.get('Architecture')}, this machine is {machine}")
    return {"digest": _digest(runtime, ref, asked, digests_of(image, ref)), "there": there, "image": image}


def _digest(runtime: Runtime, ref: Reference, asked: Mapping[str, Any], known: list[str]) -> str:
    """Return the first of the `known` digests that the registry has; the last one is not asked for."""
    for one in known[:-1]:
        try:
            runtime.pull(ref.pinned(one), asked.get("auth") or {}, _Pulling())
        except RuntimeFailed:
            continue
        return one
    return known[-1]


def _config(image: Mapping[str, Any]) -> dict[str, Any]:
    own = image.get("Config") or {}
    return {
        "env": [str(one) for one in own.get("Env") or ()],
        "entrypoint": own.get("Entrypoint") or [],
        "cmd": own.get("Cmd") or [],
        "user": str(own.get("User") or ""),
        "folder": str(own.get("WorkingDir") or ""),
        "machine": platform.machine(),  # which it was found to be for
    }


def _unpack(runtime: Runtime, ref: Reference, asked: Mapping[str, Any]) -> dict[str, Any]:
    found = _looked(runtime, ref, asked)
    target = str(asked["target"])
    root = os.path.join(target, ROOT)
    os.makedirs(root, mode=0o700)
    _tell(state="unpacking")
    container = runtime.create(str(found["image"].get("Id") or ref.text), str(asked["label"]))
    unpacker = Unpacker(
        root, int(asked["most_bytes"]), lambda size, files: _say(f"unpacked: {size // _MIB} MiB, {files} files")
    )
    try:
        with runtime.files(container) as archive:
            unpacker.run(archive)
    finally:
        runtime.remove(container)
    settle(root)
    with open(os.path.join(target, CONFIG), "w", encoding="utf-8") as file:
        json.dump(_config(found["image"]), file)
    return {"digest": found["digest"], "there": found["there"]}


def _tidy(runtime: Runtime, asked: Mapping[str, Any]) -> dict[str, Any]:
    for container in runtime.labelled(str(asked["label"])):
        runtime.remove(container)
    ours = [str(one) for one in asked["images"]]
    for ref in sorted(filter(None, map(reference_of, ours)), key=lambda one: one.digest):  # tags first
        image = runtime.image(ref)
        if image is None:
            continue
        tags = {one.text for one in map(reference_of, image.get("RepoTags") or ()) if one is not None}
        if not ref.digest or tags <= set(ours):  # else somebody else has brought it, too
            runtime.remove_image(ref)
    return {}


def fetch(asked: Mapping[str, Any]) -> None:
    """Do what is asked, saying how far it is; how it ended is the last line."""
    runtime = Runtime(str(asked["socket"]))
    try:
        if asked["do"] == "tidy":
            _tell(done=_tidy(runtime, asked))
            return
        ref = reference_of(str(asked["reference"]))
        if ref is None:
            raise RuntimeFailed("no reference of an image")
        if asked["do"] == "unpack":
            _tell(done=_unpack(runtime, ref, asked))
        else:
            found = _looked(runtime, ref, asked)
            _tell(done={"digest": found["digest"], "there": found["there"]})
    except RuntimeFailed as error:
        _tell(error=_kind(error), text=error.text)
    except NotUnpacked as error:
        _tell(error="too_large" if error.too_large else "damaged", text=error.text)
    except OSError as error:
        _tell(error="disk", text=error.strerror or str(error))


def _kind(error: RuntimeFailed) -> str:
    low = error.text.lower()
    if any(one in low for one in _DENIED):
        return "denied"
    return "missing" if any(one in low for one in _MISSING) else "failed"


if __name__ == "__main__":
    fetch(json.load(sys.stdin))
