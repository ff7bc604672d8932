# An output that is one of the inputs is refused, under whatever name, and the
# input stays.
printf '1,2,a\n3,4,b\n' >same.csv
ln -s same.csv link.csv
ln same.csv hard.csv
for out in same.csv ./same.csv link.csv hard.csv; do
  dl-preprocess csv --label 3 same.csv -o $out || echo "status $?"
done
# shellcheck disable=SC2094  # that is what it is about
dl-preprocess csv --label 3 -o same.csv <same.csv || echo "status $?"
dl-preprocess csv --label 3 same.csv >>hard.csv || echo "status $?"
dl-preprocess csv --label 3 'pipe:cat same.csv' -o same.dls
cat same.csv
dl-shard -q -n 2 -o x same.dls
dl-shard --force -n 1 -o x 'x-*.dls' || echo "status $?"
cp same.dls y-000.dls
dl-shard --force -o y y-000.dls || echo "status $?"
dl-shard --verify x-*.dls y-000.dls
echo '{"input": {"shape": [2]}, "layers": [
  {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}' >net.json
dl-master --net net.json --data same.dls --local 1 -o same.dls || echo "status $?"
dl-master --net net.json --data same.dls --local 1 -o net.json || echo "status $?"
dl-master -q --net net.json --data same.dls --local 1 --epochs 1 -o m 2>/dev/null
dl-infer --model m same.dls -o same.dls || echo "status $?"
dl-infer --model m same.dls -o m || echo "status $?"
dl-infer --model m same.dls -o p.jsonl && dl-shard --verify same.dls
