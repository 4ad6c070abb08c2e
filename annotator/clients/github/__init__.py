"""GitHub, spoken to by GraphQL and REST: searched by windows of time, read into frozen copies, within its limits.

`client.GitHub` is the door; the other modules are what it gives and takes. Only `wire` and `client` load PyGithub.
"""
