#!/bin/sh
# Nothing that a file says or is called gets to the terminal as a command.
esc=$(printf '\033')
name="a${esc}[2J
b.dls"
printf '1,x%s[31m\n2,"y\nz"\n3,caf\303\251\n' "$esc" >t.csv
dl-preprocess csv --label -1 -o "$name" t.csv
{
  dl-shard --info "$name"
  dl-shard --verify "$name" "missing$esc"
  dl-shard -o "p$esc" -n 9 "$name"
  echo "broken" >"bad$esc.dls"
  dl-shard --info "bad$esc.dls"
  dl-shard --verify "bad$esc.dls"
  printf '1,x\n2,x%s\n' "$esc" >u.csv
  dl-preprocess csv --label -1 --classes x u.csv -o u.dls
  dl-preprocess csv --label "c$esc" --header u.csv -o u.dls
  dl-shard --no-such-"$esc"
} >out 2>&1
cat -v out
dl-shard --info --json "$name" | grep -c "$esc"
dl-shard --head 3 --json "$name"
