#!/bin/bash
# Workers on three hosts by dl-master --hosts, and by pdsh, GNU parallel and xargs over
# ssh: the examples of dl-cluster(7).
. "$DL_TEST_ROOT/tests/engines/_ssh.sh"
need pdsh parallel
digits_for_lenet
block '--hosts h1,h2*2,h3' >hosts.sh
bash hosts.sh >hosts-option.out 2>hosts-option.err
echo "--hosts: status $?"
check lenet.safetensors.run
field_of_events lenet.safetensors.run '{"event": "join"}' name | sed 's/[:-][0-9]*$//' |
  sort
rm train-*.dls

printf '%s\n' h1 h2 h3 >hosts.list
unset PDSH_RCMD_TYPE  # as users have it
by pdsh 'pdsh -R ssh -S'
by parallel 'parallel -j 0'
by xargs 'xargs -P 0'
