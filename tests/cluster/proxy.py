"""Stands between workers and their master, and resets connections.

usage: proxy.py MASTER.json PROXY.json SEED CUTS

Takes connections for the endpoint that MASTER.json names and writes one like it
to PROXY.json.  Each connection is reset, in both directions, when a number of
bytes that SEED determines has passed; after CUTS resets all go through.  Goes on
until it is killed."""

import json
import os
import random
import selectors
import socket
import struct
import sys

master_file, proxy_file, seed, cuts = sys.argv[1:]
cuts = int(cuts)
dice = random.Random(int(seed))
listener = socket.create_server(("127.0.0.1", 0))
description = json.load(open(master_file))
port = int(description["endpoint"].rsplit(":", 1)[1])
description["endpoint"] = "tcp://127.0.0.1:%d" % listener.getsockname()[1]
with open(proxy_file + ".tmp", "w") as out:
    json.dump(description, out)
os.rename(proxy_file + ".tmp", proxy_file)

selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)


def hang_up(ends):
    for end in ends:
        selector.unregister(end)
        # No FIN: what is under way is lost on both sides.
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        end.close()


while True:
    for key, _ in selector.select():
        if key.fileobj is listener:
            near = listener.accept()[0]
            try:
                far = socket.create_connection(("127.0.0.1", port))
            except OSError:
                near.close()
                continue
            line = {"ends": (near, far), "left": dice.randrange(300, 6000)}
            for end in line["ends"]:
                selector.register(end, selectors.EVENT_READ, line)
            continue
        line = key.data
        if key.fileobj.fileno() < 0:  # closed in this round
            continue
        near, far = line["ends"]
        try:
            data = key.fileobj.recv(4096)
            (far if key.fileobj is near else near).sendall(data)
        except OSError:
            data = b""
        line["left"] -= len(data)
        if cuts > 0 and line["left"] < 0:
            cuts -= 1
            print("reset", flush=True)
            data = b""
        if not data:
            hang_up(line["ends"])
