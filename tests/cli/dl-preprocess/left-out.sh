# Examples that were left out or cut on purpose, and those that may be a mistake,
# are told at the end.
for i in 1 2 3; do echo "p,$i,a"; done >in.csv
printf 'q,1,b\nq,NA,b\n' >>in.csv
sequences() {
  dl-preprocess csv --sequence 1 --steps 2 --label 3 --missing skip "$@" in.csv
}
sequences --longer truncate >/dev/null
sequences --longer skip >/dev/null
sequences --longer truncate -o x.dls --json
sequences --longer skip -o x.dls --json
for i in $(seq 442); do echo "$i,$((i % 196)).0"; done >progress.csv
dl-preprocess csv --label 2 progress.csv -o x.dls
echo "status $?"
dl-preprocess csv --label 2 --regression progress.csv -o x.dls
