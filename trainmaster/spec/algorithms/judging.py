"""What speaks against a job that names an algorithm: its parameters, its inputs, what it runs on (R60, R152-R156).
Pure; every problem at once.
"""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trainmaster.core.cluster import Flavor, FlavorKind, card_kind
from trainmaster.core.errors import Problem
from trainmaster.core.folders.layout import IN_PRETRAIN
from trainmaster.messages.assets import algorithms as said
from trainmaster.messages.jobs import form
from trainmaster.spec.algorithms.algorithm import AlgorithmSpec, Hyperparameter
from trainmaster.spec.algorithms.filling import place_of_input, place_of_output
from trainmaster.spec.algorithms.values import same, value_problem
from trainmaster.spec.job import Input, JobSpec, RoleSpec, scalar_text
from trainmaster.spec.problems import problem


def judged(spec: JobSpec, algorithm: AlgorithmSpec, flavors: Mapping[str, Flavor] | None) -> list[Problem]:
    """Return what speaks against `spec`, which was filled by `algorithm`. `flavors`: of its workspace, None: not
    known.
    """
    found: list[Problem] = []
    if algorithm.upload is not None and (spec.code is None or spec.code.upload != algorithm.upload):
        found.append(problem("code", said.code_of_algorithm()))
    running = [at for at, role in enumerate(spec.roles) if role.command == algorithm.command.strip()]
    if not running:
        found.append(problem("roles.0.command", said.command_of_algorithm()))
    found += _channel_problems(spec, algorithm)
    places = _places(spec, algorithm)
    for channel in (*algorithm.inputs, *algorithm.outputs):
        if channel.given == "variable" and spec.env.get(channel.name) != places.get(channel.name):
            found.append(problem(f"env.{channel.name}", said.parameter_is_channel(channel.name)))
    for at in running:
        found += _parameter_problems(spec.roles[at], algorithm, places, f"roles.{at}")
        found += _resource_problems(spec.roles[at], algorithm, flavors, f"roles.{at}")
    return found


def _places(spec: JobSpec, algorithm: AlgorithmSpec) -> dict[str, str]:
    models = sum(item.mount.startswith(IN_PRETRAIN + "/") for item in spec.inputs)
    told = {item.channel: place_of_input(item.mount, models) for item in spec.inputs if item.channel is not None}
    found = {channel.name: told[channel.name] for channel in algorithm.inputs if channel.name in told}
    return found | {channel.name: place_of_output(channel) for channel in algorithm.outputs}


def _channel_problems(spec: JobSpec, algorithm: AlgorithmSpec) -> Iterator[Problem]:
    channels = {channel.name: channel for channel in algorithm.inputs}
    seen: set[str] = set()
    for at, item in enumerate(spec.inputs):
        if item.channel is None:
            continue
        path, channel = f"inputs.{at}.channel", channels.get(item.channel)
        if channel is None:
            yield problem(path, said.no_such_input_channel(tuple(channels)), item.channel)
        elif _kind(item) not in channel.kinds:
            yield problem(path, said.kind_not_of_channel(_kind(item), tuple(channel.kinds)), item.channel)
        if item.channel in seen:
            yield problem(path, said.channel_twice(item.channel), item.channel)
        seen.add(item.channel)
    for channel in algorithm.inputs:
        if channel.required and channel.name not in seen:
            yield problem("inputs", said.channel_missing(channel.name))


def _kind(item: Input) -> str:
    return next((kind for kind in ("dataset", "model", "volume", "s3") if getattr(item, kind) is not None), "path")


def _parameter_problems(
    role: RoleSpec, algorithm: AlgorithmSpec, places: Mapping[str, str], path: str
) -> Iterator[Problem]:
    known = {one.name: one for one in algorithm.parameters}
    channels = {one.name for one in (*algorithm.inputs, *algorithm.outputs) if one.given == "argument"}
    for name, value in role.parameters.items():
        where = f"{path}.parameters.{name}"
        if name in known:
            yield from _value_problems(known[name], value, where)
        elif name in channels:
            if value != places.get(name):
                yield problem(where, said.parameter_is_channel(name), value)
        elif not algorithm.custom_parameters:
            near = difflib.get_close_matches(name, list(known), 1, 0.6)
            yield problem(where, said.no_such_parameter(name, near or tuple(known)), value)
    for what in algorithm.parameters:
        if what.required and what.name not in role.parameters:
            yield problem(f"{path}.parameters.{what.name}", form.required(what.name))


def _value_problems(what: Hyperparameter, value: Any, path: str) -> Iterator[Problem]:
    if value is None:
        if what.required:
            yield problem(path, form.required(what.name))
        elif not (what.deletable and what.editable):
            yield problem(path, said.parameter_not_deletable(what.name))
        return
    if not what.editable and not same(what, value, what.default):
        default = "" if what.default is None else scalar_text(what.default)
        yield problem(path, said.parameter_not_editable(what.name, default), value)
    elif (wrong := value_problem(what, value, path)) is not None:
        yield wrong


def _resource_problems(
    role: RoleSpec, algorithm: AlgorithmSpec, flavors: Mapping[str, Flavor] | None, path: str
) -> Iterator[Problem]:
    if algorithm.max_replicas is not None and role.replicas > algorithm.max_replicas:
        yield problem(f"{path}.replicas", form.too_big(algorithm.max_replicas), role.replicas)
    if algorithm.flavors and not role.flavors:
        yield problem(f"{path}.flavors", said.flavors_of_algorithm(algorithm.flavors))
    for at, name in enumerate(role.flavors):
        where = f"{path}.flavors.{at}"
        if algorithm.flavors and name not in algorithm.flavors:
            yield problem(where, said.flavors_of_algorithm(algorithm.flavors), name)
        elif flavors is not None and name in flavors:
            yield from _kind_problems(algorithm, flavors[name].kind, where, name)
    if not role.flavors and not algorithm.flavors:
        asked = role.resources
        kind = card_kind(asked.gpu_type) if asked.gpu else "cpu"
        yield from _kind_problems(algorithm, kind, f"{path}.resources.gpu", asked.gpu)


def _kind_problems(algorithm: AlgorithmSpec, kind: FlavorKind, path: str, value: Any) -> Iterator[Problem]:
    if algorithm.runs_on and kind not in algorithm.runs_on:
        yield problem(path, said.runs_on_others(_shown(algorithm.runs_on), _shown((kind,))), value)


def _shown(kinds: Sequence[FlavorKind]) -> tuple[str, ...]:
    """Return types of resources as people call them."""
    return tuple("Ascend" if kind == "ascend" else kind.upper() for kind in kinds)
