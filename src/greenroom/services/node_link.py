"""One connection of one node, on the hub's side: what is sent over it, and when it is over."""

import asyncio

import msgspec
from starlette.types import Receive, Send

from greenroom.ids import new_id
from greenroom.link import frames
from greenroom.link.profile_definition import ProfileDefinition
from greenroom.rules.access.model import Principal
from greenroom.sentences import build_sentence
from greenroom.sentences.english import render_english

_OUTGOING = 4096
_LOOK_S = 60.0
_MOST_PROBLEMS = 20


class NodeLink:
    """One connection of one node."""

    def __init__(self, by: Principal, epoch: int, hello: frames.Hello, taken: int, send: Send) -> None:
        self.node_id = by.agent_id or ""
        self.by = by
        self.epoch = epoch
        self.live = hello.live
        self.newest = hello.newest
        self.sent: set[str] = set()
        self.orders = asyncio.Event()
        self.is_caught_up = asyncio.Event()
        self.is_over = asyncio.Event()
        self._send = send
        self._looks: dict[str, asyncio.Future[frames.Looked]] = {}
        self._outgoing: asyncio.Queue[frames.FromHub] = asyncio.Queue(_OUTGOING)
        self.note_taken(taken)

    def note_taken(self, number: int) -> None:
        """Once all that the node had kept is in the log, it can be seen which runs it has lost."""
        if number >= self.newest:
            self.is_caught_up.set()

    async def check_profile(self, definition: ProfileDefinition) -> frames.Looked:
        """Ask the node what prevents a profile from starting there."""
        wish = frames.Look(id=new_id("look"), definition=msgspec.to_builtins(render_english(definition)))
        found: asyncio.Future[frames.Looked] = asyncio.get_running_loop().create_future()
        self._looks[wish.id] = found
        self.send_soon(wish)
        try:
            async with asyncio.timeout(_LOOK_S):
                return await found
        except TimeoutError:
            said = build_sentence("profile_problem.no_answer", seconds=round(_LOOK_S))
            return frames.Looked(id=wish.id, problems=[str(said)], sentences=[said])
        finally:
            del self._looks[wish.id]

    def resolve_check(self, frame: frames.Looked) -> None:
        """The node's answer; one that nobody waits for any more is passed over."""
        waiting = self._looks.get(frame.id)
        if waiting is not None and not waiting.done():
            problems = [problem[:500] for problem in frame.problems[:_MOST_PROBLEMS]]
            sentences = frame.sentences[:_MOST_PROBLEMS]
            waiting.set_result(msgspec.structs.replace(frame, problems=problems, sentences=sentences))

    def send_soon(self, frame: frames.FromHub) -> None:
        """Send a frame soon. A node that does not read is cut off, and resumes."""
        try:
            self._outgoing.put_nowait(frame)
        except asyncio.QueueFull:
            self.is_over.set()

    async def write(self) -> None:
        while True:
            frame = await self._outgoing.get()
            await self._send({"type": "websocket.send", "text": frames.encode_from_hub(frame).decode()})

    async def end(self) -> None:
        """Ends the connection when it is over for the hub's part."""
        await self.is_over.wait()
        raise ConnectionError("it does not read, or has connected anew")


async def receive_text(receive: Receive) -> str:
    """The next frame of a node."""
    message = await receive()
    if message["type"] != "websocket.receive":
        raise ConnectionError("disconnected")
    text: str | None = message.get("text")
    if text is None:
        raise ConnectionError("sent bytes instead of text")
    return text
