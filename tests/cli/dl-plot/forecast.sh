#!/bin/bash
# The page of a forecast's report has the columns and forecasts of dl-eval's table.
awk 'BEGIN { print "load"; for (i = 0; i < 60; ++i) print i * 3 % 7 }' >load.csv
dl-preprocess series -q --no-provenance --window 5 --label load -o windows.dls load.csv
cat >net.json <<'JSON'
{"seed": 1, "input": {"shape": [5, 1]}, "updater": {"type": "sgd", "learning_rate": 0.05},
 "layers": [{"type": "flatten"},
            {"type": "output", "units": 1, "activation": "identity", "loss": "mean_squared_error"}]}
JSON
dl-master -q --net net.json --data windows.dls --local 1 --epochs 1 -o model.safetensors >log || exit
dl-eval -q --model model.safetensors -e forecast --json windows.dls >report.json
dl-plot report.json -o page.html
grep -o '<th scope="col">[^<]*' page.html | sed 's/.*>//' | paste -sd' '
grep '<th scope="row">' page.html | sed 's/<[^>]*>/ /g; s/seasonal naive/seasonal/' | awk '{ print $(NF-3), $(NF-2), $(NF-1), $NF }' >drawn
wc -l <drawn
head -n 1 drawn | grep -cE '^[0-9.]+ [0-9.]+ [0-9.]+ '
grep -o '<td>[a-z ]*</td>' page.html
dl-plot report.json -o x.png
echo "status $?"

# A forecast of several steps has errors by step.
dl-preprocess series -q --no-provenance --window 5 --horizon 3 --label load -o steps.dls load.csv
sed 's/"units": 1/"units": 3/' net.json >net3.json
dl-master -q --net net3.json --data steps.dls --local 1 --epochs 1 -o m3.safetensors >log || exit
dl-eval -q --model m3.safetensors -e forecast --json steps.dls >steps.json
dl-plot steps.json -o steps.html
grep -oE '[A-Z][a-z ]* error by horizon' steps.html | sort -u
