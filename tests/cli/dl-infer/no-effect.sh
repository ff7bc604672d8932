# Options of the other format.
model=$DL_TEST_ROOT/tests/cli/dl-eval/pets.safetensors
try() { echo "$*"; dl-infer --model "$model" "$@" a.dls; echo $?; }
try --keep-features
try --no-provenance
try --format dls --top 2
