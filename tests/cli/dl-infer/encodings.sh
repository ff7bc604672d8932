#!/bin/bash
# Tables that come later: in the encoding of the training data, in another that --encoding or a byte order mark says.
for i in $(seq 40); do
  case $((i % 3)) in 0) town=Köln ;; 1) town=Ulm ;; *) town=Österö ;; esac
  echo "$town,$i,$((i % 3 == 0))"
done | sed '1i stadt,größe,y' >utf8.csv
iconv -t latin1 utf8.csv >latin1.csv
{ printf '\377\376' && iconv -t UTF-16LE utf8.csv; } >marked.csv
{ printf '\357\273\277' && cat utf8.csv; } >marked8.csv
iconv -t UTF-16LE utf8.csv >bare.csv
learn() { # NAME OPTION...
  dl-preprocess table -q --label y --network net.json "${@:2}" -o "$1.dls" &&
    dl-master -q --fresh --net net.json --data "$1.dls" --local 1 --epochs 20 -o "$1.safetensors"
}
learn utf8 utf8.csv
learn latin1 --encoding latin1 latin1.csv
infer() { dl-infer --raw "$@" | sed 's/"id":"[^:"]*:/"id":"/'; }
infer --model utf8.safetensors utf8.csv >wanted
wc -l <wanted
for args in "utf8 --encoding latin1 latin1.csv" "utf8 marked.csv" "utf8 --encoding utf-16le bare.csv" \
  "latin1 latin1.csv" "latin1 --encoding utf-8 utf8.csv" "latin1 --encoding utf-16 marked.csv" \
  "latin1 marked.csv" "latin1 marked8.csv"; do
  # shellcheck disable=SC2086
  infer --model ${args%% *}.safetensors ${args#* } | cmp - wanted && echo "same: $args"
done
dl-eval --model latin1.safetensors --raw --encoding utf-8 --json utf8.csv >a.json
for table in latin1 marked marked8; do
  dl-eval --model latin1.safetensors --raw --json $table.csv | cmp - a.json && echo "same: $table"
done
echo '== forecasts'
awk 'BEGIN { print "größe"; for (i = 0; i < 40; ++i) print i % 5 }' >s.csv
iconv -t latin1 s.csv >s1.csv
dl-preprocess series -q --window 5 --label größe s.csv -o s.dls
echo '{"input": {"shape": [5, 1]}, "seed": 1, "layers": [{"type": "flatten"}, {"type": "output", "units": 1,
  "activation": "identity", "loss": "mean_squared_error"}]}' >s.json
dl-master -q --net s.json --data s.dls --local 1 --epochs 3 -o s.safetensors
dl-infer --model s.safetensors --forecast 2 s.csv >wanted
dl-infer --model s.safetensors --forecast 2 --encoding latin1 s1.csv | cmp - wanted && echo same
dl-preprocess series -q --window 5 --label größe --encoding latin1 s1.csv -f -o s.dls
dl-master -q --fresh --net s.json --data s.dls --local 1 --epochs 3 -o s1.safetensors
{ printf '\377\376' && iconv -t UTF-16LE s.csv; } >marked.s.csv
dl-infer --model s1.safetensors --forecast 2 s1.csv >wanted
dl-infer --model s1.safetensors --forecast 2 marked.s.csv | cmp - wanted && echo same
echo '== what is wrong'
status() { "$@" && echo "no error: $*" || echo "status $?"; }
status dl-infer --model utf8.safetensors --raw latin1.csv
status dl-infer --model utf8.safetensors --raw --encoding klingon utf8.csv
status dl-infer --model utf8.safetensors --encoding latin1 utf8.dls
status dl-infer --model latin1.safetensors --raw --encoding latin1 marked.csv
status dl-infer --model s.safetensors --forecast 2 s1.csv
