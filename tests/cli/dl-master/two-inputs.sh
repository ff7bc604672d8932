#!/bin/sh
# A network of two inputs that share their layers learns whether two digits are
# the same; a run by averages that goes on ends as one that was never stopped.
zcat "$DL_TEST_ROOT/scripts/share/examples/digits.csv.gz" | head -600 >left.csv
awk -F, '{ a[NR] = $0 } END { for (i = 1; i <= NR; ++i)
  print a[i % 2 ? i : (i * 7) % NR + 1] }' left.csv >right.csv
paste -d, left.csv right.csv |
  awk -F, '{ print 0 "," ($65 == $130 ? "same" : "other") }' >same.csv
for side in left right; do
  dl-preprocess csv --label -1 --shape 8,8,1 $side.csv -q -o $side.dls
done
dl-preprocess csv --label -1 -q same.csv -o same.dls
dl-shard -q --zip features/left=left.dls features/right=right.dls \
  labels=same.dls -n 3 --batch 50 -o pairs
cat >net.json <<'EOF'
{"seed": 3, "updater": {"type": "adam"},
 "inputs": [{"name": "left", "shape": [8, 8, 1]},
            {"name": "right", "shape": [8, 8, 1]}],
 "nodes": [
   {"name": "a", "type": "dense", "units": 32, "activation": "tanh",
    "from": "left"},
   {"name": "b", "type": "dense", "shares": "a", "from": "right"},
   {"name": "d", "type": "subtract", "from": ["a", "b"]},
   {"name": "square", "type": "multiply", "from": ["d", "d"]},
   {"name": "end", "type": "output", "units": 2,
    "loss": "negative_log_likelihood"}],
 "outputs": "end"}
EOF
train() { # MODE EPOCHS RUN
  dl-master -q --net net.json --data 'pairs-*.dls' --mode "$1" --local 1 \
    --deterministic --epochs "$2" -o "$3.safetensors" --run "$3" >/dev/null
}
train averaging 8 averaging && train sharing 8 sharing || exit
train averaging 3 again && train averaging 8 again || exit
for run in averaging again; do
  dl-infer -q --model $run.safetensors pairs-000.dls >$run.jsonl
done
cmp averaging.jsonl again.jsonl && echo the same
for run in averaging sharing; do
  dl-eval --min accuracy=0.9 --model $run.safetensors 'pairs-*.dls' >/dev/null &&
    echo "$run: learnt"
done
# Data of one input do not fit.
dl-infer --model averaging.safetensors left.dls
