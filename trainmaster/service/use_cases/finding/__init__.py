"""Use cases by which jobs are found again: tags, notes and favorites, search over everything, saved views."""
