#!/bin/bash
# An ipc address without a file, and so without permissions: another user's worker
# does not greet the master, and who does is not heard.
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
worker=$(command -v dl-worker)
[ "$(id -u)" = 0 ] || { echo "needs root, to be another user" >&2; exit 77; }
"${nobody[@]}" "$worker" --version >/dev/null 2>&1 || { echo "another user cannot run dl-worker" >&2; exit 77; }
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
bind=ipc://@dl-test-$$
master m --epochs 1
await "the master" test -s m.json
run stranger "${nobody[@]}" "$worker" --master "$bind"
finish stranger
sed "s#@dl-test-$$#@NAME#" stranger.err
python3 - "dl-test-$$" <<'PY'
import os, socket, sys

os.setgid(65534)
os.setuid(65534)
s = socket.socket(socket.AF_UNIX)
s.settimeout(20)
s.connect("\0" + sys.argv[1])
try:
    print("heard" if s.recv(1) else "ended")
except ConnectionResetError:
    print("ended")
PY
worker a m
finish a
finish m
