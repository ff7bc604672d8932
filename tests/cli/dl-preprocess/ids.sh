# The ids of rows, and their numbers where rows are left out, stay with their
# examples through dl-shard's shuffle and split.
{
  echo key,x,class
  for i in $(seq 0 39); do echo "row-$i,$i,$([ $((i % 3)) = 0 ] && echo a || echo b)"; done
} >in.csv
dl-preprocess csv --header --label class --id key in.csv >plain.dls
dl-shard --info plain.dls | grep -E '^(features|id|index|labels) '
sed -i 's/^row-7,7,/row-7,,/; s/^row-9,9,/row-9,nine,/' in.csv
dl-preprocess csv --header --label class --id key --missing skip --max-bad 1 in.csv |
  dl-shard -q --shuffle --seed 3 --split train=0.5,test=0.5 -n 2 -o x
dl-shard --info 'x-*.dls' | grep -E '^(features|id|index|labels) '
# Each example says the same of itself in three ways.
dl-shard --head 100 --json 'x-*.dls' |
  python3 -c '
import json, sys
seen = [(json.loads(line)) for line in sys.stdin]
same = all(e["id"] == "row-%d" % e["index"]
           and e["features"] == [e["index"]] for e in seen)
print(len(seen), same, sorted(e["index"] for e in seen) == [i for i in range(40) if i not in (7, 9)])
print([e["index"] for e in seen] != sorted(e["index"] for e in seen))'
echo "too long:"
dl-preprocess csv --header --label class --id key --id-bytes 5 in.csv >/dev/null
echo "status $?"
