#!/bin/sh
# A file system that fills up: old shards stay, and nothing else does.
unshare -rm mount -t tmpfs none . 2>/dev/null || {
  echo 'cannot mount a file system' >&2
  exit 77
}
make-dataset 10 >old.dls
make-dataset 5000 100 >a.dls
seq 60000 | awk '{ print rand() "," $1 % 2 }' >a.csv
mkdir full
cat >inside <<'END'
mount -t tmpfs -o size=64k none full
dl-shard -q -n 3 -o full/x old.dls
cksum full/x-* >before
dl-shard --force -n 3 -o full/x a.dls
echo $?
dl-shard --force --shuffle --memory 1k -n 3 -o full/x a.dls
echo $?
dl-preprocess csv --label -1 -o full/y.dls a.csv
echo $?
cksum full/x-* | cmp - before
ls -A full
END
unshare -rm sh inside
