# Tables through the recipe that the model's data were made by: columns by name, whatever
# their order, the same examples as by dl-preprocess.
awk 'BEGIN {
  print "name,x,y,color,kind"
  for (i = 0; i < 40; i++)
    printf "r%d,%d,%.3f,%s,%s\n", i, i % 7, i / 3, i % 5 ? i % 3 : "NA", i % 2 ? "odd" : "even"
}' >train.csv
how='--header --label kind --missing fill:-1'
# shellcheck disable=SC2086  # options
dl-preprocess csv $how --id name train.csv -o train.dls
cat >net.json <<'EOF'
{"input": {"shape": [3]}, "seed": 1, "layers": [
  {"type": "dense", "units": 4, "activation": "tanh"},
  {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}
EOF
dl-master -q --net net.json --data train.dls --local 1 --epochs 2 --batch 4 -o m.safetensors

echo '== recipe'
# shellcheck disable=SC2086
dl-preprocess csv $how --id name --print-recipe train.csv | tee recipe.json | jq -c .
jq -c .recipe <(dl-shard --info --json train.dls) | cmp - <(jq -c . recipe.json)
dl-preprocess --recipe recipe.json train.csv --no-provenance --threads 3 -o by-recipe.dls
# shellcheck disable=SC2086
dl-preprocess csv $how --id name train.csv --no-provenance -o by-options.dls
cmp by-recipe.dls by-options.dls && echo 'the same bytes by recipe and by options'

echo '== predictions'
# shellcheck disable=SC2086
dl-preprocess csv $how --id name train.csv | dl-infer --model m.safetensors >piped
dl-infer --model m.safetensors --raw train.csv >raw && cmp piped raw && wc -l <raw
# shellcheck disable=SC2086
dl-preprocess csv $how --id name train.csv |
  dl-infer --model m.safetensors --format dls --keep-features --no-provenance -o piped.dls
for threads in 1 3; do
  dl-infer --model m.safetensors --raw train.csv --format dls --keep-features --no-provenance \
    --threads $threads -o raw.dls
  cmp piped.dls raw.dls && echo "the same bytes with $threads threads"
done

echo '== columns by name, without the label, from standard input'
awk -F, -v OFS=, '{ print $4, $3, "other", $1, $2 }' train.csv |
  dl-infer --model m.safetensors --raw - >moved && cmp raw moved && head -1 moved | jq -c .id
dl-eval --model m.safetensors --raw train.csv | head -1
dl-eval --model m.safetensors --raw - < <(cut -d, -f1-4 train.csv)
echo "status $?"

echo '== rows are named where the recipe names none'
jq 'del(.tensors.id)' recipe.json >no-id.json
dl-preprocess --recipe no-id.json train.csv -o no-id.dls
dl-master -q --net net.json --data no-id.dls --local 1 --batch 4 -o n.safetensors
dl-infer --model n.safetensors --raw train.csv | sed -n '1p;$p' | jq -c .id

echo '== bad ones'
printf 'x,color,y,name\n1,2,3,a\n1,red,3,b\n1,2\n1,2,3,\n' >bad.csv
dl-infer --model m.safetensors --raw bad.csv >out
echo "status $?"
dl-infer --model m.safetensors --raw bad.csv --max-bad 5 | jq -c .id
printf 'x,y,name\n1,2,a\n' | dl-infer --model m.safetensors --raw -
echo "status $?"

echo '== no recipe'
dl-preprocess csv --header --label kind --weight x --print-recipe train.csv
echo "status $?"
dl-preprocess svmlight --features 2 --print-recipe x
echo "status $?"
printf 'a\na\n' | dl-preprocess csv --label none --na '' --print-recipe | jq -c .tensors
