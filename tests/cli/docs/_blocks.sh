# Runs the command blocks of README.md, of the manual and of --help from the
# text itself.
#
# A script beside this has the name of its page, and names every command block
# in order: run_next runs it, skip_next says why it cannot run here.  A block
# that is neither makes the test fail, and so does a command that fails.
# shellcheck shell=bash
set -u
examples=$DL_TEST_ROOT/scripts/share/examples
blocks=$PWD/.blocks
mkdir "$blocks" "$blocks/bin"
next=0

fail() { echo "FAILED: $*"; exit 1; }

# The command blocks of FILE: .blocks/1, .blocks/2, ...  They are those between lines of
# ``` in which a line begins with a command.  In the manual's sources, blocks have
# backslashes to be removed.
page() { # FILE
  awk -v folder="$blocks" -v manual="${1##*.}" '
    /^```/ {
      if (inside && command) printf "%s", text >(folder "/" ++count)
      inside = !inside; command = 0; text = ""
      next
    }
    inside {
      if (manual == "scd") {
        gsub(/\\\\/, "\001"); gsub(/\\/, ""); gsub(/\001/, "\\")
      }
      if (/^(dl-[a-z]+|make|jq|awk|ls|scp|ssh|srun|sbatch|mpirun|pdsh|parallel|printf|xargs|nightly|kubectl|buildah|systemctl|crontab|scripts\/[a-z-]+) / || /^(for|while) /)
        command = 1
      text = text $0 "\n"
    }' "$DL_TEST_ROOT/$1"
  wrap_tools
}

# The examples in TOOL --help, each line a block.
help_of() { # TOOL
  awk -v folder="$blocks" -v count="$next" '
    /^Examples:/ { inside = 1; next }
    !NF { inside = 0 }
    inside { print >(folder "/" ++count) }' <<<"$("$1" --help)"
  wrap_tools
}

# Each tool of the blocks notes its status, wherever in a pipeline or in the
# background it runs.  141: a reader had enough, as head does.
wrap_tools() {
  local tool
  for tool in "$DL_TEST_ROOT"/tools/*.cpp; do
    tool=$(basename "$tool" .cpp)
    [ ! -f "$blocks/bin/$tool" ] || continue
    # shellcheck disable=SC2016  # the wrapper's own
    printf '#!/bin/sh\n%s "$@"\nstatus=$?\necho "$status %s $*" >>%s\nexit $status\n' \
      "$(command -v "$tool")" "$tool" "$blocks/statuses" >"$blocks/bin/$tool"
  done
  chmod +x "$blocks"/bin/*
}

# Takes the next block, which must have TEXT in it.
take() { # TEXT
  next=$((next + 1))
  [ -f "$blocks/$next" ] || fail "the page has no block $next with '$1'"
  grep -qF -e "$1" "$blocks/$next" ||
    fail "block $next has no '$1': $(cat "$blocks/$next")"
  known_options "$blocks/$next"
}

# Every --option in FILE is one of the tool that stands before it.
known_options() { # FILE
  local tool option
  while read -r tool option; do
    grep -qE -e "^ .*$option( |\$)" <<<"$("$tool" --help)" ||
      fail "block $next: $tool has no $option"
  done < <(sed ':more; /\\$/ { N; s/\\\n/ /; b more }' "$1" | tr '|;&' '\n' | sed 's/ dl-/\ndl-/g; s/"dl-/\ndl-/g' |
    awk '$1 ~ /^dl-/ {
      for (i = 2; i <= NF; ++i)
        if (match($i, /^--[a-z-]+/)) print $1, substr($i, 1, RLENGTH) }')
}

run_next() { # TEXT
  local bad
  take "$1"
  : >"$blocks/statuses"
  PATH=$blocks/bin:$PATH bash -e "$blocks/$next" \
    >"$blocks/$next.out" 2>"$blocks/$next.err" ||
    fail "block $next ends with $?: $(tail -n 5 "$blocks/$next.err")"
  bad=$(grep -vE '^(0|141) ' "$blocks/statuses") &&
    fail "block $next: $bad: $(tail -n 5 "$blocks/$next.err")"
  echo "block $next, $1: runs"
}

skip_next() { # TEXT REASON
  take "$1"
  bash -n "$blocks/$next" || fail "block $next is no shell"
  echo "block $next, $1: not run here: $2"
}

# After the last block.
page_ends() {
  [ ! -f "$blocks/$((next + 1))" ] ||
    fail "block $((next + 1)) is neither run nor left out:
$(cat "$blocks/$((next + 1))")"
}

# IDX files as of MNIST in DIR, so many of them: the digits of the examples,
# blown up to 28x28.
mnist() { # DIR TRAIN TEST
  mkdir -p "$1"
  python3 - "$examples/digits.csv.gz" "$@" <<'PY'
import gzip, struct, sys
source, folder, train, test = sys.argv[1:]
rows = [[int(v) for v in line.split(",")] for line in gzip.open(source, "rt")]

def image(row):
    wide = [[0] * 2 + [15 * v for v in row[8 * y:8 * y + 8] for _ in range(3)]
            + [0] * 2 for y in range(8) for _ in range(3)]
    edge = [[0] * 28] * 2
    return bytes(v for line in edge + wide + edge for v in line)

def write(name, part):
    with gzip.open(f"{folder}/{name}-images-idx3-ubyte.gz", "wb") as f:
        f.write(struct.pack(">4i", 0x803, len(part), 28, 28))
        f.writelines(image(row) for row in part)
    with gzip.open(f"{folder}/{name}-labels-idx1-ubyte.gz", "wb") as f:
        f.write(struct.pack(">2i", 0x801, len(part)) + bytes(r[-1] for r in part))

write("train", rows[:int(train)])
write("t10k", rows[int(train):int(train) + int(test)])
PY
}

# LeNet, and shards that it can be trained on: train-*.dls and test-*.dls.
lenet_data() {
  mnist raw 96 48
  cp "$examples/lenet.json" .
  dl-preprocess idx raw/train-*.gz | dl-shard -q -n 4 -o train
  dl-preprocess idx raw/t10k-*.gz | dl-shard -q -o test
}

# A model of it, lenet.safetensors.
lenet_model() {
  dl-master -q --net lenet.json --data 'train-*.dls' --local 1 \
    -o lenet.safetensors || fail "training"
}

# Animals that are easily told apart: 40 rows in FILE, with a header.
animals() { # FILE
  awk 'BEGIN {
    print "height,weight,species"
    for (i = 0; i < 40; ++i)
      if (i % 2) print 0.2 + i % 7 / 50 ",-1,cat"
      else print 0.9 - i % 9 / 50 ",1,dog" }' >"$1"
}

# A network for two numbers and two classes in FILE.
small_network() { # FILE
  cat >"$1" <<'JSON'
{ "seed": 1, "input": {"shape": [2]},
  "updater": {"type": "adam", "learning_rate": 0.1},
  "layers": [{"type": "output", "units": 2, "activation": "softmax",
              "loss": "negative_log_likelihood"}] }
JSON
}

# A model of the animals, MODEL.
small_model() { # MODEL
  animals animals.csv
  dl-preprocess csv --header --label species animals.csv -o animals.dls
  small_network small.json
  dl-master -q --net small.json --data animals.dls --epochs 40 --local 1 \
    -o "$1" || fail "training"
}
