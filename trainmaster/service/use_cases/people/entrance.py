"""The ways in, made together: members and invitations, credentials, sign-ins, public keys; and what is for
those inside, secrets and storage connections.
"""

from dataclasses import dataclass

from trainmaster.service.context import Context
from trainmaster.service.people.people import People
from trainmaster.service.people.provider import Provider
from trainmaster.service.use_cases.people.credentials import Credentials
from trainmaster.service.use_cases.people.invitations import Inviting
from trainmaster.service.use_cases.people.members import Members
from trainmaster.service.use_cases.people.public_keys import PublicKeys
from trainmaster.service.use_cases.people.secrets import Secrets
from trainmaster.service.use_cases.people.sign_ins import SignIns
from trainmaster.service.use_cases.people.storage import StorageConnections
from trainmaster.store.database import Database
from trainmaster.store.people.accounts import PeopleRows
from trainmaster.store.people.identities import IdentityRows
from trainmaster.store.people.invitations import InvitationRows
from trainmaster.store.people.members import MemberRows
from trainmaster.store.people.secrets import SecretRows
from trainmaster.store.people.ssh_keys import SshKeyRows


@dataclass(frozen=True, slots=True)
class Entrance:
    """The use cases."""

    credentials: Credentials
    members: Members
    inviting: Inviting
    sign_ins: SignIns
    public_keys: PublicKeys
    secrets: Secrets
    storage: StorageConnections


def entrance_of(context: Context, people: People, database: Database) -> Entrance:
    """Return them, with a provider where one is set up. Raises InvalidSpec where its secret cannot be read."""
    rows, oidc = PeopleRows(database), context.config.sign_in.oidc
    provider = Provider(oidc, context.layout.home, context.clock) if oidc.issuer else None
    members = Members(context, people, MemberRows(database))
    inviting = Inviting(context, people, InvitationRows(database), rows, members)
    sign_ins = SignIns(context, people, rows, IdentityRows(database), inviting, provider)
    return Entrance(
        Credentials(context, people, rows),
        members,
        inviting,
        sign_ins,
        PublicKeys(context, SshKeyRows(database)),
        Secrets(context, SecretRows(database)),
        StorageConnections(context),
    )
