#!/bin/bash
# Workers on the cuda device, in every mode, over an emulation of its libraries:
# what they learn is what workers on the cpu do, but for rounding.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
DL_CUDA_PLUGIN=$(dirname "$(command -v dl-worker)")/libemulated_cuda.so
export DL_CUDA_PLUGIN
[ -e "$DL_CUDA_PLUGIN" ] || { echo "no CUDA toolkit" >&2; exit 77; }
make_data
# learn NAME DEVICE OPTION...: what two workers of one device make of it
learn() {
  local name=$1 device=$2
  shift 2
  master "$name" --epochs 3 --min-workers 2 "$@"
  worker "$name-a" "$name" --device "$device"
  worker "$name-b" "$name" --device "$device"
  finish "$name"
  finish "$name-a"
  finish "$name-b"
  check "$name.safetensors.run"
}
loss() { grep -o '"loss":[0-9.e-]*' "$1.safetensors.run/events.jsonl" | tail -n 1; }
alike() {
  python3 -c '
import sys
cpu, cuda = (float(word.split(":")[1]) for word in sys.argv[1:])
print("alike" if abs(cpu - cuda) <= 0.03 * cpu else f"{cpu} on the cpu, {cuda} on cuda")' "$@"
}
for mode in averaging sharing sync; do
  how=(--mode "$mode")
  # Else who is first decides, and not the device.
  if [ "$mode" = sharing ]; then how+=(--staleness 0); fi
  learn "$mode-cpu" cpu "${how[@]}"
  learn "$mode-cuda" cuda:0 "${how[@]}"
  alike "$(loss $mode-cpu)" "$(loss $mode-cuda)"
done
# In mixed precision, one worker of it beside one of float32.
master mixed --epochs 3 --min-workers 2 --mode averaging
worker mixed-a mixed --device cuda:0 --precision bfloat16
worker mixed-b mixed --device cuda:0
finish mixed
finish mixed-a
finish mixed-b
check mixed.safetensors.run
grep -o '"device":"cuda:0[^"]*"' mixed.safetensors.run/events.jsonl | LC_ALL=C sort -u
alike "$(loss averaging-cpu)" "$(loss mixed)"
for precision in tf32 bfloat16; do
  dl-infer --device cuda --precision $precision --model sync-cuda.safetensors train-*.dls >$precision.jsonl
  dl-infer --device cpu --model sync-cuda.safetensors train-*.dls | cmp -s - $precision.jsonl ||
    echo "$precision differs"
done
dl-eval -q --device cuda --model sync-cuda.safetensors train-*.dls >cuda.txt
dl-eval -q --device cpu --model sync-cuda.safetensors train-*.dls >cpu.txt
cmp cuda.txt cpu.txt && echo "evaluated alike"
