#!/bin/bash
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
exec 3< <(exec python3 -c 'import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True); time.sleep(60)')
python=$!
read -r port <&3
master --bind "tcp://127.0.0.1:$port" -o m.safetensors
rc=$?
kill $python
exit $rc
