"""Floor 4: the REST API of docs/design/api.md over HTTP. Translates requests to use cases of `service`, and decides
nothing.
"""
