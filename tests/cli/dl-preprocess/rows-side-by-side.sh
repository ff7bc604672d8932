#!/bin/bash
# Rows of CSV are made side by side: the same bytes for any number of threads, and the same
# examples as of JSON Lines, which are made one after the other; with bad rows, rows that a step
# leaves out, texts with line breaks and doubled quotes, and several files.
awk 'BEGIN {
  print "n,word,when,note,y" >"1.csv"
  for (i = 0; i < 40000; ++i) {
    file = i < 25000 ? 1 : 2
    if (i == 25000) print "y,when,word,n,note" >"2.csv"
    n = i % 1000 == 7 ? "bad" : i % 97 == 3 ? "" : (i * 37 % 1999) / 8 - 100
    word = i % 5 == 0 ? "a \"\"b\"\"" : "w" i % 7
    when = sprintf("20%02d-%02d-%02d", i % 30, i % 12 + 1, i % 28 + 1)
    note = i % 11 == 0 ? "two\nlines, " i : "line " i
    y = i % 3 ? "yes" : "no"
    if (file == 1) printf "%s,\"%s\",%s,\"%s\",%s\n", n, word, when, note, y >"1.csv"
    else printf "%s,%s,\"%s\",%s,\"%s\"\n", y, when, word, n, note >"2.csv"
    gsub(/""/, "\\\"", word); gsub(/\n/, "\\n", note)
    printf "{\"n\":\"%s\",\"word\":\"%s\",\"when\":\"%s\",\"note\":\"%s\",\"y\":\"%s\"}\n",
      n, word, when, note, y >"rows.jsonl"
  }
}'
cat >recipe.json <<'END'
{"source": {"type": "csv"},
 "steps": [
   {"where": "n < 140 or is_missing(n)"},
   {"let": "m", "be": "if(is_missing(n), 0, n) ^ 2 / 3"},
   {"map": "word", "values": {"w3": "three"}}],
 "tensors": {
   "features": [
     {"type": "number", "from": ["n", "m"], "missing": "value", "indicator": true},
     {"type": "date", "from": "when"},
     {"type": "category", "from": "word", "encode": "one_hot", "unknown": "zeros",
      "classes": ["a \"b\"", "three", "w1", "w2"]}],
   "labels": {"type": "category", "from": "y", "classes": ["no", "yes"]},
   "id": {"type": "id", "from": "note", "bytes": 32}}}
END
jq '.source = {"type": "jsonl"}' recipe.json >lines.json
make() { dl-preprocess -q --no-provenance --max-bad 50 --recipe "$@"; }
for threads in 1 2 4; do
  make recipe.json 1.csv 2.csv --threads "$threads" --bad-list "bad.$threads" -o "$threads.dls"
done
cmp 1.dls 2.dls && cmp 1.dls 4.dls && cmp bad.1 bad.4 && echo 'the same bytes'
head -2 bad.1
wc -l <bad.1
make lines.json rows.jsonl --threads 2 -o lines.dls
for stream in 1 lines; do dl-shard --head 100000 --json "$stream.dls" >"$stream.examples"; done
cmp 1.examples lines.examples && echo 'the same examples'
wc -l <1.examples
jq -c '[.id, .index, .features]' 1.examples | sed -n '2p;12000p'
echo '== numbers that a step has read: words for missing ones, texts, and places of rows'
printf '%s\n' n -999 1.50 true 1 >few.csv
cat >few.json <<'END'
{"source": {"type": "csv"},
 "steps": [{"let": "m", "be": "n / 3"}, {"let": "k", "be": "m * 2 + n"}, {"cast": "k", "to": "text"},
           {"let": "t", "be": "concat(text(m), ' ', text(n))"}],
 "tensors": {
   "features/x": [
     {"type": "number", "from": ["n", "m"], "missing": "value", "value": 7, "na": ["-999", "-333"]},
     {"type": "category", "from": "k", "encode": "one_hot", "classes": ["-1665", "2.5"], "unknown": "zeros"}],
   "labels/t": {"type": "category", "from": "t"},
   "id": {"type": "id", "from": "file:line", "bytes": 16}}}
END
dl-preprocess -q --recipe few.json few.csv | dl-shard --head 9 --json | jq -c '[.id, ."features/x", ."class/t", ."labels/t"]'
echo '== what ends the input comes in its place'
{ cat 1.csv; printf '1,"w1,2020-01-01,never closed,yes\n'; } >open.csv
for threads in 1 4; do
  make recipe.json open.csv --threads "$threads" -o x.dls
  echo "status $?"
done
dl-preprocess -q --recipe recipe.json 1.csv 2.csv --max-bad 3 -o x.dls 2>&1 | tail -1
[ ! -e x.dls ]
