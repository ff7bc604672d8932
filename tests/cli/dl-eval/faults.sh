# Data, models and reports that are not as they must be.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
model=$models/pets.safetensors
try() { dl-eval "$@"; echo "status $?"; }
pets 1 6 >pets.dls
head -c -4 pets.dls >cut.dls
try --model "$model" cut.dls
try --model "$model" no.dls
try --model "$model" 'no-*.dls'
try --model no.safetensors pets.dls
try --model pets.dls pets.dls
printf '1,2,3,cat\n' >table.csv
try --model table.csv pets.dls
: | try --model "$model"
try --model "$models/values.safetensors" pets.dls
printf '1,2,3\n' | dl-preprocess csv --label none >bare.dls
try --model "$model" bare.dls
printf '0,0,0,cat\n0,0,0,fox\n' | dl-preprocess csv --label 4 >other.dls
try --model "$model" other.dls
try --model "$model" --local 3 pets.dls other.dls cut.dls
printf '1,2,3,0\n1e38,-3e38,0,1\n' | dl-preprocess csv --label 4 --classes 2 |
  try --model "$model" -e regression
dl-eval --model "$model" --json pets.dls >a.json
dl-eval --model "$model" --json -e roc pets.dls >b.json
try --merge a.json b.json
try --merge pets.dls 2>&1 | sed 's/:.*literal/: .../'
head -c 100 a.json >c.json
try --merge c.json 2>&1 | cut -c 1-30
sed 's/"version":1/"version":2/' a.json | try --merge
sed 's/\[0,1,1\]/[0,7,1]/' a.json | try --merge
sed 's/\[0,1,1\]/[0,1,-1]/' a.json | try --merge
try --merge a.json ./a.json
dl-eval --model "$model" pets.dls >/dev/full
echo "status $?"
