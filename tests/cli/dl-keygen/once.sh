#!/bin/sh
# A key of one use: both lines are printed, and no file has the secret one.
dl-keygen keys --once n1 >given
echo "status $?"
find keys -type f | sort
head -1 given | cmp - keys/server.pub && echo "the master's"
tail -1 given | wc -c
grep -rF -e "$(tail -1 given)" keys
dl-keygen keys --once n1
echo "status $?"
dl-keygen keys --once n1 --force | cmp -s - given
echo "status $?"
for args in "--once ../x" "--once a.once" "--worker a.once" "--once a -w b"; do
	eval "dl-keygen keys $args"
	echo "status $?"
done
for text in "" "$(cat keys/server.pub)" "not a key"; do
	printf %s "$text" | dl-worker --master tcp://127.0.0.1:1 --keys -
	echo "status $?"
done
