# The exit status says whether the bars are reached.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
try() { dl-eval --model "$models/pets.safetensors" "$@" pets.dls >out; echo "$? $(wc -l <out)"; }
try --min accuracy=0.5
try --min accuracy=0.99
try --max log_loss=0.5 --min accuracy=0.99 --min recall/dog=0.6
try --min precision/emu=0
try --min acuracy=0.5
try --min recall/fox=0.5
try --min accuracy
dl-eval --model "$models/pets.safetensors" --json pets.dls >all.json
dl-eval --merge -q --min accuracy=0.51 all.json >/dev/null
echo $?
