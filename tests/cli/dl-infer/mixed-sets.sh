# Shards of different sets are refused; one that is missing is a warning.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
model=$models/pets.safetensors
pets 1 6 | dl-shard -q -n 3 -o x
pets 1 4 | dl-shard -q -n 3 -o y
cp y-001.dls x-001.dls
dl-infer --model "$model" -o out 'x-*.dls'
echo $?
rm y-001.dls
dl-infer --model "$model" -o out 'y-*.dls'
echo $?
wc -l <out
ls
