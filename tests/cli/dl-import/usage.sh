#!/bin/sh
# Help, version, and what the command line refuses.
dl-import --help | head -3
dl-import --version | head -1
golden=$DL_TEST_ROOT/tests/golden/keras
for args in "" "a b -o c" "a" "--expect y a" "$golden/pair.keras --expect y -o c" "a -o c --shape 3,x" \
	"a -o c --shape 3,,4" "a -o c --shape ''" "a -o c --shape 0" "a -o c --shape 3 --shape 4" \
	"$golden/words.json --check $golden/words.npz" "$golden/pair.keras -o /nowhere/x"; do
	eval "dl-import $args" 2>&1 | sed "s,$DL_TEST_ROOT/,,"
done
# The wrong numbers: the answer is no.
printf '1,2,3,0,0,0\n' >x.csv
printf '5,5\n' >y.csv
dl-import -q "$golden/words.json" --weights "$golden/words.weights.h5" --check x.csv --expect y.csv | sed 's/difference .*/difference .../'
dl-import -q "$golden/words.json" --weights "$golden/words.weights.h5" --check x.csv
echo "status $?"
dl-import -q "$golden/words.json" --weights "$golden/words.weights.h5" --check x.csv --expect x.csv
echo "status $?"
# An output that is one of the inputs.
cp "$golden/pair.keras" "$golden/words.json" "$golden/words.weights.h5" .
ln -s pair.keras link
sha256sum ./* >before
dl-import pair.keras -o link
dl-import words.json --weights words.weights.h5 -o words.weights.h5
dl-import words.json --weights words.weights.h5 --check x.csv --expect y.csv -o y.csv
sha256sum --quiet -c before && echo kept
