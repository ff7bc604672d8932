#!/bin/sh
# Parts of two splits under one prefix may share examples.
make-dataset 40 | dl-shard -q -o q --split train=0.5,test=0.5 --seed 1
dl-shard --verify 'q-*.dls'
make-dataset 40 | dl-shard -q -o r --split train=0.5,test=0.5 --seed 2
dl-shard -q -o s q-train-000.dls r-test-000.dls # two prefixes
mv r-test-000.dls q-test-000.dls
dl-shard --verify 'q-*.dls'
echo $?
cat >net.json <<'END'
{"input": {"shape": [3]}, "updater": {"type": "sgd", "learning_rate": 0.01},
 "layers": [{"type": "output", "units": 3, "activation": "softmax",
             "loss": "negative_log_likelihood"}]}
END
for how in --dry-run '--local 1'; do
  # shellcheck disable=SC2086 # a word or two
  dl-master -q --net net.json --data q-train-000.dls \
    --eval-data q-test-000.dls -o m.safetensors $how
  echo $?
done
