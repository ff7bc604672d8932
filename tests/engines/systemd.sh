#!/bin/bash
# The unit and the timer of dl-cluster(7) are what systemd understands.
. "$DL_TEST_ROOT/tests/engines/_lib.sh"
need systemd-analyze
cp "$cluster_examples"/dl-nightly.* .
# Where it will be once it is installed.
sed -i "s|/usr/share/dl-tools/examples/cluster|$cluster_examples|" dl-nightly.service
systemd-analyze verify --man=no ./dl-nightly.service ./dl-nightly.timer && echo verified
systemd-analyze calendar '*-*-* 02:30' | grep -c 'Next elapse'
# And what is wrong is found.
sed -i 's/^OnCalendar=.*/OnCalendar=nightly/' dl-nightly.timer
systemd-analyze verify --man=no ./dl-nightly.timer 2>&1 | grep -o 'Failed to parse calendar'
