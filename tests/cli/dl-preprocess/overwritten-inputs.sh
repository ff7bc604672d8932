#!/bin/bash
# No output replaces an input: not the list of bad records, nor the table of labels or
# the recipe.
printf '1,2,0\nx,2,1\n' >a.csv
printf 'path,label\nb.png,c\n' >labels.csv
mkdir photos
refused() {
  "$@"
  echo "status $?"
}
refused dl-preprocess csv --label -1 --max-bad 3 --bad-list a.csv a.csv -o x.dls
refused dl-preprocess csv --label -1 --max-bad 3 --bad-list x.dls a.csv -o x.dls
refused dl-preprocess images --size 8x8 --labels labels.csv photos -o labels.csv
refused dl-preprocess images --size 8x8 --labels labels.csv --bad-list labels.csv photos -o x.dls
dl-preprocess images --size 8x8 --print-recipe >r.json
refused dl-preprocess --recipe r.json photos -o r.json
cat a.csv labels.csv
ls
