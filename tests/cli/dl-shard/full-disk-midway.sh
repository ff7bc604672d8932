# Standard output that takes a part and no more: the reason is told, whether
# the product fits a buffer or not, and the status is 74.
make-dataset 3000 100 >a.dls
(ulimit -f 1; dl-shard --head 3000 --json a.dls >part; echo "status $?" >&2)
wc -c <part
dl-shard --head 3000 --json a.dls >/dev/full
echo "status $?"
dl-shard --head 10 --json a.dls >/dev/full
echo "status $?"
