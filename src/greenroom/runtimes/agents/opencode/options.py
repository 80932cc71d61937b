"""The `options` of an OpenCode profile."""

from greenroom.runtimes.driver_options import AcpOptions


class OpencodeOptions(AcpOptions, frozen=True, kw_only=True):
    attach: bool = False
    """Whether a person can sit in the live session, in OpenCode's own terminal program."""
