"""Floor 1: front ends. Each translates one way of writing a job into the native document; `registry` finds it."""
