#!/bin/bash
# A network of two inputs and two outputs learns both, in both modes; a run by
# averages that goes on ends as one that was never stopped.
. "$DL_TEST_ROOT/tests/cli/_two_outputs.sh"
train() { # MODE EPOCHS RUN [OPTION]...
  dl-master -q --net net.json --data 'pairs-00[01].dls' \
    --eval-data pairs-002.dls --mode "$1" --local 1 --deterministic --batch 10 \
    --epochs "$2" -o "$3.safetensors" --run "$3" "${@:4}" >/dev/null
}
train averaging 6 averaging && train sharing 6 sharing || exit
train averaging 2 again && train averaging 6 again || exit
for run in averaging again; do
  dl-infer -q --model $run.safetensors pairs-002.dls >$run.jsonl
done
cmp averaging.jsonl again.jsonl && echo the same
for run in averaging sharing; do
  dl-eval --model $run.safetensors --min digit:accuracy=0.8 \
    --min same:accuracy=0.9 pairs-002.dls >/dev/null && echo "$run: learnt"
done

echo '== what an output is evaluated for is said by its name'
settings() {
  tr -d ' \n' <"$1/run.json" |
    grep -o '"evaluations":\[[^]]*\],\|"metric":"[^"]*"'
}
settings averaging
grep -o '"[a-z]*:[a-z]*":{' averaging/events.jsonl | sort | uniq -c
grep -o '"metrics":{"digit:acc[^}]*}' averaging/events.jsonl | tail -1 |
  sed 's/:[01][.0-9]*/:N/g'
train averaging 1 named --evaluate digit=classification:top=3 \
  --evaluate roc --metric top_3_accuracy --target top_3_accuracy=0.1 || exit
settings named

echo '== what is not clear is refused'
train averaging 1 none --metric accuracy
train averaging 1 none --evaluate parity=roc
train averaging 1 none --evaluate regression
train averaging 1 none --evaluate digit=regression

echo '== one input, a class and a number of other units'
awk -F, '{ print 0 "," 100 * $20 - 300 }' left.csv |
  dl-preprocess csv --label -1 --regression -q -o ink.dls
dl-shard -q --zip features=left.dls labels/digit=left.dls labels/ink=ink.dls \
  -n 2 -o one
cat >net.json <<'EOF'
{"seed": 3, "updater": {"type": "adam", "learning_rate": 0.01},
 "inputs": [{"name": "x", "shape": [8, 8, 1]}],
 "nodes": [
   {"name": "a", "type": "dense", "units": 32, "activation": "tanh"},
   {"name": "digit", "type": "output", "units": 10,
    "loss": "negative_log_likelihood"},
   {"name": "ink", "type": "output", "units": 1, "from": "a",
    "loss": "mean_squared_error"}],
 "outputs": ["digit", "ink"]}
EOF
dl-master -q --net net.json --data one-000.dls --mode averaging --local 1 \
  --epochs 20 -o one.safetensors >/dev/null
dl-eval -q --model one.safetensors --min digit:accuracy=0.8 --min ink:r2=0.8 \
  one-001.dls | grep '^[a-z]*: '
