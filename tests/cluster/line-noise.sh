#!/bin/bash
# Random bytes, HTTP and half a greeting on the port: counted, and the run goes
# on as if nothing had been.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
cat >noise.py <<'PY'
import random
import socket
import sys
port = int(sys.argv[1])
random.seed(1)
for i in range(200):
    s = socket.create_connection(('127.0.0.1', port))
    kind = i % 4
    if kind == 0:
        s.sendall(random.randbytes(400))
    elif kind == 1:
        s.sendall(b'GET / HTTP/1.1\r\nHost: boss\r\n\r\n')
    elif kind == 2:  # the start of a ZMTP 3 greeting
        s.sendall(b'\xff\0\0\0\0\0\0\0\1\x7f\3')
    else:  # ZMTP 1: an empty identity, then a frame that is not ours
        s.sendall(b'\1\0\x0d\0no master hi')
    s.close()
PY
master m --epochs 2 --min-workers 2
worker a m
await "the endpoint" test -s m.json
python3 noise.py "$(sed 's/.*127.0.0.1:\([0-9]*\)".*/\1/' m.json)" || fail "noise"
worker b m
finish m
finish a
finish b
check m.safetensors.run
grep -q "foreign" m.err && echo "foreign messages are counted"
