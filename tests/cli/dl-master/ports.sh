# A port that is none is refused, not taken for another one.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
for port in 99999 65536 -1 12x 0x10 '' 1.5 +7; do
  master -o m.safetensors --bind "tcp://127.0.0.1:$port"
  echo "status $?"
  dl-worker --master "tcp://127.0.0.1:$port"
  echo "status $?"
done
master -o m.safetensors --bind 127.0.0.1:0
master -o m.safetensors --bind ipc://
dl-worker --master tcp://127.0.0.1:0
[ ! -e m.safetensors.run ]
