#!/bin/bash
# Sharing gradients with momentum, several mini-batches an update, by FASGD,
# through the death of a worker; and a network that cannot share gradients.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
sed -i 's/"type": "adam", "learning_rate": 0.01/"type": "nesterov", "learning_rate": 0.05/' net.json
master m --mode sharing --epochs 4 --min-workers 2 --share gradient --push 3 \
  --fetch 2 --staleness-rule fasgd --threshold quantile:0.05 --json
DL_FAILPOINTS='worker.after_update=kill@5' worker a m
worker b m
finish a
worker c m
finish m
finish b
check m.safetensors.run
! event m.safetensors.run 'replica differs' || fail "a replica differs"
event m.safetensors.run '"count":3,' || fail "no update of three mini-batches"
event m.safetensors.run '"event":"exchange"' || fail "no exchange told"
python3 -c '
import json
report = json.load(open("m.out"))
first, last = report["history"][0]["loss"], report["history"][-1]["loss"]
assert last < first, (first, last)
exchange = report["exchange"]
assert exchange["batches"] > 100 and exchange["density"] > 0, exchange
assert len(exchange["workers"]) == 3, exchange
' || fail "report"

sed -i 's/nesterov/adam/' net.json
dl-master --net net.json --data 'train-*.dls' --batch 10 --local 1 \
  --share gradient -o x.safetensors
echo "status $?"
