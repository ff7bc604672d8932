#!/bin/bash
# A model of text goes on where it was, a character at a time or in parts of any
# length, and says what it says of the whole, to the bit.
cut_text() { # NAME FIRST STEPS: characters FIRST..FIRST+STEPS-1 of 8 passages of
             # 64, and the one behind each
  python3 - "$DL_TEST_ROOT/LICENSE" "$@" <<'PY'
import struct, sys
text, name, first, steps = open(sys.argv[1], "rb").read(), *sys.argv[2:]
first, steps = int(first), int(steps)
passages = [min(c, 127) for c in text[:8 * 64 + 1]]
for ending, shift in (("x", 0), ("y", 1)):
    with open(f"{name}.{ending}", "wb") as out:
        out.write(struct.pack(">HBBII", 0, 8, 2, 8, steps))
        for i in range(8):
            at = i * 64 + first + shift
            out.write(bytes(passages[at:at + steps]))
PY
  dl-preprocess idx -q --classes 128 "$1.x" "$1.y" --no-provenance -o "$1.dls"
}
cut_text whole 0 64
sed 's/256/32/; s/"units": 64/"units": 8/' \
  "$DL_TEST_ROOT/scripts/share/examples/char-lstm.json" >net.json
dl-master -q --net net.json --data whole.dls --local 1 --deterministic \
  --batch 4 --epochs 20 -o m.safetensors --run run >/dev/null || exit
infer() { dl-infer -q --model m.safetensors "$@"; }
go_on() { # STATE PART...: the lines of the parts, one of them after the other
  local state=$1 part
  shift
  for part; do infer --keep-state "$state" "$part.dls" || return; done
}
# Joins the steps of all lines of each example.
join_steps() {
  python3 -c '
import json, sys
steps = {}
for line in map(json.loads, sys.stdin):
    steps.setdefault(line["index"], []).extend(line["steps"])
for index, said in sorted(steps.items()):
    print(json.dumps({"index": index, "steps": said}))'
}
infer whole.dls | join_steps >whole.jsonl
parts=()
for ((i = 0; i < 64; ++i)); do
  cut_text "char$i" "$i" 1
  parts+=("char$i")
done
go_on chars "${parts[@]}" | join_steps | cmp - whole.jsonl && echo "by characters"
cut_text a 0 10 && cut_text b 10 41 && cut_text c 51 13
go_on state a b c | join_steps | cmp - whole.jsonl && echo "in parts"
cmp state chars && echo "the state is the same"
# Any batches and threads, and what a layer says.
infer --keep-state whole --output-of lstm2 --format dls --no-provenance whole.dls |
  dl-shard --info - 2>&1 | grep -o 'F32 \[64, 32\]'
cmp state whole
rm state
for part in a b c; do
  infer --batch 3 --threads 2 --keep-state state $part.dls
done | join_steps | cmp - whole.jsonl && cmp state chars && echo "in batches"

echo '== killed in between: the old state is whole'
go_on old a >/dev/null
cp old kept
mkfifo pipe lines
dl-infer -q --model m.safetensors --keep-state old pipe >lines &
exec 4<lines
exec 3>pipe
head -c -1 b.dls >&3 # all but the end
read -r _ <&4
{ kill -KILL $! && wait $!; } 2>/dev/null # bash reports a killed one when it likes
exec 3>&- 4<&-
cmp old kept && echo "as it was"
find . -name '*old?*' -o -name '.*old*'

echo '== what is refused'
status() {
  infer "$@" >/dev/null
  echo "status $?"
}
sed 's/"seed": 1/"seed": 2/' net.json >other.json
dl-master -q --net other.json --data whole.dls --local 1 --epochs 1 \
  -o other.safetensors --run other >/dev/null
dl-infer -q --model other.safetensors --keep-state old b.dls
status --keep-state old b.dls a.dls
python3 - <<'PY'
# The first 5 examples.
for ending in "xy":
    data = bytearray(open("b." + ending, "rb").read())
    data[7] = 5
    open("few." + ending, "wb").write(data[:12 + 5 * 41])
PY
dl-preprocess idx -q --classes 128 few.x few.y -o few.dls
status --keep-state old -o said few.dls
cmp old kept && [ ! -e said ] && echo "nothing is said"
printf 'x' | dd of=old bs=1 seek=600 conv=notrunc status=none
status --keep-state old b.dls
head -c 100 kept >old
status --keep-state old b.dls
status --keep-state m.safetensors b.dls
status --keep-state net.json b.dls
status --keep-state new --output-of embedding b.dls
status --keep-state kept --output-of lstm1 b.dls
dl-infer --model m.safetensors --sample 3 --keep-state old
for file in '' - said m.safetensors ./m.safetensors; do
  status --keep-state "$file" -o said b.dls
done
[ -e said ] || echo "nothing is said"
sed '/lstm2/s/true/true, "bidirectional": "add"/' net.json >both.json
dl-master -q --net both.json --data whole.dls --local 1 --epochs 1 \
  -o both.safetensors --run both >/dev/null
dl-infer -q --model both.safetensors --keep-state new b.dls
[ -e new ] || echo "no new state"
