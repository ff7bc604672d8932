#!/bin/bash
# A master that is not there, and one that listens but never says a word.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
cat >mute.py <<'PY'
import socket
import time
s = socket.socket()
s.bind(('127.0.0.1', 0))
s.listen(8)
print(s.getsockname()[1], flush=True)
time.sleep(60)
PY
run closed dl-worker --master tcp://127.0.0.1:1 --wait 2s
run file dl-worker --master-file none.json --wait 1s
run mute python3 mute.py
await "a port" test -s mute.out
run unheard dl-worker --master "tcp://127.0.0.1:$(cat mute.out)" --wait 2s
finish closed
grep -v '^dl-worker: waiting' closed.err
finish file
grep -v '^dl-worker: waiting' file.err
finish unheard
sed -n 's/:[0-9]* within/:PORT within/; s/ (.*//; /no answer/p' unheard.err
