#!/bin/bash
# Hosts that hang, that write without end or what they read, and a command that is gone
# when a worker is to be started again.
. "$DL_TEST_ROOT/tests/cluster/_lib.sh"
make_data
hosts() { # NAME COMMAND OPTION...
  local name=$1 rsh=$2
  shift 2
  master "$name" --rsh "$rsh" --threads 1 "$@"
}
long=10$$ # a time that no other test sleeps for
cat >hang <<SH
#!/bin/bash
sleep $long; true
SH
cat >chatter <<'SH'
#!/bin/bash
yes w >&2
SH
cp "$DL_TEST_ROOT/tests/cluster/_rsh.sh" rsh
chmod +x hang chatter rsh

# --wait counts once, and what waits in a script goes with it.
hosts hung ./hang --hosts a,b --wait 2s
finish hung
tail -1 hung.err | cut -d';' -f 1
! pgrep -f "^sleep $long\$" >/dev/null || fail "a sleep is left"

# A command that ends by itself is told of, once, and started again; what it says does
# nothing to a terminal.
cat >cry <<'SH'
#!/bin/sh
printf '\033[31mred\tx\n' >&2
exit 1
SH
chmod +x cry
hosts ended ./rsh --hosts a --remote ./cry --wait 2s
finish ended
grep '^a: ' ended.err | sort -u
grep -c 'a: its worker exited with status 1 before it joined' ended.err

# The good host works on beside them, and the log stays readable, and without keys.
cat >mixed <<'SH'
#!/bin/bash
[ "$1" != loud ] || exec ./chatter
[ "$1" != parrot ] || exec sed -u 's/^/read: /' >&2
exec ./rsh "$@"
SH
chmod +x mixed
hosts loud ./mixed --hosts good,loud,parrot --min-workers 1 --epochs 2
finish loud
check loud.safetensors.run
grep -c '^loud: w' loud.err
grep '^parrot:' loud.err

# A line of 30 MB and a flood of short ones, before a worker starts, hold it up by no
# minute, and fill no log.
cat >wordy <<'SH'
#!/bin/bash
head -c 30000000 /dev/zero | tr '\0' x >&2
echo >&2
yes 'a line of noise' | head -c 10000000 >&2
exec ./rsh "$@"
SH
chmod +x wordy
hosts wordy ./wordy --hosts a
finish wordy
grep -c '^a: x.*(the rest of this line is not shown)$' wordy.err
[ "$(wc -c <wordy.err)" -lt 100000 ] || fail "the log is full of it"

# Without the command no worker is started again; the other goes on.
hosts gone ./rsh --hosts a,b --epochs 100000 --restarts 1
await "both" event gone.safetensors.run '"event":"join".*"name":"b:'
await "work" event gone.safetensors.run '"event":"commit"'
mv rsh away
jq -r 'select(.event == "join" and (.name | startswith("b:"))).pid' \
  gone.safetensors.run/events.jsonl | xargs kill -KILL
await "giving up" said gone.err 'b: its worker was not started'
committed() { grep -c '"event":"commit"' gone.safetensors.run/events.jsonl; }
before=$(committed)
more() { [ "$(committed)" -gt $((before + 5)) ]; }
await "more work" more
kill -TERM "${pid[gone]}"
finish gone
check gone.safetensors.run >/dev/null
