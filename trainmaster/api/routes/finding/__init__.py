"""Routes by which jobs are found again and compared: tags, notes and favorites, search over everything, saved views,
jobs side by side.
"""
