# --insecure would leave the keys unused.
dl-worker --master tcp://127.0.0.1:7000 --keys keys --insecure
echo $?
