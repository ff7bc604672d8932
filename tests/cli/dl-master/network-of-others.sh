#!/bin/sh
# The configurations of other programs are JSON as well, and dl-import's business.
dl-master --net "$DL_TEST_ROOT/tests/golden/keras/words.json" --dry-run 2>&1 | sed "s,$DL_TEST_ROOT/,,"
echo '{"confs": []}' >dl4j.json
dl-master --net dl4j.json --dry-run
echo "status $?"
# Nor is a model a network.
dl-master --net "$DL_TEST_ROOT/tests/cli/dl-eval/pets.safetensors" --dry-run 2>&1 | sed "s,$DL_TEST_ROOT/,,"
# Files of other kinds are called by their names, before anything else is read.
golden=$DL_TEST_ROOT/tests/golden
cp "$golden/keras/image.keras" "$golden/keras/image.h5" "$golden/onnx/image.onnx" .
cp "$golden/dl4j/image.zip" dl4j.zip
head -c 20000000 /dev/zero | cat image.h5 - >large.h5
printf '\211PNG\r\n\032\n%64s' '' >a.png
gzip <dl4j.json >dl4j.json.gz
for file in image.keras image.h5 large.h5 image.onnx dl4j.zip a.png dl4j.json.gz; do
  dl-master --net "$file" --dry-run
done
# Layers of series on the columns of a table: what makes steps of them.
for layer in '"lstm", "units": 4' '"conv1d", "filters": 4, "kernel": 2' '"max_pool1d"' \
  '"global_pool"' '"masking"' '"zero_pad1d", "padding": [1, 1]' '"multi_head_attention", "heads": 1, "head_size": 4'; do
  echo "{\"input\": {\"shape\": [13]}, \"layers\": [{\"type\": $layer},
    {\"type\": \"output\", \"units\": 2, \"loss\": \"negative_log_likelihood\"}]}" >table.json
  dl-master --net table.json --dry-run
done
echo '{"input": {"shape": [12]}, "layers": [{"type": "reshape", "shape": [4, 3]}, {"type": "lstm", "units": 4},
  {"type": "output", "units": 2, "loss": "negative_log_likelihood"}]}' >table.json
dl-master --net table.json --dry-run | head -1
