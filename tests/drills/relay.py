"""A relay that is as slow as a network may be, where the kernel makes no slow networks.

It hands on what comes in its order, as TCP does, each piece after a delay by lot; while it is cut
it keeps what comes, as what is sent is sent again once a cable is back.
"""

from __future__ import annotations

import asyncio
import threading
from random import Random

READ_BYTES = 65_536


class Relay:
    """Listens at a port of its own and leads to another, in a thread."""

    def __init__(self, port: int, seed: int = 1, *, host: str = "127.0.0.1") -> None:
        """Takes the port that it leads to, and of which host."""
        self.base_ms = self.jitter_ms = 0.0
        """How long the way takes in one direction: the mean, and how much more or less it may
        be."""
        self.port = 0
        self._there = host, port
        self._dice = Random(seed)
        self._loop = asyncio.new_event_loop()
        self._healed = asyncio.Event()
        self._healed.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._ready = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()
        self._ready.wait()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._take, "127.0.0.1", 0))
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()

    def cut(self) -> None:
        """Lets nothing come through from now on, and tells nobody."""
        self._loop.call_soon_threadsafe(self._healed.clear)

    def heal(self) -> None:
        """What was kept comes through, and all else."""
        self._loop.call_soon_threadsafe(self._healed.set)

    def break_off(self) -> None:
        """Ends every connection."""

        def abort() -> None:
            for writer in self._writers:
                writer.transport.abort()

        self._loop.call_soon_threadsafe(abort)

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            back, on = await asyncio.open_connection(*self._there)
        except OSError:
            writer.transport.abort()
            return
        both = {writer, on}
        self._writers |= both
        await asyncio.gather(self._pass_on(reader, on), self._pass_on(back, writer))
        self._writers -= both

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        sending = self._loop.create_task(self._send(pieces, writer))
        data = b"first"
        while data:
            try:
                data = await reader.read(READ_BYTES)
            except OSError:
                data = b""
            jitter = self._dice.uniform(-self.jitter_ms, self.jitter_ms)
            pieces.put_nowait((self._loop.time() + (self.base_ms + jitter) / 1000, data))
        await sending

    async def _send(
        self, pieces: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter
    ) -> None:
        while True:
            due, data = await pieces.get()
            await asyncio.sleep(max(0.0, due - self._loop.time()))
            await self._healed.wait()
            if not data:
                writer.close()
                return
            writer.write(data)
