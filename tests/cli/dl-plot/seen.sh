#!/bin/bash
# Examples on the page of a model: activations and places, the same each time.
make-dataset 60 10 1 learnable >data.dls
cat >net.json <<'JSON'
{"seed": 1, "input": {"shape": [3]}, "updater": {"type": "sgd", "learning_rate": 0.05},
 "layers": [{"type": "dense", "units": 4, "activation": "tanh"},
            {"type": "output", "units": 3, "activation": "softmax", "loss": "negative_log_likelihood"}]}
JSON
dl-master -q --net net.json --data data.dls --mode averaging --local 1 -o m.safetensors >report.txt || exit
dl-plot m.safetensors --examples data.dls -o m.html --data m.csv
dl-plot m.safetensors --examples data.dls -o again.html --data again.csv
cmp m.html again.html && cmp m.csv again.csv && echo "the same"
head -n 1 m.csv
wc -l <m.csv
grep -oE '<h3>(Neighbors|Principal|dense1|output1)[^<]*' m.html
grep -oE 'by the values of layer [^.]*' m.html
dl-plot m.safetensors --examples data.dls --layer output1 -o m.html
grep -oE 'by the values of layer [^.]*' m.html
: >empty
for args in "--layer dence1 --examples data.dls" "--examples gone.dls" "--examples empty" "--data x.csv"; do
  eval "dl-plot m.safetensors -o x.html $args"
  echo "status $?"
done
dl-plot m.safetensors.run --examples data.dls -o x.html
echo "status $?"
ls x.* 2>/dev/null || echo 'nothing is written'
