"""Commands about people: accounts, credentials, keys, and how one comes in."""
