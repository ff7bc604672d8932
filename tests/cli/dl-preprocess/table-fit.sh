#!/bin/bash
# A table's recipe is found and fitted in one pass over its rows, on any number of threads: the
# same bytes as by a recipe that fit learns. With more numbers and times than are counted, words
# among numbers, texts with doubled quotes, and files whose columns differ.
awk 'BEGIN {
  print "n,time,word,when,flag,few,y" >"1.csv"
  print "y,few,when,word,time,n,late" >"2.csv"
  for (i = 0; i < 60000; ++i) {
    n = i % 5000 == 7 ? "none" : i % 97 == 3 ? "NA" : (i * 37 % 50021) / 8 - 100
    time = sprintf("20%02d-%02d-%02d %02d:%02d", i % 30, i % 12 + 1, i % 28 + 1, i % 24, i % 60)
    word = i % 5 == 0 ? "a \"\"b\"\"" : i % 13 == 4 ? "?" : "w" i % 60
    when = i % 31 ? sprintf("%d/%d/2024", i % 12 + 1, i % 28 + 1) : ""
    y = i % 3 ? "yes" : "no"
    if (i < 35000) printf "%s,%s,\"%s\",%s,%s,%s,%s\n", n, time, word, when, i % 2 ? "on" : "off", i % 9, y >"1.csv"
    else printf "%s,%s,%s,\"%s\",%s,%s,%s\n", y, i % 9, when, word, time, n, i * 7 % 11 >"2.csv"
  }
}'
bad=()
learnt() {

  for threads in 1 2 4; do
    dl-preprocess table -q --no-provenance "${bad[@]}" "${@:2}" --threads $threads -o "$1.$threads.dls" || return
  done
  dl-preprocess table -q "${bad[@]}" "${@:2}" --print-recipe >"$1.json"
  inputs=() && for word; do [[ $word != *.csv ]] || inputs+=("$word"); done
  dl-preprocess fit -q "$1.json" "${bad[@]}" "${inputs[@]}" -o "$1.fitted.json" || return
  dl-preprocess -q --no-provenance "${bad[@]}" --recipe "$1.fitted.json" "${inputs[@]}" -o "$1.dls"
  cmp "$1.1.dls" "$1.2.dls" && cmp "$1.1.dls" "$1.4.dls" && cmp "$1.1.dls" "$1.dls" && echo "$1: the same bytes"
}
learnt one --label y 1.csv
grep -v none 1.csv >numbers.csv
learnt few --label few --drop word,when numbers.csv
jq -c '.tensors.features[] | [.from, .fill // .fills // (.classes | length)]' one.fitted.json
echo '== a row with too many fields'
sed '20000s/$/,1/' 1.csv >bad.csv
bad=(--max-bad 1)
learnt bad --label y bad.csv 2>&1 | uniq
dl-preprocess table -q --label y --threads 2 bad.csv -o no.dls
echo "status $?"
echo '== learners side by side of files, one after the other of a pipe'
jq '.tensors.labels |= del(.classes)' one.json >open.json
dl-preprocess fit open.json 1.csv -o files.json
dl-preprocess fit open.json - <1.csv | cmp - files.json && echo 'the same bytes'
sed '30001,30003s/^[^,]*,/what,/' 1.csv >words.csv
dl-preprocess fit -q --max-bad 3 open.json words.csv -o files.json
dl-preprocess fit -q --max-bad 3 open.json - <words.csv | cmp - files.json && echo 'the same bytes'
dl-preprocess fit -q open.json words.csv -o no.dls
echo "status $?"
echo '== rows that come twice'
cp 1.csv again.csv
dl-preprocess table -q --label y 1.csv numbers.csv again.csv -o no.dls
echo "status $?"
echo '== columns that one file lacks'
dl-preprocess table --label y --print-recipe 1.csv 2.csv 2>&1 >/dev/null | grep -E 'flag|late|rows'
ls no.dls 2>&1
