"""What somebody's groups at a sign-in provider make of their account. Pure.

Groups add and take away what groups gave, and nothing else: a role that people decided stays as it is, and so does one
that people changed after a group had given it. Invariant: what a group no longer gives, and nobody decided since, is
gone.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trainmaster.core.config import OidcConfig
from trainmaster.service.people.provider import Proven
from trainmaster.service.people.sign_in_settings import given_by
from trainmaster.store.people.identities import Given
from trainmaster.store.people.members import Member

NAME: Final = re.compile(r"[a-z][a-z0-9._-]{0,31}")
"""A user's name: no two of them look alike, and every system has room for it."""


@dataclass(frozen=True, slots=True)
class ByGroups:
    """What is to be done: another role on the platform, None: as it is; memberships that begin (in place of what there
    was) and that end; and what of all that they have was given by groups.
    """

    given: Given
    role: str | None
    joins: Sequence[Member]
    leaves: Sequence[Member]


def name_of(told: str) -> str | None:
    """Return the name of a new account of whom a provider calls `told`, None where there is none: what stands before an
    @, in lower case.
    """
    name = unicodedata.normalize("NFKC", told).partition("@")[0].strip().lower()
    return name if NAME.fullmatch(name) else None


def wanted(settings: OidcConfig, proven: Proven, workspaces: Iterable[str]) -> Given:
    """Return what the groups of somebody give, in workspaces that there are."""
    known = frozenset(workspaces)
    roles = {name: role for name, role in given_by(settings, proven.groups).items() if name in known}
    return Given(not proven.groups.isdisjoint(settings.admin_groups), roles)


def decided(user: str, role: str, members: Sequence[Member], before: Given, now: Given, at: float) -> ByGroups:
    """Return what becomes of `user`, who has `role` on the platform and is a member as `members` say; `before`: what
    groups had given, `now`: what they give.
    """
    has: Mapping[str, Member] = {one.workspace: one for one in members}
    by_group = {name for name, given in before.roles.items() if name in has and has[name].role == given}
    leaves = [has[name] for name in sorted(by_group - now.roles.keys())]
    joins = []
    for workspace, given in sorted(now.roles.items()):
        if workspace not in has:
            joins.append(Member(workspace, user, given, at))
        elif workspace in by_group and has[workspace].role != given:
            joins.append(Member(workspace, user, given, has[workspace].since))
    kept = {name: given for name, given in now.roles.items() if name not in has or name in by_group}
    was_given = before.admin and role == "admin"
    becomes = None
    if now.admin and role != "admin":
        becomes = "admin"
    elif was_given and not now.admin:
        becomes = "user"
    return ByGroups(Given(becomes == "admin" or (was_given and now.admin), kept), becomes, joins, leaves)
