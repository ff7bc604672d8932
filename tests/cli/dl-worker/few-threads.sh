#!/bin/bash
# Where it gets too few threads the worker says so, whoever would have begun the last one.
user=$((60000 + $$ % 4000)) # one without other processes, which would count
as_user() { setpriv --reuid "$user" --clear-groups "$@"; }
if [ "$(id -u)" != 0 ] || ! as_user dl-worker --version >/dev/null 2>&1; then
  echo "needs root, setpriv, and programs that every user can run" >&2
  exit 77
fi
for limit in {2..24}; do
  as_user bash -c "ulimit -u $limit
    exec dl-worker -q --master tcp://127.0.0.1:1 --insecure --wait 0.05s" 2>said
  echo "$?"
  tail -1 said >>last
done | sort | uniq -c | awk '{ print "status", $2, "times", $1 }'
grep -c 'this process gets no more threads: raise the limit' last | awk '{ print ($1 > 0) }'
