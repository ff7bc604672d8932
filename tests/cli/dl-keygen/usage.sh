#!/bin/sh
# Help, version, and what the command line refuses.
dl-keygen --help | head -2
dl-keygen --version | head -1
for args in "" "a b" "--bogus a" "--forc a" "a -w ../x" "a -w ''" "-w"; do
	eval "dl-keygen $args"
	echo "status $?"
done
: >file
dl-keygen file/keys
echo "status $?"
dl-keygen a >/dev/full
echo "status $?"
DL_KEYGEN_WORKER=n5 dl-keygen b | tail -1
ls
