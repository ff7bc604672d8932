# shellcheck shell=bash
# What Open MPI and MPICH must both do; mpirun is a function.
digits_for_lenet
export DL_MASTER_BIND=tcp://127.0.0.1:0

# The job of dl-cluster(7), with as many workers as it says.
as_on_the_page() { # NAME
  block 'mpirun -n 1 dl-master' >mpirun.sh
  # shellcheck disable=SC1091  # that
  . ./mpirun.sh >"$1.err" 2>&1
  echo "$1: status $?"
  check lenet.safetensors.run
  ended_well "$1"
}
ended_well() { # NAME
  grep -qx 'dl-master: the run is finished' "$1.err" || fail "$1 did not end"
}

# job HOW NAME OPTION...: a job whose last rank does that; how mpirun ends.
job() {
  local how=$1 name=$2
  shift 2
  rm -f "$name.json"
  DL_FAILPOINTS=worker.after_batch=sleep:20ms mpirun "$@" -n 1 \
    dl-master --net lenet.json --data 'train-*.dls' --batch 64 --min-workers 4 \
    --master-file "$name.json" -o "$name.safetensors" : \
    -n 3 dl-worker --master-file "$name.json" : \
    -n 1 env DL_FAILPOINTS="worker.after_batch=$how" \
    dl-worker --master-file "$name.json" >"$name.err" 2>&1
  echo "$name: status $?"
}
# A rank is killed, and the rest with it; the same command goes on.
killed_and_again() {
  job kill@3 killed
  ! said killed.err 'the run is finished' || fail "it survived"
  job sleep:20ms killed
  check killed.safetensors.run
}
