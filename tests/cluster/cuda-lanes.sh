#!/bin/bash
# A worker on several GPUs, over an emulation: it learns what one on the cpu does, the
# same each time; one that dies costs a step.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
DL_CUDA_PLUGIN=$(dirname "$(command -v dl-worker)")/libemulated_cuda.so
export DL_CUDA_PLUGIN DL_EMULATED_GPUS=3
[ -e "$DL_CUDA_PLUGIN" ] || { echo "no CUDA toolkit" >&2; exit 77; }
make_data
sed -i 's/"layers": \[/&\n    {"type": "batch_norm"},/' net.json
# learn NAME DEVICE OPTION...
learn() {
  local name=$1 device=$2
  shift 2
  master "$name" --epochs 2 --min-workers 2 "$@"
  DL_FAILPOINTS=$failpoint worker "$name-a" "$name" --device "$device"
  worker "$name-b" "$name" --device "$device"
  # The two that begin have work for sure.
  [ -z "$failpoint" ] || {
    await "two workers" event "$name.safetensors.run" '"event":"join".*"worker":2[,}]'
    worker "$name-c" "$name" --device "$device"
  }
  finish "$name"
  finish "$name-a"
  finish "$name-b"
  [ -z "$failpoint" ] || finish "$name-c"
  check "$name.safetensors.run"
}
failpoint=
loss() { grep -o '"loss":[0-9.e-]*' "$1.safetensors.run/events.jsonl" | tail -n 1; }
alike() {
  python3 -c '
import sys
cpu, cuda = (float(word.split(":")[1]) for word in sys.argv[1:])
print("alike" if abs(cpu - cuda) <= 1e-3 * cpu else f"{cpu} on the cpu, {cuda} on cuda")' \
    "$(loss "$1")" "$(loss "$2")"
}
learn cpu cpu --mode sync --workers 2
learn two cuda:0,1 --mode sync --workers 2
alike cpu two
learn again cuda:2,1 --mode sync --workers 2
cmp two.safetensors again.safetensors && echo "same bytes"
failpoint=worker.after_batch=kill@7
learn lost cuda:0,1 --mode sync --workers 2
cmp two.safetensors lost.safetensors && echo "same bytes"
failpoint=
learn average-cpu cpu --mode averaging
learn average cuda:all --mode averaging
alike average-cpu average
dl-eval -q --device cuda:all --model two.safetensors train-*.dls >gpus.txt
dl-eval -q --device cpu --model two.safetensors train-*.dls >cpu.txt
cmp gpus.txt cpu.txt && echo "evaluated alike"
dl-worker --master tcp://127.0.0.1:1 --device cuda:0,5
echo "status $?"
