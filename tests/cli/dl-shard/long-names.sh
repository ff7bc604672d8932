#!/bin/bash
# A file's name may have 255 bytes, also while it is written, whichever tool it is.
long() { printf "%0$((255 - ${#1}))d%s" 0 "$1"; }
data=$(long .dls) model=$(long .safetensors) lines=$(long .jsonl) report=$(long .json)
printf '0,0,a\n1,1,b\n0,1,a\n1,0,b\n' | dl-preprocess csv --label 3 -o "$data" -
prefix=$(printf '%0241d' 0)
dl-shard -q -n 2 -o "$prefix" "$data"
cat >net.json <<'END'
{"seed": 1, "input": {"shape": [2]},
 "layers": [{"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}
END
echo '-- the run directory is called after the model'
dl-master -q --net net.json --data "$data" --local 1 --epochs 1 -o "$model" 2>&1 |
  sed 's/0000*/0.../g'
dl-master -q --net net.json --data "$prefix-*.dls" --local 1 --epochs 1 -o "$model" \
  --run run --master-file "$report" 2>/dev/null
dl-infer -q --model "$model" -o "$lines" "$data"
for file in *; do echo "$(printf %s "$file" | sed 's/0000*/0.../') ${#file}"; done
find . -name '.*.tmp'
