"""Accounts, and members of workspaces. See the package."""

from trainmaster.answers.base import Answer


class Membership(Answer, frozen=True):
    """Somebody's role in a workspace: owner, admin, member or viewer."""

    workspace: str
    role: str


class AccountView(Answer, frozen=True):
    """An account. `role`: on the platform, admin or user; `state`: active or locked."""

    name: str
    role: str
    state: str
    created_at: float
    must_change_password: bool
    workspaces: list[Membership]


class AccountsView(Answer, frozen=True):
    """Accounts by name."""

    items: list[AccountView]


class OneTimePassword(Answer, frozen=True):
    """A password shown only here; it must be changed before anything else."""

    name: str
    one_time_password: str


class NewAccount(Answer, frozen=True):
    """An account just made, with the password shown only here."""

    account: AccountView
    one_time_password: str


class MemberView(Answer, frozen=True):
    """A member of a workspace. `since`: seconds since the epoch."""

    user: str
    workspace: str
    role: str
    since: float


class MembersView(Answer, frozen=True):
    """Members by name."""

    items: list[MemberView]
