"""Accounts, and members of workspaces. See the package."""

from trainmaster.answers.base import Answer, Text


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


class InvitationView(Answer, frozen=True):
    """An invitation into a workspace, without its link. `state`: open, used or expired."""

    id: str
    workspace: str
    role: str
    made_by: str
    created_at: float
    expires_at: float
    state: str
    used_at: float | None
    used_by: str | None


class NewInvitation(InvitationView, frozen=True):
    """An invitation just made; `link`, the path of a page of the console, is shown only here."""

    link: str


class Invitations(Answer, frozen=True):
    """Invitations into a workspace, newest first."""

    items: list[InvitationView]


class InvitationPage(Answer, frozen=True):
    """What an invitation tells those who have its link."""

    workspace: str
    role: str
    made_by: str
    expires_at: float


class IdentityView(Answer, frozen=True):
    """As whom the sign-in provider knows an account."""

    user: str
    issuer: str
    subject: str
    linked_at: float


class SecretView(Answer, frozen=True):
    """A secret of a workspace, without its value, which is shown nowhere. `used_at`: when a job was last given it;
    null: never.
    """

    name: str
    workspace: str
    created_at: float
    changed_at: float
    changed_by: str
    used_at: float | None


class SecretsView(Answer, frozen=True):
    """Secrets of a workspace by name."""

    items: list[SecretView]


class ConnectionView(Answer, frozen=True):
    """A storage connection of a workspace, without its keys, which are shown nowhere. `prefix` "": the whole bucket;
    `used_at`: when it was last used; null: never.
    """

    name: str
    workspace: str
    endpoint: str
    region: str
    bucket: str
    prefix: str
    created_at: float
    changed_at: float
    changed_by: str
    used_at: float | None


class ConnectionsView(Answer, frozen=True):
    """Storage connections of a workspace by name."""

    items: list[ConnectionView]


class ConnectionStep(Answer, frozen=True):
    """One thing that was tried: list, write, read, delete. `wrong` null: it worked."""

    step: str
    wrong: Text | None
    remedy: Text | None


class ConnectionCheck(Answer, frozen=True):
    """Whether a storage connection works. Nothing is tried behind a step that failed."""

    ok: bool
    steps: list[ConnectionStep]


class SshKeyView(Answer, frozen=True):
    """A public key of somebody. `kind`: ed25519, ecdsa, rsa, or one of these in a security key (sk-); `bits`: its size;
    `key`: the line as SSH reads it. `address`: from where it was added.
    """

    fingerprint: str
    kind: str
    bits: int
    comment: str
    key: str
    created_at: float
    address: str


class SshKeys(Answer, frozen=True):
    """Public keys of somebody, newest first. `changed_at`, `changed_from`: when, and from which address, one was added
    or deleted last; null: never.
    """

    items: list[SshKeyView]
    changed_at: float | None
    changed_from: str | None


class PrivacyView(Answer, frozen=True):
    """What people are told of one another. `owners_told`: whose the jobs are that they may not see; `changed_at` null:
    nobody has changed it, or it is `unreadable`: what was decided cannot be read, and owners are hidden until an
    administrator decides again.
    """

    owners_told: bool
    unreadable: bool
    changed_at: float | None
    changed_by: str | None
