# A small task: 120 points of three classes in four shards and 40 held out, and
# a network that learns it.
# shellcheck shell=bash
points() { # FIRST LAST
  awk -v OFS=, -v from="$1" -v to="$2" 'BEGIN {
    for (i = from; i <= to; ++i) {
      c = i % 3; x = (i * 37 % 100) / 100; y = (i * 61 % 100) / 100
      print x + c, y - 2 * c, x * y, substr("abc", c + 1, 1)
    } }'
}
points 1 120 | dl-preprocess csv --label 4 --classes a,b,c --no-provenance |
  dl-shard -n 4 -o train --no-provenance >/dev/null
points 121 160 |
  dl-preprocess csv --label 4 --classes a,b,c --no-provenance -o test.dls
cat >net.json <<'END'
{"seed": 3, "input": {"shape": [3]},
 "updater": {"type": "sgd", "learning_rate": 0.1},
 "layers": [
   {"type": "dense", "units": 8, "activation": "tanh"},
   {"type": "output", "units": 3, "activation": "softmax",
    "loss": "negative_log_likelihood"}]}
END
# Trains with little talk: one line an epoch.
master() { dl-master --net net.json --data 'train-*.dls' --batch 8 "$@"; }
