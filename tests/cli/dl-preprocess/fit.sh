# A recipe that learns categories, and the numbers that stand in for missing ones, first.  Fits of parts merge to the bytes of one over all.
cat >recipe.json <<'EOF'
{"source": {"type": "csv"},
 "tensors": {
   "features": [
     {"type": "number", "from": ["age", "fare"], "missing": "mean", "na": ["NA"]},
     {"type": "category", "from": "city", "encode": "one_hot", "unknown": "other", "na": ["NA"]},
     {"type": "number", "from": ["rooms"], "missing": "median", "na": []},
     {"type": "number", "from": ["rooms"], "missing": "most_frequent", "na": []},
     {"type": "category", "from": "deck", "encode": "one_hot", "unknown": "zeros"}],
   "labels": {"type": "category", "from": "survived", "classes": ["yes", "no"]},
   "id": {"type": "id", "from": "name"}}}
EOF
cat >a.csv <<'EOF'
name,age,fare,city,rooms,deck,survived
ann,22,1000,Rome,1,A,yes
bob,NA,0.1,Oslo,2,B,no
cid,38,-1000,NA,,C,yes
EOF
cat >b.csv <<'EOF'
name,age,fare,city,rooms,deck,survived
dan,26,0.2,Bern,2,A,no
eve,35,NA,Rome,7,"C, D",yes
EOF
cat >new.csv <<'EOF'
survived,deck,rooms,city,fare,age,name
no,A,,Rome,NA,NA,fay
yes,Z,3,Paris,2,1,gus
EOF
show() { jq -c '[.tensors.features[] | .fills // .classes]' "$1"; }
dl-preprocess fit recipe.json a.csv b.csv -o all.json && show all.json
dl-preprocess fit recipe.json a.csv -o 1.json && show 1.json
dl-preprocess fit recipe.json <b.csv -o 2.json && show 2.json
dl-preprocess fit --merge 1.json 2.json -o merged.json && cmp all.json merged.json
dl-preprocess fit --merge 2.json 1.json | cmp all.json - && echo 'merged to the same bytes'
dl-preprocess fit --merge all.json | cmp all.json - && echo 'one alone stays as it is'

echo '== the examples'
dl-preprocess --recipe all.json a.csv b.csv -o train.dls
dl-shard --info --json train.dls | jq -c '.columns, .statistics.max, .recipe.fit'
cat >net.json <<'EOF'
{"input": {"shape": [12]}, "seed": 1, "layers": [
  {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}
EOF
dl-master -q --net net.json --data train.dls --local 1 --epochs 1 --batch 5 --normalize none \
  -o m.safetensors
dl-preprocess --recipe all.json new.csv | dl-infer --model m.safetensors >piped
dl-infer --model m.safetensors --raw new.csv >raw && cmp piped raw && jq -r .id raw
dl-preprocess --recipe all.json new.csv --no-provenance | dl-infer --model m.safetensors \
  --format dls --keep-features --no-provenance | zstd -dcq | grep -a -o 'city=Rome' | head -1

echo '== what is wrong'
status() { "$@" && echo "no error: $*" || echo "status $?"; }
status dl-preprocess --recipe recipe.json a.csv -o x
jq '.tensors.features = .tensors.features[1:2]' recipe.json >one-hot.json
status dl-preprocess --recipe one-hot.json a.csv -o x
dl-preprocess fit all.json a.csv | cmp all.json - && echo 'the same where there is nothing to learn'
status dl-preprocess fit --merge recipe.json
jq '.tensors.id.bytes = 9' 2.json >other.json
status dl-preprocess fit --merge 1.json other.json
jq '.fit.learned[0][0].first = 99' 2.json >damaged.json
status dl-preprocess fit --merge 1.json damaged.json
sed 's/26/old/' b.csv >bad.csv
status dl-preprocess fit recipe.json bad.csv
dl-preprocess fit recipe.json bad.csv --max-bad 1 | show /dev/stdin
sed '2,$s/.*,A/dan,NA,0.2,Bern,2,A/' b.csv | head -2 >empty.csv
status dl-preprocess fit recipe.json empty.csv
jq '.tensors.features[1].unknown = "error"' all.json >strict.json
status dl-preprocess --recipe strict.json new.csv -o x
jq '.tensors.features[1].encode = "index"' all.json >index.json
status dl-preprocess --recipe index.json new.csv -o x
status dl-preprocess fit --header recipe.json a.csv
status dl-preprocess csv --merge a.csv
status dl-preprocess fit recipe.json a.csv -o recipe.json
ls x 2>&1
