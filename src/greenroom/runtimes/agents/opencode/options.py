"""The `options` of an OpenCode profile."""

from greenroom.runtimes.driver_options import AcpOptions


class OpencodeOptions(AcpOptions, frozen=True, kw_only=True):
    attach: bool = False
    """Whether people can attach to the live session, in OpenCode's own terminal program."""
