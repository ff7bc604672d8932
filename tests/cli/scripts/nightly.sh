# The nightly preparation of dl-cluster(7), by its crontab's line: incremental, one at a
# time, told of what is damaged, and no more kept than asked for.
. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-cluster.7.scd
mkdir -p nfs/raw nfs/train
ln -s "$DL_TEST_ROOT/scripts/examples/cluster/nightly" .blocks/bin/nightly
PATH=$PWD/.blocks/bin:$PATH
crontab() { cat >tab; }
# shellcheck disable=SC1090  # the page's
. <(cat "$(grep -l 'crontab -' .blocks/[0-9]*)")
sed "s|/nfs|$PWD/nfs|g" tab | cut -d' ' -f 6- >command.sh
night() { # REASON
  bash command.sh
  echo "$1: status $?, $(find nfs/train -name '*.dls' | wc -l) shards"
}
came() { # NAME LINES AGE
  gzip -dc "$examples/digits.csv.gz" | sed -n "$2p" >"nfs/raw/$1"
  touch -d "$3" "nfs/raw/$1"
}
came monday.csv 1,50 '2 days ago'
came tuesday.csv 51,90 '1 hour ago'
came now.csv 91,120 now
night "two files"
touch -d '1 hour ago' nfs/raw/now.csv
stat -c %Y nfs/train/monday* >before
night "one more"
stat -c %Y nfs/train/monday* | cmp - before
night "nothing new"
came wednesday.csv 121,130 '1 hour ago'
echo 'torn,line' >>nfs/raw/wednesday.csv
came thursday.csv 131,140 '50 minutes ago'
touch -d '1 hour ago' nfs/raw/wednesday.csv
night "a damaged file"
rm nfs/raw/wednesday.csv
# Another one is at work.
exec 8>nfs/train/.nightly.lock
flock 8
night "locked"
exec 8>&-
touch -d '40 days ago' nfs/raw/monday.csv nfs/train/monday.csv-000.dls
night "an old file"
dl-shard --verify 'nfs/train/*.dls' | tail -n 1
ls nfs/train
