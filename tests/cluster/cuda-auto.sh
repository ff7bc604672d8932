#!/bin/bash
# --device auto: a worker on each GPU, here of an emulation's.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
DL_CUDA_PLUGIN=$(dirname "$(command -v dl-worker)")/libemulated_cuda.so
export DL_CUDA_PLUGIN DL_EMULATED_GPUS=2
[ -e "$DL_CUDA_PLUGIN" ] || { echo "no CUDA toolkit" >&2; exit 77; }
make_data
gpus() { run "$1" dl-worker --master-file "${1%-*}.json" --device auto; }
joined() { # MASTER FIELD [WANTED]
  field_of_events "$1.safetensors.run" "${3:-{\"event\": \"join\"\}}" "$2" | sort
}
devices() { [ "$(joined "$1" device | wc -l)" = "$2" ]; }

echo "-- each GPU has a worker"
master both --epochs 3 --min-workers 2
gpus both-w
finish both
finish both-w
check both.safetensors.run
joined both device

echo "-- of which one is killed"
master killed --epochs 3 --min-workers 2
DL_FAILPOINTS='worker.after_batch=stop@5' gpus killed-w
await "two workers" devices killed 2
mapfile -t of < <(joined killed pid)
stopped() { [ "$(ps -o state= -p "$1")" = T ]; }
for process in "${of[@]}"; do await "a worker to stop" stopped "$process"; done
lost=$(joined killed pid '{"event": "join", "device": "cuda:1"}')
kill -KILL "$lost"
for process in "${of[@]}"; do kill -CONT "$process" 2>/dev/null; done
finish killed
finish killed-w
check killed.safetensors.run
grep -o 'the worker on cuda:1 .*' killed-w.err | sort -u

echo "-- which are told to stop"
master told --epochs 1000 --min-workers 2
gpus told-w
await "two workers" devices told 2
kill -TERM "${pid[told-w]}"
finish told-w
grep -c 'told to stop; what was unfinished' told-w.err
kill -TERM "${pid[told]}"
finish told

echo "-- whose first process is killed"
master gone --epochs 1000 --min-workers 2
gpus gone-w
await "two workers" devices gone 2
{ # bash reports what dies at once
  slay gone-w
} 2>/dev/null
left() { event gone.safetensors.run '"event":"leave".*"worker":1[,}]' && event gone.safetensors.run '"event":"leave".*"worker":2[,}]'; }
await "both to leave" left
kill -TERM "${pid[gone]}"
finish gone

echo "-- a launcher says which"
master local --epochs 1
SLURM_STEP_ID=0 SLURM_LOCALID=3 gpus local-w
finish local
finish local-w
joined local device
grep -o -- '--device auto: .*' local-w.err

echo "-- workers of the master's"
run m dl-master --net net.json --data 'train-*.dls' --batch 10 --local 2 \
  --device auto --normalize standardize -o m.safetensors
finish m
joined m device

echo "-- without a GPU"
master none --epochs 1
DL_EMULATED_GPUS=0 gpus none-w
finish none
finish none-w
joined none device
dl-worker --master tcp://127.0.0.1:1 --device auto --keys - 2>&1 </dev/null
echo "status $?"

echo "-- with those that are not ready"
export DL_EMULATED_GPUS=-1
dl-worker --master tcp://127.0.0.1:1 --wait 1ms --device auto 2>&1 | grep -e '--device auto'
dl-worker --master tcp://127.0.0.1:1 --device cuda:all 2>&1
echo "status $?"
