#!/bin/bash
# A run is drawn by a server that begins and ends with it, and shows its end; a
# port that is taken is a warning.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
master --epochs 2 --mode averaging --bind ipc://master.sock --plot 0 -o model.safetensors 2>log &
until grep -qs 'drawn at' log; do
  kill -0 $! || exit
  sleep 0.05
done
url=$(sed -n 's/.*drawn at //p' log)
curl -sf "$url" | grep -o '<title>model</title>'
curl -sN "${url}events" >events &
watcher=$!
until grep -qs '^data' events; do
  kill -0 $watcher || exit
  sleep 0.05
done
dl-worker -q --master ipc://master.sock &
until grep -qs '^event: end' events; do
  kill -0 $watcher || exit
  sleep 0.05
done
curl -sf "$url" | grep -oE '<dt>(State|Epochs)</dt><dd>[^<]*' | sed 's/<[^>]*>/ /g'
kill $watcher
wait
grep -oE 'scores|drawn at http://127.0.0.1:[0-9]+/' log | sed 's/:[0-9]*\/$/:PORT\//'
curl -sf "$url" || echo "the server has ended"
python3 - <<'PYTHON'
import socket, subprocess
with socket.socket() as taken:
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    port = taken.getsockname()[1]
    run = subprocess.run(["dl-master", "--net", "net.json", "--data", "train-*.dls", "--local", "1", "--fresh",
                          "--plot", str(port), "-o", "model.safetensors"], capture_output=True, text=True)
    print(run.returncode, [line.replace(str(port), "PORT") for line in run.stderr.splitlines() if "plot" in line])
PYTHON
master --plot x -o model.safetensors
echo "status $?"
master --plot 0 --dry-run
echo "status $?"
