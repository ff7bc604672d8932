# Mistakes on the command line.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
model=$models/pets.safetensors
pets 1 6 >pets.dls
try() { dl-eval "$@" pets.dls; echo "status $?"; }
try
try --bogus
try --mod "$model"
try --model "$model" --batch 0
try --model "$model" --threads -1
try --model "$model" --local -1
try --model "$model" --top 4
try --model "$model" --top 2 -e roc
try --model "$model" --threshold 0.3
try --model "$model" -e rok
try --model "$model" -e roc:step=3
try --model "$model" --device tpu
try --model "$model" --merge
dl-eval --version | head -n 1
dl-eval --help | head -n 3
