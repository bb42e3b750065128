"""How people and programs write things: sizes, durations, lists of hosts, commands, text for a terminal. Pure."""
