#!/bin/bash
# A record that nobody can use ends the run with its place and status 65, not
# with "run me again": wherever workers read it, and if it unpacks but does not
# fit.  The state is saved.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
mkdir everywhere unfit held-out
# attempt NAME MODE OPTION...: with two workers; what the master says at last.
attempt() {
  local name=$1 mode=$2
  shift 2
  run "$name" dl-master --net ../net.json --data 'train-*.dls' --batch 10 \
    --normalize none --bind tcp://127.0.0.1:0 --master-file "$name.json" \
    -o "$name.safetensors" --mode "$mode" --epochs 2 --min-workers 2 \
    --wait 5s "${data[@]}"
  worker "$name-a" "$name" "$@"
  worker "$name-b" "$name" "$@"
  finish "$name"
  finish "$name-a"
  finish "$name-b"
  grep '^dl-master: .*record' "$name.err" | tail -n 1 | sed "s|'/[^']*/|'|"
  event "$name.safetensors.run" '"event":"checkpoint"' || fail "nothing saved"
}
damage train-001.dls
data=()
cd everywhere || exit
ln ../train-*.dls .
mkdir elsewhere
for mode in sharing averaging; do
  attempt "file-$mode" $mode
  attempt "sent-$mode" $mode --data-root elsewhere
done
cd ../unfit || exit
make-dataset 100 10 1 unnamed >train-000.dls
attempt unfit sharing
# In data to evaluate with.
cd ../held-out || exit
make-dataset 40 10 1 >train-000.dls
data=(--eval-data ../train-001.dls)
attempt held-out averaging
