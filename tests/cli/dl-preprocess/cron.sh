# Run twice, the second run does nothing; a changed input, other options, a
# damaged output and --force make it run again.
printf '1,2,a\n3,4,b\n' >in.csv
made() { # whether a run replaced out.dls
  before=$(stat -c %i out.dls 2>/dev/null)
  ln -f out.dls held.dls 2>/dev/null # keeps the inode number from reuse
  dl-preprocess csv --label 3 in.csv -o out.dls "$@" || echo "status $?"
  if [ "$(stat -c %i out.dls)" = "$before" ]; then echo kept; else echo written; fi
}
# The clock of file times is coarse: wait until it has moved past the input.
moved() { touch now && [ now -nt in.csv ]; }
until moved; do :; done
made
made
made --batch 1
made --batch 1
made --force --batch 1
made
printf '5,6,a\n' >>in.csv
until moved; do :; done
made
made
head -c 100 held.dls >out.dls
made
until moved; do :; done
made
made
echo "the environment:"
export DL_PREPROCESS_BATCH=1
made
made
unset DL_PREPROCESS_BATCH
made
echo "an input of a pattern that is gone, or new:"
printf '7,8,b\n' >in2.csv
cp -p in.csv old.csv
until moved && [ now -nt in2.csv ]; do :; done
all() { dl-preprocess csv --label 3 'in*.csv' -o all.dls 2>&1; dl-shard --info all.dls | grep -o 'examples  *[0-9][0-9]*'; }
dl-preprocess csv --label 3 'in*.csv' -o all.dls
all
rm in2.csv
all
all
cp -p old.csv in3.csv
all
dl-preprocess csv --label 3 - -o out.dls <in.csv && echo "standard input is never up to date"
