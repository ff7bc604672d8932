# JSON Lines through a recipe: the same examples as of the table that says the same.
cat >recipe.json <<'EOF'
{"source": {"type": "jsonl"},
 "tensors": {
   "features": [
     {"type": "number", "from": ["size.height", "size.width", "tame"], "missing": "mean",
      "na": []},
     {"type": "category", "from": "color", "encode": "one_hot"}],
   "labels": {"type": "category", "from": "kind"},
   "id": {"type": "id", "from": "file:line"}}}
EOF
cat >a.jsonl <<'EOF'
{"kind": "cat", "size": {"height": 0.3, "width": 1e1}, "color": "red", "tame": true}

{"tame": false, "color": "blue", "size": {"width": null, "height": -4}, "kind": "dog"}
EOF
printf '{"kind": "cat", "size": {"height": "2.5", "width": 2}, "color": "ro\\u0074", "tame": 1, "other": [1, {"a": 2}]}' >b.jsonl
jq -r '[.kind, .size.height, .size.width, .color, .tame] | @csv' a.jsonl b.jsonl |
  sed '1i kind,size.height,size.width,color,tame' >table.csv
dl-preprocess fit recipe.json a.jsonl b.jsonl -o fitted.json
jq -c '[.tensors.features[] | .fills // .classes]' fitted.json
dl-preprocess --recipe fitted.json a.jsonl b.jsonl -o x.dls
dl-shard --info --json x.dls | jq -c '.columns, .statistics, .classes'
jq '.source.type = "csv" | del(.tensors.id)' fitted.json >csv.json
jq 'del(.tensors.id)' fitted.json >jsonl.json
dl-preprocess --recipe csv.json table.csv -o csv.dls
dl-preprocess --recipe jsonl.json a.jsonl b.jsonl -o jsonl.dls
for f in csv jsonl; do dl-shard --info --json $f.dls | jq '.statistics, .classes' >$f.info; done
cmp csv.info jsonl.info && echo 'the same as of CSV'
dl-preprocess --recipe jsonl.json --threads 3 -o piped.dls <a.jsonl
dl-shard --info --json piped.dls | jq -c .examples

echo '== bad lines'
cat a.jsonl >bad.jsonl
printf '%s\n' '[1]' '{"kind": "cat", "kind": 1}' '{"kind": ' '{"kind": "cat"}' >>bad.jsonl
cat b.jsonl >>bad.jsonl
dl-preprocess --recipe fitted.json bad.jsonl -o y.dls
echo "status $?"
dl-preprocess --recipe fitted.json bad.jsonl --max-bad 9 --bad-list list -o y.dls
cat list
