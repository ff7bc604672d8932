. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-preprocess.1.scd

. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
picture photos/cats/1.png 30 20 1
picture photos/dogs/1.ppm 20 30 2
run_next '--ledger'
dl-shard --info photos-*.dls | grep '^examples'
animals animals.csv
awk -F, 'NR > 1 { printf "{\"height\":%s,\"weight\":%s,\"species\":\"%s\"}\n", $1, $2, $3 }' \
  animals.csv >animals.jsonl
run_next 'jq'
dl-shard --info animals.dls | grep '^features\|^examples'
skip_next 'read_parquet' 'wants pandas'
python3 - <<'END'
import os, wave
for folder in "no", "yes":
    os.mkdir(folder)
    for seconds in 1, 2:
        with wave.open(f"{folder}/{seconds}.wav", "wb") as sound:
            sound.setparams((1, 2, 16000, 0, "NONE", ""))
            sound.writeframes(b"\1\2" * 12000 * seconds)
END
run_next 'wave'
dl-shard --head 1 --json words.dls |
  python3 -c 'import json, sys
example = json.load(sys.stdin)
print(example["id"], example["features"][11999:12001])'
skip_next 'numpy' 'wants NumPy'

run_next 'dl-preprocess images'

mnist . 96 1
run_next 'dl-shard -n 16'

for i in {1..20}; do
  picture "scans/patient$i/ill_$i.ppm" 8 8 "$i" && picture "scans/patient$i/well_$i.ppm" 8 8 "1$i"
done
run_next '--group'
ls scans-*.dls

awk 'BEGIN {
  print "customer,city,since,age,churn"
  for (i = 0; i < 60; ++i)
    print "c" i "," (i % 2 ? "Bern" : "Rome") ",2024-0" i % 9 + 1 "-05," (i % 4 ? i : "") "," (i % 3 ? "no" : "yes")
}' >customers.csv
run_next 'dl-preprocess table'
dl-shard --info train.dls | grep '^examples\|^features'
cp customers.csv today.csv
run_next 'dl-preprocess compare'

animals iris.csv
echo '1,,cat' >>iris.csv  # a value is missing
run_next '--missing skip'

awk -F, '{ print (NR == 1 ? "plant" : "p" NR) "," $0 }' iris.csv |
  sed '$d' >plants.csv
run_next '--id plant'

awk 'BEGIN {
  print "machine,heat,noise,fault"
  for (i = 0; i < 60; ++i)
    print int(i / 20) "," i % 7 "," i % 3 "," (i < 30 ? "none" : "belt")
}' >log.csv
run_next '--sequence machine'

awk -v days=14 -f "$examples/load.awk" >load.csv
run_next 'dl-preprocess series'
dl-shard --info load-train.dls load-test.dls | grep '^examples\|^features'

# The file at the address.
awk 'BEGIN { for (i = 0; i < 9; ++i) print i ",2," i % 2 "," i / 2 }' |
  gzip >t.csv.gz
printf '#!/bin/sh\ncat t.csv.gz\n' >.blocks/bin/curl
chmod +x .blocks/bin/curl
run_next 'pipe:curl'

seq 300 >book.txt
run_next 'text.idx next.idx'
dl-master -q --dry-run --net "$DL_TEST_ROOT/scripts/share/examples/char-lstm.json" --data book.dls >/dev/null &&
  echo 'char-lstm learns it'
page_ends
