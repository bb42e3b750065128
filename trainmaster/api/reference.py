"""What forms, editors and other programs need to know before they ask for anything: names, limits, schemas. Data from core and spec."""

from functools import cache
from typing import Any

from trainmaster.core.config import Config
from trainmaster.core.framework_kinds import DEFAULT_KIND, KINDS
from trainmaster.core.states import SHOWN_NAMES, Priority
from trainmaster.core.verdicts import VERDICTS

_PRIORITIES = {
    Priority.NORMAL: ("普通", "Normal"),
    Priority.URGENT: ("紧急", "Urgent"),
    Priority.VERY_URGENT: ("非常紧急", "Very urgent"),
}


def meta(config: Config) -> dict[str, Any]:
    """Return names in both languages, frameworks with their options, limits and defaults."""
    limits = config.limits
    return {
        "states": {state.value: {"zh": zh, "en": en} for state, (zh, en) in SHOWN_NAMES.items()},
        "priorities": [{"code": one.name.lower(), "title": {"zh": zh, "en": en}} for one, (zh, en) in _PRIORITIES.items()],
        "frameworks": [
            {
                "kind": kind.kind,
                "title": {"zh": kind.zh, "en": kind.en},
                "options": {name: option.to_json() for name, option in kind.options.items()},
            }
            for kind in KINDS.values()
        ],
        "verdicts": {code: {"zh": kind.zh, "en": kind.en, "fault": kind.fault} for code, kind in VERDICTS.items()},
        "limits": {
            "max_upload_mib": limits.max_upload_mib, "max_duration_s": limits.max_duration_s or None,
            "max_debug_hold_s": limits.max_debug_hold_s, "log_mib": limits.log_mib, "max_queued": limits.max_queued,
        },
        "defaults": {"framework": DEFAULT_KIND, "priority": "normal", "sample_s": limits.sample_s, "resources": default_resources()},
    }  # fmt: skip


@cache
def default_resources() -> dict[str, Any]:
    """Return what a role gets that asks for nothing."""
    from trainmaster.spec.job import Resources  # noqa: PLC0415

    return Resources().model_dump(mode="json")


@cache
def job_schema() -> dict[str, Any]:
    """Return the JSON Schema of the native job spec."""
    from trainmaster.spec.schema import json_schema  # noqa: PLC0415

    return json_schema()


@cache
def pai_schema() -> dict[str, Any]:
    """Return the JSON Schema of the OpenPAI document."""
    from trainmaster.dialects.pai import json_schema  # noqa: PLC0415

    return json_schema()
