# Data, models and command lines that are not as they must be.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
model=$models/pets.safetensors
try() { dl-infer "$@"; echo "status $?"; }
pets 1 6 >pets.dls
head -c -4 pets.dls >cut.dls
try --model "$model" -o out cut.dls
ls out 2>&1
try --model "$model" no.dls
try --model no.safetensors pets.dls
try --model "$models/values.safetensors" pets.dls
try pets.dls
try --model "$model" --format csv pets.dls
try --model "$model" --top 4 pets.dls
try --model "$models/values.safetensors" --top 2 pets.dls
try --model "$model" --batch 0 pets.dls
try --model "$model" --device tpu pets.dls
try --model "$model" -o no/such/file pets.dls
try --model "$model" --bogus
# Long names are shown by their beginning and end.
try --model "$model" "$(printf '%05000d' 0).dls" 2>&1 | sed -E 's/0{9,}/many/g'
dl-infer --model "$model" pets.dls >/dev/full
echo "status $?"
dl-infer --model "$model" --format dls pets.dls >/dev/full
echo "status $?"
dl-infer --version | head -n 1
dl-infer --help | head -n 2
