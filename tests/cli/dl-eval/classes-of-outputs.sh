# Classes of labels of one output of several are the model's, whatever comes first in raw data.
printf 'x,y,color,kind\n0,1,red,dog\n1,0,blue,cat\n0,2,red,dog\n2,0,blue,cat\n' >train.csv
sed 1d train.csv | sort -r -t, -k3 | sort -t, -k4 | sed '1i x,y,color,kind' >test.csv
cat >r.json <<'JSON'
{"source": {"type": "csv"}, "tensors": {
  "features": {"type": "number", "from": ["x", "y"]},
  "labels/color": {"type": "category", "from": "color"},
  "labels/kind": {"type": "category", "from": "kind"}}}
JSON
cat >net.json <<'JSON'
{"seed": 1, "updater": {"type": "sgd", "learning_rate": 0.5}, "inputs": [{"name": "x", "shape": [2]}],
 "nodes": [
  {"name": "color", "type": "output", "from": "x", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"},
  {"name": "kind", "type": "output", "from": "x", "units": 2, "activation": "softmax", "loss": "negative_log_likelihood"}],
 "outputs": ["color", "kind"]}
JSON
dl-preprocess --recipe r.json train.csv -o train.dls
dl-master -q --net net.json --data train.dls --local 1 --mode averaging --epochs 40 --batch 4 --normalize none -o m.safetensors
dl-eval --model m.safetensors --raw train.csv | grep accuracy
dl-eval --model m.safetensors --raw test.csv | grep accuracy
