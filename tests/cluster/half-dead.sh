#!/bin/bash
# A line that dies from the master to a worker alone: the other worker of the
# round, which waits for that one's part and stands as still, is used again.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
cat >half.py <<'PY'
import json
import os
import socket
import sys
import threading

port = int(json.load(open('m.json'))['endpoint'].rsplit(':', 1)[1])
listener = socket.create_server(('127.0.0.1', 0))
with open('half.new', 'w') as file:
    json.dump({'endpoint': 'tcp://127.0.0.1:%d' % listener.getsockname()[1]}, file)
os.rename('half.new', 'half.json')
near = listener.accept()[0]
far = socket.create_connection(('127.0.0.1', port))
left = 12000  # bytes, of the run's first rounds


def up():
    while data := near.recv(65536):
        far.sendall(data)


threading.Thread(target=up, daemon=True).start()
while data := far.recv(65536):
    left -= len(data)
    if left > 0:
        near.sendall(data)
    elif left + len(data) > 0:
        print('the line is dead', flush=True)
PY
DL_MASTER_STUCK_AFTER=1s master m --mode sync --workers 2 --min-workers 2 --epochs 60
await "the endpoint" test -s m.json
run half python3 half.py
await "the line" test -s half.json
worker good m
worker bad half
finish m
finish good
cat half.out
event m.safetensors.run "does not move" || fail "nobody stood still"
check m.safetensors.run
