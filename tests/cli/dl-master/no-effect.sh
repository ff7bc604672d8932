# An option that has no effect in the run that is asked for is refused, with
# what it is for; in the environment, where it is for other runs, it is not.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
try() { echo "$*"; master --dry-run "$@" >/dev/null; echo $?; }
try --mode sharing --frequency 2
try --workers 2
try --mode sync --overlap
try --mode averaging --threshold fixed:1e-3
try --mode averaging --staleness 0
try --masking no
try --warmup 100
try --clip 3 --clip-every 0
try --topology star --fan-out 4
try --threads 1
try --device cpu
try --local 2 --threads -1
try --keys keys --insecure
try --workers 2 --staleness 0
try --share gradient --masking no
try --threshold quantile:0.01 --warmup 100
DL_MASTER_FREQUENCY=2 try
replay() { echo "--replay m.run $*"; dl-master --replay m.run "$@"; echo $?; }
replay --list --data train-000.dls
replay -o m.safetensors --epochs 3
replay -o m.safetensors --net net.json
