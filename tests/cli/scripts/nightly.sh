# The nightly preparation of dl-cluster(7), by its crontab's line: incremental, one at a
# time, told of what is damaged, and no more kept than asked for.
. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-cluster.7.scd
mkdir -p nfs/raw nfs/train
# The command that cron would run.
sed -n 's/^30 2 \* \* \* //p' "$(grep -l 'crontab -e' .blocks/[0-9]*)" |
  sed "s|/nfs|$PWD/nfs|g; s|/usr/local/share/dl-tools/examples|$DL_TEST_ROOT/scripts/share/examples|" \
    >command.sh
shards() { find nfs/train -name '*.dls' -printf . | wc -c; }
night() { # REASON
  bash command.sh
  echo "$1: status $?, $(shards) shards"
}
made() { stat -c '%i %n' nfs/train/*.dls; }
came() { # NAME LINES [TIME]
  gzip -dc "$examples/digits.csv.gz" | sed -n "$2p" >"nfs/raw/$1"
  [ $# = 2 ] || touch -d "$3" "nfs/raw/$1"
}
came monday.csv 1,50
came tuesday.csv 51,90 '3 years ago'
night "changed just now, whatever their times"
export SETTLED=0
night "two files"
made >before
night "nothing new"
made | cmp - before
# As rsync -a, cp -p and unzip leave them.
came old.csv 91,120 '40 days ago'
came future.csv 91,100 '2 hours'
night "of an old time, and of one that is still to come"
made | grep -vxFf before | sed 's/.*train/new: train/'
came tuesday.csv 51,100 '4 years ago'
night "corrected, and older"
dl-shard --info nfs/train/tuesday.csv.dls | grep -c '50 examples'
sed -i '1s/^0/1/' nfs/raw/tuesday.csv
touch -d '5 years ago' nfs/raw/tuesday.csv
night "of the same size"
dl-shard --head 1 --json nfs/train/tuesday.csv.dls | grep -o '"features":\[[0-9.]*'
came ' odd
name ' 101,110
night "an odd name"
came wednesday.csv 121,130
echo 'torn,line' >>nfs/raw/wednesday.csv
came thursday.csv 131,140
night "a damaged file"
night "and told of again"
rm nfs/raw/wednesday.csv
# A night that was cut off before the file in .nightly was written.
rm nfs/train/.nightly/thursday.csv
night "cut off"
ls nfs/train/.nightly/thursday.csv
# Another one is at work.
exec 8>nfs/train/.nightly.lock
flock 8
night "locked"
exec 8>&-
# ... beside one of somebody else's.
cp nfs/train/monday.csv.dls nfs/train/theirs.dls
touch -d '40 days ago' nfs/train/theirs.dls nfs/train/monday.csv.dls
night "an old shard"
night "which does not come again"
dl-shard --verify 'nfs/train/*.dls' | tail -n 1
ls nfs/train
came friday.csv 141,150
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
echo "no number: status $?, $(shards) shards"
