#!/usr/bin/env python3
"""Chromium that does not hear when network interfaces of the machine come and go.

Chromium gives up requests with ERR_NETWORK_CHANGED when an address appears anywhere on the machine, such as that of a
network namespace of another test, and has no option against it. It hears of that by a netlink socket; where it cannot
open one, it takes the network for unchanged. A seccomp filter denies it the socket. Where there is no seccomp,
Chromium starts as it is.

Usage: quiet_chromium.py ARGUMENT..., with the program in $REAL_CHROMIUM.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
"""Where they are in what a filter sees of a system call."""
_SOCKET_CALLS = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""The architecture as seccomp knows it, and its number of socket()."""
_AF_NETLINK = 16


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def deny_netlink() -> None:
    """Let socket() fail for netlink from now on, in this process and all that it starts."""
    if platform.machine() not in _SOCKET_CALLS:
        return
    architecture, socket_call = _SOCKET_CALLS[platform.machine()]
    instructions = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_IF_EQUAL, 0, 4, architecture),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_IF_EQUAL, 0, 2, socket_call),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_JUMP_IF_EQUAL, 1, 0, _AF_NETLINK),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _FAIL | errno.EAFNOSUPPORT),
    ]
    program = _Program(len(instructions), b"".join(struct.pack("HBBI", *one) for one in instructions))
    libc = ctypes.CDLL(None)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program))


if __name__ == "__main__":
    deny_netlink()
    program = os.environ["REAL_CHROMIUM"]
    os.execv(program, [program, *sys.argv[1:]])  # noqa: S606 the browser that the tests have found
