#!/bin/bash
# Data prepared by GNU parallel and by xargs, a file each: damaged ones are told of, and
# done again once they are mended.
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
need parallel
. "$DL_TEST_ROOT/tests/engines/_training.sh"
mkdir raw home
export HOME=$PWD/home
gzip -dc "$examples/digits.csv.gz" | split -l 300 --additional-suffix .csv - raw/
cp raw/ac.csv whole
sed -i '7s/,.*//' raw/ac.csv
block 'parallel --retries' >parallel.sh
bash parallel.sh 2>err
echo "status $?, $(find shards -name "*.dls" | wc -l) shards"
grep -c '^dl-preprocess: .*ac.csv' err
cp whole raw/ac.csv
bash parallel.sh
echo "status $?, $(find shards -name "*.dls" | wc -l) shards"
dl-shard --info 'shards/*.dls' | head -n 1
# One that comes before the others, and one that has changed.
sed 1,3d raw/aa.csv >raw/a.csv
sed -i 1d raw/ab.csv
bash parallel.sh
echo "status $?, $(find shards -name "*.dls" | wc -l) shards"
dl-shard --info 'shards/*.dls' | head -n 1
rm -r shards
mkdir shards
block 'xargs -P 4' >xargs.sh
sed -i '7s/,.*//' raw/ac.csv
bash xargs.sh 2>err
echo "status $?, $(find shards -name "*.dls" | wc -l) shards"
