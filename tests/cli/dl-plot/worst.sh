#!/bin/bash
# The examples of a report on its page: the worst with their pictures, as far as their
# files are some, and a regression's predictions beside the truth.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
dl-eval --model "$models/pets.safetensors" -e classification -e roc --json --examples 4 pets.dls >plain.json
printf 'GIF89a\1\0\1\0\200\0\0\0\0\0\377\377\377,\0\0\0\0\1\0\1\0\0\2\2D\1\0;' >cat.gif
echo 'root:x:0:0' >secret
jq -c '.examples.worst[0] += {id: "<b>cat", file: "cat.gif"} | .examples.worst[1].file = "secret"
       | .examples.worst[2].file = "gone.png"' plain.json >report.json
dl-plot report.json -o report.html
grep -o 'Largest losses</h2>' report.html
grep -c 'src="data:image/gif;base64,' report.html
grep -o 'data:image' report.html | wc -l
grep -c '<b>cat' report.html
grep -oE '&lt;b>cat|&lt;b&gt;cat' report.html | sort -u
printf '%s\n' 2,spam -1,ham 0.5,ham -2,ham | dl-preprocess csv --label 2 --classes ham,spam |
  dl-eval --model "$models/spam.safetensors" -e roc --json >spam.json
dl-plot spam.json -o spam.html
grep -oE 'Cost by threshold: [a-z]*|Lowest: [^<]*' spam.html | sort -u
printf '%s\n' 1,10,2,10 2,20,2,20 3,30,4,30 | dl-preprocess csv --label 3,4 --regression |
  dl-eval --model "$models/values.safetensors" --json --examples 2 >regression.json
dl-plot regression.json -o regression.html
grep -oE '<h3>(Predicted and true|Residuals)[^<]*' regression.html
grep -oE '<th scope="col">(Label|Predicted|Probability|Loss)' report.html regression.html | sed 's/<.*>/ /' | paste -sd' '
jq -c '.examples.sample[0].loss = -1e999' regression.json >odd.json
dl-plot odd.json -o odd.html
echo "status $?"
jq -c '.examples.most = 5000' regression.json >odd.json
dl-plot odd.json -o odd.html
echo "status $?"
