#!/bin/bash
# Workers on three hosts by pdsh over ssh, GNU parallel and xargs.
. "$DL_TEST_ROOT/tests/engines/_ssh.sh"
need pdsh parallel
printf '%s\n' h1 h2 h3 >hosts.list
export PDSH_RCMD_TYPE=ssh
by pdsh 'pdsh -S'
by parallel 'parallel -j 0'
by xargs 'xargs -P 0'
