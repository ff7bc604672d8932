# A reader that leaves ends it silently; results come before the input ends.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
set -o pipefail
seq 200000 | sed 's/.*/1,2,3/' | dl-preprocess csv --label none >many.dls
dl-infer --model "$models/pets.safetensors" many.dls | head -n 1
echo "status $?"
pets 1 6 >pets.dls
mkfifo pipe
dl-infer --device reference --model "$models/pets.safetensors" pipe >out &
exec 3>pipe
cat pets.dls >&3
until [ "$(wc -l <out)" = 6 ]; do sleep 0.02; done # the input is still open
echo "six came"
exec 3>&-
wait $!
echo "status $?"
