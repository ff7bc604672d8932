# The nightly preparation of dl-cluster(7), by its crontab's line: incremental, one at a
# time, told of what is damaged, and no more kept than asked for.
. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-cluster.7.scd
mkdir -p nfs/raw nfs/train
# What cron would run.
sed -n 's/^30 2 \* \* \* //p' "$(grep -l 'crontab -e' .blocks/[0-9]*)" |
  sed "s|/nfs|$PWD/nfs|g; s|/usr/local/share/dl-tools/examples|$DL_TEST_ROOT/scripts/examples|" \
    >command.sh
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
gzip -dc "$examples/digits.csv.gz" | sed -n 51,60p >>nfs/raw/tuesday.csv
night "written to just now"
touch -d '1 hour ago' nfs/raw/tuesday.csv
touch -d '2 hours ago' nfs/train/tuesday.csv-000.dls
night "written to since"
dl-shard --info nfs/train/tuesday.csv-000.dls | grep -c '50 examples'
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
# ... beside one of somebody else's.
cp nfs/train/monday.csv-000.dls nfs/train/theirs-000.dls
touch -d '40 days ago' nfs/train/theirs-000.dls
night "an old file"
dl-shard --verify 'nfs/train/*.dls' | tail -n 1
ls nfs/train
# What dl-preprocess says counts, not that dl-shard has nothing then.
came friday.csv 141,150 '1 hour ago'
sed 's/--label -1/--label 99/' command.sh >label.sh
bash label.sh
echo "no such column: status $?"
rm nfs/raw/friday.csv
# Nothing is removed where nothing is mounted.
touch -d '40 days ago' nfs/train/*
mv nfs/raw nfs/away
night "no folder"
sed 's/ 30 csv/ month csv/' command.sh >month.sh
bash month.sh
echo "no number: status $?, $(find nfs/train -name '*.dls' | wc -l) shards"
