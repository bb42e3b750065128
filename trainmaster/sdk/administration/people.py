"""Accounts and members of workspaces: what `Client.people` offers. Synchronous.

Every method raises Forbidden for who may not, NotFound, InvalidSpec with all problems, Unavailable.
"""

from typing import TYPE_CHECKING, Literal

from trainmaster import answers
from trainmaster.sdk.administration.cluster import word

if TYPE_CHECKING:
    from trainmaster.sdk.transport import Transport

Theirs = Literal["keep", "stop"]
"""What becomes of somebody's jobs that have not ended."""


class PeopleCalls:
    """See the module."""

    def __init__(self, http: "Transport") -> None:
        self._http = http

    # -- accounts ----------------------------------------------------------------------------------------------

    def users(self) -> list[answers.AccountView]:
        """Return every account by name, with what they are members of."""
        return self._http.read(answers.AccountsView, "GET", "/users").items

    def user(self, name: str) -> answers.AccountView:
        """Return one account."""
        return self._http.read(answers.AccountView, "GET", f"/users/{word(name)}")

    def add_user(
        self, name: str, *, role: str = "user", workspace: str = "default", workspace_role: str = "member"
    ) -> answers.NewAccount:
        """Make an account; the answer has the one-time password, which is shown never again. Raises Conflict where the
        name is or was somebody's.
        """
        body = {"name": name, "role": role, "workspace": workspace, "workspace_role": workspace_role}
        return self._http.read(answers.NewAccount, "POST", "/users", json=body)

    def lock(self, name: str, jobs: Theirs | None = None) -> answers.AccountView:
        """Let nobody in with an account. Raises Conflict where jobs have not ended and `jobs` does not say what becomes
        of them.
        """
        return self._http.read(answers.AccountView, "POST", f"/users/{word(name)}/lock", json={"jobs": jobs})

    def unlock(self, name: str) -> answers.AccountView:
        """Let somebody in again."""
        return self._http.read(answers.AccountView, "POST", f"/users/{word(name)}/unlock")

    def reset_password(self, name: str) -> answers.OneTimePassword:
        """Give somebody a one-time password; their sessions end."""
        return self._http.read(answers.OneTimePassword, "POST", f"/users/{word(name)}/password")

    def delete_user(self, name: str, jobs: Theirs | None = None) -> None:
        """Delete an account; nobody else ever gets its name. Raises like `lock`."""
        params: dict[str, object] = {} if jobs is None else {"jobs": jobs}
        self._http.request("DELETE", f"/users/{word(name)}", params=params)

    # -- members -----------------------------------------------------------------------------------------------

    def members(self, workspace: str) -> list[answers.MemberView]:
        """Return the members of a workspace by name."""
        return self._http.read(answers.MembersView, "GET", f"/workspaces/{word(workspace)}/members").items

    def put_member(self, workspace: str, user: str, role: str = "member") -> answers.MemberView:
        """Make somebody a member, or give a member another role: owner, admin, member or viewer."""
        path = f"/workspaces/{word(workspace)}/members/{word(user)}"
        return self._http.read(answers.MemberView, "PUT", path, json={"role": role}, repeat=True)

    def remove_member(self, workspace: str, user: str) -> None:
        """Remove a member, or leave; their jobs go on."""
        self._http.request("DELETE", f"/workspaces/{word(workspace)}/members/{word(user)}")

    # -- invitations -------------------------------------------------------------------------------------------

    def invitations(self, workspace: str) -> list[answers.InvitationView]:
        """Return the invitations to a workspace, newest first."""
        return self._http.read(answers.Invitations, "GET", f"/workspaces/{word(workspace)}/invitations").items

    def invite(
        self, workspace: str, role: str = "member", *, expires_in_s: float = 7 * 86400.0
    ) -> answers.NewInvitation:
        """Invite somebody to a workspace. `link` of the answer is the path of a page of the console, which is shown
        never again and is good once. Raises Conflict where too many are open.
        """
        body = {"role": role, "expires_in_s": expires_in_s}
        return self._http.read(answers.NewInvitation, "POST", f"/workspaces/{word(workspace)}/invitations", json=body)

    def revoke_invitation(self, workspace: str, invitation: str) -> None:
        """Let nobody use an invitation any more."""
        self._http.request("DELETE", f"/workspaces/{word(workspace)}/invitations/{word(invitation)}")

    def join(self, secret: str) -> answers.MemberView:
        """Become a member by an invitation; `secret`: what stands behind the # of its link."""
        return self._http.read(answers.MemberView, "POST", "/invitations/join", json={"secret": secret})

    # -- the sign-in provider ----------------------------------------------------------------------------------

    def identity(self, user: str) -> answers.IdentityView:
        """Return as whom the sign-in provider knows an account."""
        return self._http.read(answers.IdentityView, "GET", f"/users/{word(user)}/identity")

    def link(self, user: str, subject: str) -> answers.IdentityView:
        """Link an account to somebody at the sign-in provider. Raises Conflict where either is linked already."""
        body = {"subject": subject}
        return self._http.read(answers.IdentityView, "PUT", f"/users/{word(user)}/identity", json=body, repeat=True)

    def unlink(self, user: str) -> None:
        """Unlink an account; its sessions end."""
        self._http.request("DELETE", f"/users/{word(user)}/identity")

    # -- secrets of workspaces ---------------------------------------------------------------------------------

    def secrets(self, workspace: str) -> list[answers.SecretView]:
        """Return the secrets of a workspace by name; their values are told by nothing."""
        return self._http.read(answers.SecretsView, "GET", f"/workspaces/{word(workspace)}/secrets").items

    def set_secret(self, workspace: str, name: str, value: str) -> answers.SecretView:
        """Set a secret of a workspace, in place of the value that is there. Raises Conflict where there are too
        many.
        """
        path = f"/workspaces/{word(workspace)}/secrets/{word(name)}"
        return self._http.read(answers.SecretView, "PUT", path, json={"value": value}, repeat=True)

    def delete_secret(self, workspace: str, name: str) -> None:
        """Delete a secret; jobs that wait for their start and name it will fail."""
        self._http.request("DELETE", f"/workspaces/{word(workspace)}/secrets/{word(name)}")

    # -- your public keys --------------------------------------------------------------------------------------

    def ssh_keys(self) -> answers.SshKeys:
        """Return your public keys, newest first."""
        return self._http.read(answers.SshKeys, "GET", "/ssh-keys")

    def add_ssh_key(self, key: str) -> answers.SshKeyView:
        """Add a public key: one line, as in a file that ends in .pub. Raises Conflict where it is stored already."""
        return self._http.read(answers.SshKeyView, "POST", "/ssh-keys", json={"key": key})

    def delete_ssh_key(self, fingerprint: str) -> None:
        """Delete a public key."""
        self._http.request("DELETE", "/ssh-keys", params={"fingerprint": fingerprint})
