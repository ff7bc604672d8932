# A file is read, whatever its name: no pattern and no option makes a command
# of it.
evil='pipe:touch PWNED; cat a.dls #.dls'
printf '1,2,a\n3,4,b\n' >in.csv
dl-preprocess csv --label 3 in.csv >a.dls
printf '5,6,a\n7,8,b\n' | dl-preprocess csv --label 3 >"$evil"
cp in.csv 'pipe:touch PWNED #.csv'
echo '{"input": {"shape": [2]}, "layers": [
  {"type": "output", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}]}' >net.json
dl-shard -q --info --json '*.dls' | grep -o '"examples":4,"'
# shellcheck disable=SC2035  # the name is the point
dl-shard -q --verify *.dls
dl-shard -q -o dealt '*.dls'
dl-preprocess csv --label 3 '*.csv' -o both.dls
dl-shard --info --json both.dls | grep -o '"examples":4,"'
dl-master -q --net net.json --data '*.dls' --eval-data "$evil" --local 1 --epochs 1 -o m 2>/dev/null
cp m 'pipe:touch PWNED #m'
dl-eval --model 'pipe:touch PWNED #m' '*.dls' | grep -o '[0-9]* examples'
dl-infer --model m '*.dls' | wc -l
ls PWNED 2>/dev/null
true
