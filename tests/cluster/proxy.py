"""Stands between workers and their master, and does what networks do.

usage: proxy.py MASTER.json PROXY.json SEED FAULTS KIND...

Takes connections for the endpoint that MASTER.json names and writes one like it
to PROXY.json.  Each connection suffers a fault when a number of bytes that SEED
determines has passed, and again after that; after FAULTS of them all goes
through.  Prints the KIND of each:

reset      both sides get a RST, what is under way is lost
delay      one direction stands still for a moment
cut        nothing passes any more, and nobody is told
halve      the same in one direction
duplicate  the master gets a second connection that says what this one said
flip       a bit of what passes is another one

Goes on until it is killed."""

import asyncio
import json
import os
import random
import socket
import struct
import sys

master_file, proxy_file, seed, faults = sys.argv[1:5]
kinds = sys.argv[5:]
dice = random.Random(int(seed))
left = int(faults)


def flipped(data):
    at = dice.randrange(8 * len(data))
    data = bytearray(data)
    data[at // 8] ^= 1 << at % 8
    return bytes(data)


class Line:
    """One connection, from the worker (near) to the master (far)."""

    def __init__(self, near, far):
        self.near, self.far = near, far  # (reader, writer)
        self.said = bytearray()          # by the worker
        self.plan()

    def plan(self):
        self.until = dice.randrange(300, 6000)
        self.kind = dice.choice(kinds)
        self.muted = set()  # readers of which nothing passes

    def reset(self):
        for _, writer in (self.near, self.far):
            end = writer.get_extra_info("socket")
            if end.fileno() >= 0:  # it may be over
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()

    async def duplicate(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(bytes(self.said))
        while await reader.read(4096):
            pass
        writer.close()

    async def suffer(self, reader):
        global left
        left -= 1
        kind = self.kind
        print(kind, flush=True)
        if kind == "reset":
            self.reset()
        elif kind == "flip":
            self.until = dice.randrange(300, 6000)
        elif kind == "delay":
            self.until = dice.randrange(300, 6000)
            await asyncio.sleep(dice.uniform(0.05, 0.5))
        elif kind == "duplicate":
            self.until = dice.randrange(300, 6000)
            keep(self.duplicate())
        else:
            self.muted = {self.near[0], self.far[0]} if kind == "cut" else {reader}

    async def pump(self, reader, writer):
        try:
            while data := await reader.read(4096):
                if reader is self.near[0]:
                    self.said += data
                self.until -= len(data)
                if left > 0 and self.until < 0 and not self.muted:
                    if self.kind == "flip":
                        data = flipped(data)
                    await self.suffer(reader)
                if reader in self.muted:
                    continue  # not even the end of it
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        if not self.muted:
            self.reset()
        else:
            # Whoever is still there has to find out by itself.
            reader_transport = self.near[1] if reader is self.near[0] else self.far[1]
            reader_transport.transport.abort()


tasks = set()


def keep(work):
    task = asyncio.ensure_future(work)
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def connect(*near):
    try:
        far = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        near[1].transport.abort()
        return
    line = Line(near, far)
    keep(line.pump(near[0], far[1]))
    keep(line.pump(far[0], near[1]))


async def main():
    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    description["endpoint"] = "tcp://127.0.0.1:%d" % server.sockets[0].getsockname()[1]
    with open(proxy_file + ".tmp", "w") as out:
        json.dump(description, out)
    os.rename(proxy_file + ".tmp", proxy_file)
    await server.serve_forever()


description = json.load(open(master_file))
port = int(description["endpoint"].rsplit(":", 1)[1])
asyncio.run(main())
