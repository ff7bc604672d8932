#!/bin/sh
# Each is a mistake in the command line, and nothing is read or written.
for options in '-n 0' '-n x' '--batch -1' '-n 2 --size 1M' '--json' \
  '--verify --info' '--head 0' '--split a=0.5' '--size 5q'; do
  # shellcheck disable=SC2086  # options are words
  dl-shard $options missing.dls 2>&1 | head -n 1
done
dl-shard --split a=2 missing.dls
rc=$?
ls
exit $rc
