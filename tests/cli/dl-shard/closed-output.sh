# Standard output that was closed cannot take the product: 74.  Commands without a product
# there do not need it.
make-dataset 10 >a.dls
dl-shard --info a.dls >&-
echo "status $?"
dl-shard --head 2 a.dls >&-
echo "status $?"
dl-shard --help >&-
echo "status $?"
dl-shard -q -n 2 -o x a.dls >&- 2>&- <&-
echo "status $?"
ls
