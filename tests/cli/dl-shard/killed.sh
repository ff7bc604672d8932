#!/bin/sh
# SIGTERM in the middle of the input: nothing stays, and it dies of the signal.
make-dataset 1000 >a.dls
mkfifo feed
dl-shard --shuffle --memory 1k -o x feed &
exec 3>feed
head -c 5000 a.dls >&3
kill -TERM $!
wait $!
echo $?
exec 3>&-
ls -A
