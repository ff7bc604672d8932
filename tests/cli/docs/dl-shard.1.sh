. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-shard.1.scd
# CIFAR-10's files: a class and 32x32 pixels in three colors, 128 times.
for file in 1 2; do
  awk 'BEGIN { for (i = 0; i < 64; ++i) printf "%c%3072s", i % 10 + 48, i }' |
    tr '0-9' '\000-\011' >data_batch_$file.bin
done
run_next 'dl-preprocess cifar'

make-dataset 60 10 1 >data.dls
run_next '--split train=0.8,test=0.2'

animals animals.csv
dl-preprocess csv --header --label species animals.csv -o pets.dls
run_next '--stratify'
run_next '--folds'
run_next '--balance'
cat "$blocks/$next.err"

awk 'BEGIN { print "patient,pulse,ill"
  for (i = 0; i < 90; ++i) print "p" i % 30 "," 60 + i % 7 "," i % 2 }' >visits.csv
run_next '--group id'
for part in train test; do
  dl-shard --head 90 --json "visits-$part-*.dls" | jq -r .id | sort -u
done | sort | uniq -d | wc -l
cp data.dls log.dls
run_next '--in-order'
cat "$blocks/$next.out"

for side in front back kinds; do cp data.dls $side.dls; done
run_next '--zip'
dl-shard --info pairs-000.dls | grep -E '^(features|labels)'

dl-shard -q -n 2 -o big data.dls
run_next 'pipe:cat big-'
cat small.list

rm train-*.dls
dl-shard -q -n 2 -o train data.dls
run_next 'jq'
cat "$blocks/$next.out"
page_ends
