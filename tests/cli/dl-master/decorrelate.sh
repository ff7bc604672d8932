#!/bin/bash
# Columns made anew of all: fitted to the training data wherever they come from,
# part of the model, and what a run goes on with.
. "$DL_TEST_ROOT/tests/cli/dl-master/_iris.sh"
sed -i 's/"shape": \[3\]/"shape": [2]/' net.json
train() { master -q --mode averaging --local 1 "$@"; }
learnt() { dl-eval -q --model "$1" --min accuracy=0.9 test.dls >/dev/null; echo "learnt: $?"; }
normalizer() { python3 -c '
import json, struct, sys
with open(sys.argv[1], "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
print(header["__metadata__"]["version"], header["__metadata__"]["normalizer"])' "$1"; }

train --normalize pca:2 --epochs 20 -o pca.safetensors || exit
learnt pca.safetensors
dl-infer -q --model pca.safetensors test.dls | wc -l
# The same from a stream, which gets its name later, and in a resumed run.
cat train-*.dls | dl-master -q --net net.json --data - --batch 8 --local 1 \
  --normalize pca:2 -o piped.safetensors
cmp <(normalizer pca.safetensors) <(normalizer piped.safetensors) && echo the same of a stream
train --normalize pca:2 --epochs 5 -o short.safetensors
train --normalize pca:2 --epochs 20 -o short.safetensors
cmp pca.safetensors short.safetensors && echo the same after going on
normalizer pca.safetensors | python3 -c '
import json, sys
version, text = sys.stdin.read().split(" ", 1)
rows = json.loads(text)["matrix"]
dot = lambda a, b: sum(x * y for x, y in zip(a, b))
print(version, len(rows), len(rows[0]), *(f"{abs(dot(a, b)):.6f}" for a in rows for b in rows))'

# How much they keep is said.
master --mode averaging --local 1 --normalize pca:2 --epochs 1 -o said.safetensors 2>&1 |
  grep 'variance'
# ... and what they are too large or too many for.
odd() { # AWK: what becomes of the columns
  points 1 60 | awk -F, -v OFS=, "{ $1 } 1" |
    dl-preprocess csv --label 4 --classes a,b,c --no-provenance -o odd.dls
  dl-master --net net.json --data odd.dls --batch 8 --mode averaging --local 1 \
    --normalize pca:2 --epochs 1 --fresh -o odd.safetensors 2>&1 | grep -A1 'pca:2 keeps'
}
# shellcheck disable=SC2016  # awk's
for columns in '$1 *= 100; $2 *= 100' '$2 = 2 * $1; $3 = 1' '$1 = $2 = 0; $3 = 1'; do
  odd "$columns"
done

sed -i 's/"shape": \[2\]/"shape": [3]/' net.json
train --normalize whiten --epochs 20 -o white.safetensors || exit
learnt white.safetensors
for kind in pca pca:2 pca:4 whitening; do
  train --normalize $kind -o no.safetensors
  echo $?
done
train --normalize standardize --epochs 20 -o white.safetensors
echo $?
# A damaged shard costs no more than in training.
printf X | dd of=train-001.dls bs=1 seek=$(($(stat -c %s train-001.dls) / 2)) conv=notrunc status=none
sed -i 's/"shape": \[3\]/"shape": [2]/' net.json
for most in 0 1; do
  master -q --mode averaging --local 1 --normalize pca:2 --skip-bad-shards $most -o some.safetensors >said 2>&1
  echo "status $?"
  grep -o 'checksum differs; --normalize .*' said
done
