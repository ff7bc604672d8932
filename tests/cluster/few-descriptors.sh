#!/bin/bash
# Strangers that say nothing take more connections than the process may have
# descriptors: the oldest ones end, and a worker is let in and finishes the run.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
cat >strangers.py <<'PY'
import select
import signal
import socket
import sys
port = int(sys.argv[1])
held, ended = [], 0
while len(held) < 300:
    held.append(socket.create_connection(('127.0.0.1', port)))
    assert held[-1].recv(10)  # its greeting: it was accepted
    if len(held) > 200:
        # Each takes the place of an older one.
        assert select.select([held[ended]], [], [], 20)[0]
        while held[ended].recv(64):
            pass
        ended += 1
print(ended, 'strangers were ended', flush=True)
signal.pause()
PY
run m prlimit --nofile=256:256 dl-master --net net.json --data 'train-*.dls' \
  --batch 10 --normalize standardize --bind tcp://127.0.0.1:0 --epochs 2 \
  --min-workers 2 --master-file m.json -o m.safetensors
worker a m
await "a to join" event m.safetensors.run '"event":"join"'
run strangers python3 strangers.py \
  "$(sed 's/.*127.0.0.1:\([0-9]*\)".*/\1/' m.json)"
await "the strangers" test -s strangers.out
worker b m
finish m
finish a
finish b
cat strangers.out
slay strangers >/dev/null
check m.safetensors.run
grep -q "few descriptors are left" m.err && echo "strangers are told of"
