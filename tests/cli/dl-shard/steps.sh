#!/bin/sh
# Labels of steps: padding is no label, neither in statistics nor in numbers of
# classes.
awk 'BEGIN {
  print "machine,x,load,state"
  for (m = 1; m <= 4; ++m)
    for (t = 1; t <= 2 * m; ++t)
      print m "," t "," 10000 + m * 10 + t "," (t < 3 ? "warm" : "hot") }' >f.csv
csv() {
  dl-preprocess csv --header --sequence machine --per-step --steps 6 \
    --longer truncate --no-provenance "$@" f.csv 2>/dev/null
}
csv --label load --drop state --regression >load.dls
dl-shard --info load.dls
dl-shard -q -n 2 -o load load.dls
dl-shard --info 'load-*.dls' | grep -A 2 'of labels'
csv --label state --drop load >state.dls
dl-shard --info state.dls | grep -A 2 classes
dl-shard --info --json state.dls | jq -c .classes
dl-shard -n 1 --split a=0.5,b=0.5 --stratify -o s state.dls
