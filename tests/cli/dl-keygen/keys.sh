#!/bin/sh
# Keys are made once, with the right modes; workers can be added.
dl-keygen keys -w n1 -w n2
echo "status $?"
stat -c '%a %s %n' keys/server.key keys/hand-out/n1/worker.key keys/server.pub
cmp keys/server.pub keys/hand-out/n2/server.pub && echo same
cksum keys/*.* keys/*/* keys/*/*/* 2>/dev/null >before
dl-keygen keys
echo "status $?"
dl-keygen keys --worker n3 --worker n1
echo "status $?"
cksum keys/*.* keys/*/* keys/*/*/* 2>/dev/null | cmp - before && echo untouched
dl-keygen --worker=n3 keys
dl-keygen keys --force -w n1 | head -1
echo 'not a key' >keys/server.key
dl-keygen keys -w n4
echo "status $?"
rm keys/server.key
umask 0
dl-keygen --force keys && chmod 644 keys/server.key
dl-keygen keys -w n4
echo "status $?"
