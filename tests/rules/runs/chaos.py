"""A proxy between a node and its hub that cuts, delays and silences connections."""

import asyncio
import random
import threading

from greenroom.testing.timeouts import WAIT_S


class ChaosProxy:
    """Forwards a port. Each connection is cut after some bytes that chance decides, until it is told to be calm."""

    def __init__(self, target_port: int, seed: int) -> None:
        self.port = 0
        self.cuts = 0
        self._target = target_port
        self._random = random.Random(seed)
        self._is_calm = False
        self._is_closed = False
        self._loud = asyncio.Event()
        self._loud.set()
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.StreamWriter] = set()
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(ready,), daemon=True)
        self._thread.start()
        assert ready.wait(WAIT_S)

    def _run(self, ready: threading.Event) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_closed:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        self._open |= {writer, far_writer}
        budget = [self._random.randint(1500, 9000)]
        both = (self._pump(reader, far_writer, budget), self._pump(far_reader, writer, budget))
        await asyncio.wait([self._loop.create_task(one) for one in both], return_when=asyncio.FIRST_COMPLETED)
        for one in (writer, far_writer):
            self._open.discard(one)
            one.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: list[int]) -> None:
        try:
            while piece := await reader.read(4096):
                piece = piece.replace(b"Host: 127.0.0.1:%d\r\n" % self.port, b"Host: 127.0.0.1:%d\r\n" % self._target)
                await self._loud.wait()
                if not self._is_calm:
                    await asyncio.sleep(self._random.random() * 0.01)
                    budget[0] -= len(piece)
                    if budget[0] < 0:
                        self.cuts += 1
                        writer.write(piece[: self._random.randint(0, len(piece))])
                        return
                writer.write(piece)
                await writer.drain()
        except OSError:
            return

    def calm(self) -> None:
        """Cut no more."""
        self._is_calm = True

    def cut(self) -> None:
        """Cut what is connected now."""
        for one in tuple(self._open):
            self._loop.call_soon_threadsafe(one.transport.abort)

    def refuse(self, on: bool) -> None:
        """Cut what is connected now and let nobody in; or let everybody in again."""
        self._is_closed = on
        if on:
            self.cut()

    def silence(self, on: bool) -> None:
        """Hold back everything, without a word to either side; or let it go on."""
        self._loop.call_soon_threadsafe(self._loud.clear if on else self._loud.set)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_S)
