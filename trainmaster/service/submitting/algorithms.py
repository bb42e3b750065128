"""A document that names an algorithm, with what that says put in before it is checked. Pure: done in the server, or by
a clerk. What is not there and what is another's are the same answer.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from trainmaster.core.cluster import DEFAULT
from trainmaster.core.errors import InvalidSpec, Problem
from trainmaster.messages.assets import algorithms as said
from trainmaster.spec.algorithms.algorithm import AlgorithmSpec
from trainmaster.spec.algorithms.filling import filled
from trainmaster.spec.algorithms.judging import judged
from trainmaster.spec.check import check, refusal
from trainmaster.spec.document import Given
from trainmaster.spec.inputs import REFERENCE
from trainmaster.spec.job import JobSpec
from trainmaster.spec.placing import FlavorsBy
from trainmaster.spec.problems import problem

_REFERENCE: Final = re.compile(REFERENCE)
_NOTHING: Final = AlgorithmSpec(command="true")
"""Stands in for an algorithm that is not there, so that all else is judged."""


@dataclass(frozen=True, slots=True)
class SettledAlgorithm:
    """What a name means. `reference`: ``NAME@VERSION``."""

    reference: str
    algorithm: AlgorithmSpec


KnownAlgorithms = Mapping[tuple[str, str], SettledAlgorithm]
"""By the workspace and the name that submissions say; what is not there is missing."""


def is_reference(text: str) -> bool:
    """Return whether a text can name an algorithm."""
    return _REFERENCE.fullmatch(text) is not None


def checked(
    document: Given, hosts: int, flavors: FlavorsBy | None, known: KnownAlgorithms | None
) -> tuple[JobSpec, tuple[Problem, ...]]:
    """Return the job of a native document, filled by the algorithm that it names; and what that does not take. Pure.

    Raises InvalidSpec with all problems of the document.
    """
    reference, workspace = document.get("algorithm"), document.get("workspace", DEFAULT)
    if known is None or not isinstance(reference, str):
        return check(document, hosts=hosts, flavors=flavors), ()
    settled = known.get((workspace, reference)) if isinstance(workspace, str) else None
    if settled is None:
        absent = [problem("algorithm", said.no_algorithm_for_job(reference, str(workspace)), reference)]
        try:
            check(filled(document, _NOTHING, reference), hosts=hosts, flavors=flavors)
        except InvalidSpec as error:
            raise refusal([*(absent if is_reference(reference) else []), *error.problems]) from None
        raise refusal(absent)
    spec = check(filled(document, settled.algorithm, settled.reference), hosts=hosts, flavors=flavors)
    there = None if flavors is None else flavors.get(spec.workspace, {})
    return spec, tuple(judged(spec, settled.algorithm, there))
