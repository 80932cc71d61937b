"""Hubs on machines of their own, whose cables to the database can be pulled without a word to either side."""

import contextlib
import os
import subprocess
from collections.abc import Iterator

from greenroom.testing.machine_requirements import need_program, skip_or_fail

NUMBER = os.getpid() % 200 + 20
BRIDGE = f"grb{os.getpid()}"[:15]
DATABASE_IP = f"10.214.{NUMBER}.1"
_ALL = 100_000_000


def ip(*words: str) -> None:
    subprocess.run([str(need_program("ip")), *words], check=True, capture_output=True)


class Cable:
    """A network namespace with two links: one to the database, which is pulled, and one by which the hub is called."""

    def __init__(self, place: int) -> None:
        self.space = f"grc{place}x{os.getpid()}"
        self.call_ip = f"10.215.{NUMBER}.{4 * place + 2}"
        self.prefix = [str(need_program("ip")), "netns", "exec", self.space]
        self._plug = f"grd{place}x{os.getpid()}"[:15]
        self._place = place

    def lay(self) -> None:
        ip("netns", "add", self.space)
        ip("-n", self.space, "link", "set", "lo", "up")
        self._link(self._plug, "database", f"10.214.{NUMBER}.{self._place + 2}/24")
        ip("link", "set", self._plug, "master", BRIDGE)
        calls = f"grh{self._place}x{os.getpid()}"[:15]
        self._link(calls, "calls", f"{self.call_ip}/30")
        ip("addr", "add", f"10.215.{NUMBER}.{4 * self._place + 1}/30", "dev", calls)

    def _link(self, outer: str, inner: str, address: str) -> None:
        ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", self.space)
        ip("link", "set", outer, "up")
        ip("-n", self.space, "addr", "add", address, "dev", inner)
        ip("-n", self.space, "link", "set", inner, "up")

    def hold(self, most_bytes: int) -> list[list[str]]:
        """The commands after which neither end has more than so many bytes on their way: with 1, all are dropped.

        It is not enough that the link leaves the bridge: where it had the bridge's address, it still hands over what
        comes in.
        """
        tc, queue = str(need_program("tc")), ["root", "bfifo", "limit", str(most_bytes)]
        here = [tc, "qdisc", "replace", "dev", self._plug, *queue]
        return [here, [*self.prefix, tc, "qdisc", "replace", "dev", "database", *queue]]

    @property
    def pulling(self) -> list[list[str]]:
        return self.hold(1)

    @property
    def plugging_in(self) -> list[list[str]]:
        return self.hold(_ALL)

    def pull(self) -> None:
        for command in self.pulling:
            subprocess.run(command, check=True, capture_output=True)

    def plug_in(self) -> None:
        for command in self.plugging_in:
            subprocess.run(command, check=True, capture_output=True)


@contextlib.contextmanager
def laid_cables(count: int) -> Iterator[list[Cable]]:
    """Cables to a bridge that has the address `DATABASE_IP`."""
    if os.geteuid():
        skip_or_fail("network namespaces need root")
    cables = [Cable(place) for place in range(count)]
    try:
        ip("link", "add", BRIDGE, "type", "bridge")
        ip("addr", "add", f"{DATABASE_IP}/24", "dev", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        for cable in cables:
            cable.lay()
    except subprocess.CalledProcessError as error:
        _take_away(cables)
        skip_or_fail(f"no network namespaces here: {error.stderr.decode().strip()}")
    try:
        yield cables
    finally:
        _take_away(cables)


def _take_away(cables: list[Cable]) -> None:
    for words in (*(("netns", "del", cable.space) for cable in cables), ("link", "del", BRIDGE)):
        with contextlib.suppress(subprocess.CalledProcessError):  # it was not laid
            ip(*words)
