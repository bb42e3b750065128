"""Who is who: users, passwords, sessions, tokens, and turns for those who guess."""
