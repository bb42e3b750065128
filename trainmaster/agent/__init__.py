"""Beside the user's processes: prepares, starts, watches, samples and ends the tasks of one host.

One process per host (`python -m trainmaster.agent --home HOME`), single-threaded but for `apart`, standard library
only, imports only core, frameworks and messages. It outlives the server, and the tasks outlive it: everything it knows
is on disk (`records`), its parent, the `keeper`, notes the exit codes of tasks it could not wait for, and a restarted
agent adopts what runs. Read docs/design/agent.md.
"""
