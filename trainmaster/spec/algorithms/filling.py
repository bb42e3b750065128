"""What a job document gets of the algorithm that it names: code, command, framework, image, the values of its
hyperparameters, and where its channels are. Pure; refuses nothing, so that `check` and `judging` list everything.

The places of channels are parameters, or variables, of the job like any others: so the document says what the program
is given, and a preview shows it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainmaster.core.folders.layout import IN_DATASET, IN_PRETRAIN
from trainmaster.spec.algorithms.algorithm import AlgorithmSpec, InputChannel, OutputChannel
from trainmaster.spec.document import Document
from trainmaster.spec.inputs import with_mounts

_OUT: Final = {"outputs": "$TRAINMASTER_OUTPUT_DIR", "model": "$TRAINMASTER_MODEL_DIR"}
_IN: Final = {"outputs": "${TRAINMASTER_OUTPUT_DIR}", "model": "${TRAINMASTER_MODEL_DIR}"}
"""Followed by more."""


def place_of_input(mount: str, models: int = 0) -> str:
    """Return how the program is told of what lies at `mount`: by the variable that says where it is without a sandbox,
    too, where there is one. `models`: how many of the job's inputs lie below /pretrain.
    """
    if mount.rstrip("/") == IN_DATASET:
        return "$TRAINMASTER_DATASET_DIR"
    return "$TRAINMASTER_PRETRAIN_DIR" if models == 1 and mount.startswith(IN_PRETRAIN + "/") else mount


def place_of_output(channel: OutputChannel) -> str:
    """Return how the program is told where to write."""
    return f"{_IN[channel.to]}/{channel.folder}" if channel.folder else _OUT[channel.to]


def filled(document: Mapping[str, Any], algorithm: AlgorithmSpec, reference: str) -> Document:
    """Return the job `document` with what `algorithm`, which is called `reference`, says. What the document says itself
    stays.
    """
    found: Document = {**document, "algorithm": reference}
    if algorithm.upload is not None and found.get("code") is None:
        found["code"] = {"upload": algorithm.upload}
    if found.get("framework") is None:
        found["framework"] = algorithm.framework.model_dump()
    if found.get("image") is None:
        found["image"] = algorithm.image
    places = list(_places(found, algorithm))
    arguments = {channel.name: place for channel, place in places if channel.given == "argument"}
    variables = {channel.name: place for channel, place in places if channel.given == "variable"}
    if variables and isinstance(found.get("env") or {}, Mapping):
        found["env"] = {**variables, **(found.get("env") or {})}
    if "roles" not in found:
        return _role(found, algorithm, arguments)
    roles = found["roles"]
    if isinstance(roles, list | tuple):
        found["roles"] = [
            _role(role, algorithm, arguments) if isinstance(role, Mapping) and runs(role, algorithm) else role
            for role in roles
        ]
    return found


def runs(role: Mapping[str, Any], algorithm: AlgorithmSpec) -> bool:
    """Return whether a role of a document runs the algorithm: it names no command of its own."""
    command = role.get("command")
    return command is None or (isinstance(command, str) and command.strip() == algorithm.command.strip())


def _role(role: Mapping[str, Any], algorithm: AlgorithmSpec, places: Mapping[str, str]) -> Document:
    found: Document = dict(role)
    if found.get("command") is None:
        found["command"] = algorithm.command
    given = found.get("parameters") or {}
    if not isinstance(given, Mapping) or not runs(found, algorithm):
        return found
    own = {one.name: given.get(one.name, one.default) for one in algorithm.parameters}
    known = {name: value for name, value in own.items() if name in given or value is not None}
    more = {name: value for name, value in given.items() if name not in own}
    if known or more or places:
        found["parameters"] = {**known, **more, **{name: given.get(name, place) for name, place in places.items()}}
    return found


def _places(
    document: Mapping[str, Any], algorithm: AlgorithmSpec
) -> Iterator[tuple[InputChannel | OutputChannel, str]]:
    """Yield each channel whose place is known, and that."""
    inputs = with_mounts(document.get("inputs"))
    items = [one for one in inputs if isinstance(one, Mapping)] if isinstance(inputs, list | tuple) else []
    mounts = [str(one.get("mount", IN_DATASET)) for one in items]
    models = sum(mount.startswith(IN_PRETRAIN + "/") for mount in mounts)
    told = {one.get("channel"): mount for one, mount in zip(items, mounts, strict=True) if one.get("channel")}
    for channel in algorithm.inputs:
        if channel.name in told:
            yield channel, place_of_input(told[channel.name], models)
    for out in algorithm.outputs:
        yield out, place_of_output(out)
