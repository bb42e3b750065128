"""The queue on a virtual clock: recorded workloads through the very `plan` and `reduce` of the live service.

Reads workloads and machines (files), runs them, and says what came of it: numbers, tables, a report. No server, no wall
clock and no chance without a seed: the same workload, machines and policy give the same rows.
"""
