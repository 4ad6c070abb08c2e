"""The two ways in which the platform says no, each with one clear sentence."""


class BadInput(Exception):
    """What was sent cannot be taken as it is; the message says what to change. Nothing was stored."""

    status = 400


class Refused(Exception):
    """A rule of the study forbids it; the message names the rule. Nothing was stored."""

    status = 409
