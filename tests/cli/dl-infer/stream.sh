# Predictions as a DataSet stream, which other tools read.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
dl-infer --model "$models/pets.safetensors" --format dls --no-provenance pets.dls >p.dls
zstd -qt p.dls && echo "zstd accepts it"
dl-infer --model "$models/pets.safetensors" --format dls --no-provenance -o q.dls pets.dls
cmp p.dls q.dls
cat pets.dls pets.dls | dl-infer --model "$models/pets.safetensors" --format dls >twice.dls
# softmax(log p) = p: the probabilities are targets of a regression now, and the
# features predict them.
dl-infer --model "$models/values.safetensors" --format dls --keep-features --no-provenance \
  "pipe:printf '%s\n' 1,2 3,4 | dl-preprocess csv --label none" >v.dls
dl-eval --model "$models/values.safetensors" --min r2=1 v.dls
