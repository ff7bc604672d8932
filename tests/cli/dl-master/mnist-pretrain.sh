#!/bin/bash
# Real digits: stacked denoising autoencoders learn one after the other, and
# what they learnt is a better start than none.
[ -n "$DL_TEST_DATA" ] || { echo "no real data at DL_TEST_DATA" >&2; exit 77; }
python3 - "$DL_TEST_DATA/mnist" <<'END'
import gzip, sys
for kind, header, size in ("images-idx3", 16, 784), ("labels-idx1", 8, 1):
    with gzip.open(f"{sys.argv[1]}/t10k-{kind}-ubyte.gz") as f:
        whole = f.read()
    head = bytearray(whole[:header])
    head[4:8] = (1000).to_bytes(4, "big")
    open(kind, "wb").write(bytes(head) + whole[header:header + 1000 * size])
END
dl-preprocess idx images-idx3 labels-idx1 | dl-shard -q -n 2 -o digits >/dev/null
cat >net.json <<END
{"seed": 1, "input": {"shape": [28, 28, 1]},
 "updater": {"type": "adam", "learning_rate": 0.002},
 "layers": [
   {"type": "autoencoder", "name": "low", "units": 64},
   {"type": "autoencoder", "name": "high", "units": 32, "corruption": 0.1},
   {"type": "output", "units": 10, "loss": "negative_log_likelihood"}]}
END
train() { # NAME OPTION...
  local name=$1
  shift
  dl-master --net net.json --data 'digits-*.dls' --batch 20 --epochs 2 --local 1 \
    --mode averaging --json -o "$name.safetensors" "$@" 2>"$name.err" >"$name.json"
}
train bare
train stacked --pretrain 4
# The same command again has nothing to do.
cp stacked.safetensors first.safetensors
train stacked --pretrain 4
cmp stacked.safetensors first.safetensors && echo "finished"
python3 - <<'END'
import json
bare, stacked = (json.load(open(name + ".json")) for name in ("bare", "stacked"))
for stage in stacked["pretraining"]:
    losses = [epoch["loss"] for epoch in stage["history"]]
    assert len(losses) == 4 and losses == sorted(losses, reverse=True), losses
    assert losses[-1] < 0.9 * losses[0], losses
    print(stage["layer"], "learns")
start, without = stacked["history"][0]["loss"], bare["history"][0]["loss"]
assert start < without, (start, without)
END
(cd stacked.safetensors.run && echo pretrain*)
dl-master --net net.json --data digits-0.dls --pretrain 1 --init bare.safetensors \
  -o x.safetensors
sed 's/autoencoder/dense/' net.json | sed 's/, "corruption": 0.1//' >plain.json
dl-master --net plain.json --data digits-0.dls --pretrain 1 -o x.safetensors
dl-master --net net.json --data - --pretrain 1 -o x.safetensors </dev/null
