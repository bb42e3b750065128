"""What forms, editors and other programs need to know before they ask for anything: names, limits, schemas. Data from
core and spec.
"""

from functools import cache
from typing import Final

from trainmaster.answers import (
    PRIORITY_NAMES,
    FrameworkOption,
    FrameworkTitle,
    Json,
    Meta,
    MetaDefaults,
    MetaLimits,
    PriorityTitle,
    VerdictTitle,
)
from trainmaster.core.config import Config
from trainmaster.core.framework_kinds import DEFAULT_KIND, KINDS, FrameworkKind
from trainmaster.core.states import SHOWN_NAMES, Priority
from trainmaster.core.verdicts import VERDICTS
from trainmaster.service.language import two

_PRIORITIES: Final = {
    Priority.NORMAL: ("普通", "Normal"),
    Priority.URGENT: ("紧急", "Urgent"),
    Priority.VERY_URGENT: ("非常紧急", "Very urgent"),
}


def meta(config: Config) -> Meta:
    """Return names in both languages, frameworks with their options, limits and defaults."""
    limits = config.limits
    return Meta(
        states={state: two(names) for state, names in SHOWN_NAMES.items()},
        priorities=[PriorityTitle(code=PRIORITY_NAMES[one], title=two(names)) for one, names in _PRIORITIES.items()],
        frameworks=[_framework(kind) for kind in KINDS.values()],
        verdicts={code: VerdictTitle(zh=kind.zh, en=kind.en, fault=kind.fault) for code, kind in VERDICTS.items()},
        limits=MetaLimits(
            max_upload_mib=limits.max_upload_mib,
            max_duration_s=limits.max_duration_s or None,
            max_debug_hold_s=limits.max_debug_hold_s,
            log_mib=limits.log_mib,
            max_queued=limits.max_queued,
        ),
        defaults=MetaDefaults(
            framework=DEFAULT_KIND,
            priority=PRIORITY_NAMES[Priority.NORMAL],
            sample_s=limits.sample_s,
            resources=default_resources(),
        ),
    )


def _framework(kind: FrameworkKind) -> FrameworkTitle:
    options = {
        name: FrameworkOption(type="integer", minimum=one.minimum, maximum=one.maximum, title=two((one.zh, one.en)))
        for name, one in kind.options.items()
    }
    return FrameworkTitle(kind=kind.kind, title=two((kind.zh, kind.en)), options=options)


@cache
def default_resources() -> Json:
    """Return what a role gets that asks for nothing."""
    from trainmaster.spec.job import Resources  # noqa: PLC0415

    found: Json = Resources().model_dump(mode="json")
    return found


@cache
def job_schema() -> Json:
    """Return the JSON Schema of the native job spec."""
    from trainmaster.spec.schema import json_schema  # noqa: PLC0415

    return json_schema()


@cache
def pai_schema() -> Json:
    """Return the JSON Schema of the OpenPAI document."""
    from trainmaster.dialects.pai import json_schema  # noqa: PLC0415

    return json_schema()
