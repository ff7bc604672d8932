#!/bin/sh
# A label that is no class of its shard is not trained, even if the network has
# an output for it.
make-dataset 10 4 1 broken >bad.dls
cat >net.json <<'END'
{"input": {"shape": [3]}, "updater": {"type": "sgd", "learning_rate": 0.01},
 "layers": [{"type": "output", "units": 8, "activation": "softmax",
             "loss": "negative_log_likelihood"}]}
END
for mode in averaging sharing; do
  dl-master -q --net net.json --data bad.dls --mode $mode --local 1 --batch 4 \
    -o $mode.safetensors 2>messages
  echo $?
  grep "^dl-master" messages | sed "s|'/[^']*/|'|" | uniq
  test -e $mode.safetensors || echo "no model"
done
# Without names of classes only the network knows which labels there are.
make-dataset 10 4 1 unnamed >unnamed.dls
sed 's/"units": 8/"units": 3/' net.json >three.json
dl-master -q --net three.json --data unnamed.dls --local 1 --batch 4 \
  -o unnamed.safetensors 2>messages
echo $?
grep "^dl-master" messages | sed "s|'/[^']*/|'|"
