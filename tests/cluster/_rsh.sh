#!/bin/bash
# In place of ssh: HOST COMMAND runs the command here, in a way that depends on the
# host.  Killing this leaves the command running, as with ssh.
host=$1 command=$2
echo "$host $command" >>rsh.commands
case $host in
  gone)
    echo "ssh: connect to host gone port 22: No route to host" >&2
    exit 255
    ;;
  bare)
    echo "sh: 1: /nowhere/dl-worker: not found" >&2
    exit 127
    ;;
  noisy)
    echo "Welcome to noisy"
    printf 'no line' >&2
    ;;
  *@mortal)
    mkdir died 2>/dev/null && export DL_FAILPOINTS="worker.after_batch=kill@5"
    ;;
esac
sh -c "exec $command" <&0 &
echo $! >>rsh.pids
wait $!
