#!/bin/bash
# Workers that wait for a master whose run is finished are told so: by a master that is
# started again, and by the file in which it says where it is.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
master m --epochs 1
worker a m
finish m
finish a
grep -o '"finished":true' m.json
# It was told before the worker came, and may be of another run.
worker late m --wait 1s
finish late
grep -o "'m.json' is of a run that is finished" late.err | head -1
# The same command, with a worker beside it.
worker b m
await "its first look" said b.err 'waiting for'
master m --epochs 1
finish m
finish b
# Without the file, at the address.
port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
run c dl-worker --master "tcp://127.0.0.1:$port"
await "its first look" said c.err 'waiting for'
bind=tcp://127.0.0.1:$port master m --epochs 1
finish m
finish c
# One that was lost: the file tells it.
cp m.json over.json
printf '{"endpoint":"tcp://127.0.0.1:%s","run":"0","curve":""}' "$port" >m.json
worker d m
await "its first look" said d.err 'waiting for'
cp over.json m.json
finish d
grep -o 'the run is finished' d.err
