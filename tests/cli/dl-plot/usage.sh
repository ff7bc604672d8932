#!/bin/bash
# Help, version, and the command lines that are refused.
dl-plot --help | head -n 2
dl-plot --version | head -n 1
mkdir a.run
: >a.run/events.jsonl
for args in "" "a.run" "a.run -o x.pdf" "-o x.html" "a.run --bogus" "a.run --data a.run/events.jsonl"; do
  eval "dl-plot $args"
  echo "status $?"
done
dl-plot a.run --data -
dl-plot a.run --data - >/dev/full
echo "status $?"
echo '{"event":"start"}' >a.run/events.jsonl
dl-plot a.run -o nowhere/x.html
echo "status $?"
ls
