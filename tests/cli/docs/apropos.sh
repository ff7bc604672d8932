#!/bin/bash
# man -k finds the page of a word that people search for.
mkdir -p man/man1 man/man5 man/man7
for page in "$DL_TEST_ROOT"/man/*.scd; do
  name=$(basename "$page" .scd)
  scdoc <"$page" >"man/man${name##*.}/$name"
done
export MANPATH=$PWD/man
mandb -q -c "$MANPATH"
while read -r word page; do
  man -k "$word" | grep -q "^${page%.*} (${page##*.})" || echo "man -k $word does not find $page"
done <<'WORDS'
keras dl-import.1
onnx dl-import.1
onnx dl-export.1
pytorch dl-import.1
deeplearning4j dl-import.1
csv dl-cookbook.7
images dl-cookbook.7
lstm dl-layers.5
attention dl-layers.5
loss dl-network.5
loss dl-layers.5
regularization dl-network.5
ssh dl-cluster.7
slurm dl-cluster.7
kubernetes dl-cluster.7
spark dl-spark.7
notebooks dl-python.7
averaging dl-exchange.7
checkpoint dl-run.5
safetensors dl-model.5
accuracy dl-eval.1
predict dl-infer.1
shards dl-shard.1
keys dl-keygen.1
loss dl-plot.1
train dl-master.1
resume dl-cookbook.7
WORDS
