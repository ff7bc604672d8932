#!/bin/bash
# The page of an evaluation; the points of its curves are those that the scores give.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
dl-eval --model "$models/pets.safetensors" -e classification -e roc -e calibration:bins=5 --json pets.dls >report.json
jq -c '.evaluations[1].metrics.curves[1]' report.json
dl-plot report.json -o report.html
for text in 'Confusion matrix' 'ROC curve' 'Precision and recall' 'Reliability' 'cat, area'; do
  grep -qF -e "$text" report.html || echo "the page has no $text"
done
printf '%s\n' 1,10,2,10 2,20,2,20 3,30,4,30 | dl-preprocess csv --label 3,4 --regression |
  dl-eval --model "$models/values.safetensors" --json >regression.json
dl-plot report.json regression.json -o both.html
grep -o '<h2[^<]*' both.html | sed 's/.*>//'
dl-plot "$models/pets.safetensors" -o model.html
grep -o 'Diagram of the network' model.html

# Damaged, of another program, of two kinds.
head -c 300 report.json >cut.json
sed 's|"confusion":\[\[0|"confusion":[[7|' report.json >false.json
echo '{"a": 1}' >other.json
head -c 100 "$models/pets.safetensors" >cut.safetensors
for args in cut.json false.json other.json cut.safetensors "report.json $models/pets.safetensors" \
  "report.json --data x.csv"; do
  eval "dl-plot $args -o x.html"
  echo "status $?"
done
dl-plot report.json -o x.svg
echo "status $?"
sed 's/"cat"/"<script>alert(1)<\/script>"/g' report.json >odd.json
dl-plot odd.json -o odd.html
grep -c '<script>alert' odd.html
ls
