# shellcheck shell=bash
# What tests of engines train, and what they find in dl-cluster(7); after `alone`.
# shellcheck source=tests/cli/docs/_blocks.sh
. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
# shellcheck source=tests/cluster/_lib.sh
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"

# The block of commands of dl-cluster(7) that has TEXT in it.
block() { # TEXT
  local file
  [ -f "$blocks/1" ] || page man/dl-cluster.7.scd
  file=$(grep -lF -e "$1" "$blocks"/[0-9]* | head -n 1)
  [ -n "$file" ] || fail "dl-cluster(7) has no block with '$1'" >&2
  known_options "$file" >&2
  cat "$file"
}

# LeNet, 6000 digits to train on and 2000 held out: of MNIST, where it is there.
digits_for_lenet() {
  sed 's/"learning_rate": 0.1/"learning_rate": 0.02/' "$examples/lenet.json" >lenet.json
  local mnist=$DL_TEST_DATA/mnist
  [ -d "$mnist" ] || { mnist=raw; mnist raw 1400 397; }
  part() { # FILES COUNT
    dl-preprocess idx "$mnist/$1-images-idx3-ubyte.gz" "$mnist/$1-labels-idx1-ubyte.gz" |
      dl-shard --head "$2"
  }
  part train 6000 | dl-shard -q --shuffle --batch 64 -n 8 -o train
  part t10k 2000 | dl-shard -q --batch 64 -n 2 -o test
}
# accuracy MODEL: whether it has learnt.
accuracy() {
  dl-eval -q --model "$1.safetensors" --min accuracy=0.9 'test-*.dls' >"$1.scores" ||
    fail "$(cat "$1.scores")"
  echo "$1: accuracy above 0.9"
}
# midway RUN [COUNT]: so many commits (default 20) are in its history.
midway() {
  await "$1 to be midway" committed "$1.safetensors.run" "${2:-20}"
}
committed() { [ "$(grep -c '"event":"commit"' "$1/events.jsonl")" -ge "$2" ]; }
