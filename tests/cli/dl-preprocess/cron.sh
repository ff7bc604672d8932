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
dl-preprocess csv --label 3 - -o out.dls <in.csv && echo "standard input is never up to date"
