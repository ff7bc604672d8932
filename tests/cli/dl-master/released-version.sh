# A run that version 0.1 began goes on, and
# further than it wanted; its log replays to the same parameters.
cp -r "$DL_TEST_ROOT"/tests/golden/0.1/* .
parameters() { # the bytes of the tensors, without what the file says of itself
  python3 - "$1" <<'PY'
import struct, sys
data = open(sys.argv[1], "rb").read()
print(data[8 + struct.unpack("<Q", data[:8])[0]:].hex())
PY
}
begun() { # EPOCHS OPTION...
  local epochs=$1
  shift
  dl-master -q --net net.json --data points-train-000.dls \
    --eval-data points-test-000.dls --epochs "$epochs" --batch 8 \
    --normalize standardize --update-log keep --local 1 --threads 1 "$@"
}
declare -A how=([sharing]="" [averaging]="--frequency 2 --outer nesterov")
for mode in sharing averaging; do
  echo "-- $mode"
  dl-master --replay $mode.run --list
  dl-master -q --replay $mode.run -o now.safetensors
  [ "$(parameters now.safetensors)" = "$(parameters $mode-replayed.safetensors)" ] &&
    echo "replays to the same parameters"
  for epochs in 3 4; do
    # shellcheck disable=SC2086  # words
    begun $epochs --mode $mode ${how[$mode]} --run $mode.run \
      -o $mode.safetensors 2>$mode.err
    echo "status $?"
    grep -v 'told to stop' $mode.err
    "$DL_TEST_ROOT/tests/cluster/check-events" $mode.run &&
      echo "its history is whole"
  done
  dl-eval --model $mode.safetensors points-test-000.dls >/dev/null || echo "no model"
done
