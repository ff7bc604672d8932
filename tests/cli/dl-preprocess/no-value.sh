#!/bin/sh
# Words that stand for a missing number are called so, with the options that
# pass over them.
try() { dl-preprocess csv --header --label class "$@" -o x.dls; echo "status $?"; }
for word in n/a - NA Missing '#N/A' none word; do
  printf 'x,y,class\n1,2,a\n3,%s,b\n' "$word" >t.csv
  try t.csv
done
printf 'x,y,class\n1,n/a,a\n3,4,b\n' >first.csv
try first.csv
try --na n/a --missing skip first.csv
try --na n/a --missing fill:0 first.csv
