#!/bin/bash
# --deterministic computes alike whatever oneDNN may use, and without it what a
# model was computed with can be read from the run and from the model.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
case $(uname -m) in
  x86_64) ;;
  *) echo "skipped: no AVX2" >&2; exit 77 ;;
esac
if ! grep -qw fma /proc/cpuinfo || ! grep -qw avx2 /proc/cpuinfo; then
  echo "skipped: no AVX2" >&2
  exit 77
fi
make-idx() { # images of 8 x 8 and their classes
  python3 - <<'END'
import struct
images = bytes((i * 7 + p * p * (1 + i % 3)) % 251 for i in range(60) for p in range(64))
open("x", "wb").write(struct.pack(">BBBBIII", 0, 0, 8, 3, 60, 8, 8) + images)
open("y", "wb").write(struct.pack(">BBBBI", 0, 0, 8, 1, 60) + bytes(i % 3 for i in range(60)))
END
}
make-idx
dl-preprocess idx x y -o images.dls
cat >conv.json <<'END'
{"seed": 3, "input": {"shape": [8, 8, 1]},
 "updater": {"type": "sgd", "learning_rate": 0.05},
 "layers": [
   {"type": "conv2d", "filters": 8, "kernel": [3, 3], "activation": "relu"},
   {"type": "conv2d", "filters": 8, "kernel": [3, 3], "stride": [2, 2],
    "activation": "relu"},
   {"type": "output", "units": 3, "activation": "softmax",
    "loss": "negative_log_likelihood"}]}
END
run() { # NAME LIMIT OPTION...
  local name=$1 limit=$2
  shift 2
  ONEDNN_MAX_CPU_ISA=$limit dl-master --net conv.json --data images.dls \
    --mode averaging --local 2 --threads 1 --batch 8 --epochs 3 -q \
    -o "$name.safetensors" "$@"
  echo "$name $?"
  grep -o '"instructions":"[^"]*"' "$name.safetensors.run/events.jsonl" 2>/dev/null |
    sort -u >"$name.said"
}
run all ALL --deterministic
run narrow AVX2 --deterministic
cmp all.safetensors narrow.safetensors && echo same
cat all.said narrow.said
run free AVX2
grep -c avx2 free.said
grep -o '\\"instructions\\":\[[^]]*avx2[^]]*\]' -c free.safetensors
grep -c '"instructions"' free.safetensors.run/run.json
# It is part of what shapes the result.
run all ALL
run other ALL --device reference --deterministic
