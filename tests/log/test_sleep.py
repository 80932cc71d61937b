"""A machine that sleeps: the hub's time goes on meanwhile, and so does the time of what waits for an answer."""

import subprocess
import sys

from greenroom.testing.machine_requirements import skip_or_fail
from greenroom.testing.timeouts import WAIT_S

_SLEPT_S = 3600
_UNSHARE = ["unshare", "--user", "--map-root-user"]
_SCRIPT = f"""
import ctypes, os, subprocess
from greenroom.clock import HubClock

beyond = subprocess.Popen(["unshare", "--time", "--boottime", "{_SLEPT_S}", "sh", "-c", "echo; cat"],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
beyond.stdout.readline()
clock = HubClock(lambda: 0)
before = clock.now()
there = os.open(f"/proc/{{beyond.pid}}/ns/time", os.O_RDONLY)
assert ctypes.CDLL(None, use_errno=True).setns(there, 0x80) == 0, os.strerror(ctypes.get_errno())
print(clock.now() - before)
beyond.communicate()
"""
"""Afterwards the clock that counts sleep is ahead by an hour, and the one that does not is where it was."""


def test_the_hubs_time_goes_on_while_the_machine_sleeps() -> None:
    if subprocess.run([*_UNSHARE, "--time", "true"], capture_output=True, check=False).returncode:
        skip_or_fail("this machine has no namespaces of time")
    command = [*_UNSHARE, sys.executable, "-c", _SCRIPT]
    passed = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S, check=False)
    assert passed.returncode == 0, passed.stderr
    assert int(passed.stdout) >= _SLEPT_S * 1000
