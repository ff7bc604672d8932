# Run twice, the second run does nothing; a changed input, other inputs of a
# pattern, other options, a damaged output and --force make it run again.
aged() { touch -d "$1 minutes ago" "$2"; } # as files that are not just written
printf '1,2,a\n3,4,b\n' >in.csv
aged 90 in.csv
made() { # whether a run replaced out.dls
  before=$(stat -c %i out.dls 2>/dev/null)
  ln -f out.dls held.dls 2>/dev/null # keeps the inode number from reuse
  dl-preprocess csv --label 3 in.csv -o out.dls "$@" || echo "status $?"
  if [ "$(stat -c %i out.dls)" = "$before" ]; then echo kept; else echo written; fi
}
made
made
echo "options:"
made --batch 1
made --batch 1
made --force --batch 1
made
export DL_PREPROCESS_BATCH=1
made
made
unset DL_PREPROCESS_BATCH
made
echo "another size, the same size, an input of the future:"
printf '5,6,a\n' >>in.csv
aged 90 in.csv
made
made
printf '1,2,a\n3,4,b\n5,7,a\n' >in.csv
aged 80 in.csv
made
made
aged -80 in.csv
made
made
aged 90 in.csv
made
echo "a damaged output:"
head -c 100 held.dls >out.dls
made
made
cp out.dls one.dls # out.dls and held.dls are one file
cat one.dls one.dls >out.dls
made
made
echo "inputs of a pattern that are gone, or new:"
printf '7,8,b\n' >in2.csv
aged 90 in2.csv
all() {
  dl-preprocess csv --label 3 'in*.csv' -o all.dls && echo "done"
  dl-shard --info all.dls | grep -o 'examples  *[0-9][0-9]*'
}
all
all
rm in2.csv
all
all
cp -p in.csv in3.csv
all
dl-preprocess csv --label 3 - -o out.dls <in.csv && echo "standard input is never up to date"
dl-preprocess csv --label 3 - -o out.dls <in.csv && echo "standard input is never up to date"
for _ in 1 2; do dl-preprocess csv --label 3 in.csv -o json.dls --json -q; done
