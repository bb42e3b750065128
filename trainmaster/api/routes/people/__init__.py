"""Routes about people: accounts and members, invitations, signing in through a provider, public keys."""
