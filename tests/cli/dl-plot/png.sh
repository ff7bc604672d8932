#!/bin/bash
# A picture as PNG: what the renderer gets has no variables of CSS, its failure is
# ours, and nothing is left half written.
mkdir a.run bin
for epoch in 0 1 2; do
  echo '{"event":"epoch","epoch":'$epoch',"loss":'$((3 - epoch))',"mono":'$epoch',"incarnation":1}'
done >a.run/events.jsonl
plot=$(command -v dl-plot)
PATH=bin $plot a.run -o none.png
echo "status $?"
cat >bin/rsvg-convert <<'SH'
#!/bin/sh
for word; do last=$word; done
/usr/bin/grep -c 'var(' "$last" >variables
/usr/bin/grep -o '.line.c0 path { stroke: #2563b0' "$last" >colors
printf 'drawn'
SH
chmod +x bin/rsvg-convert
PATH=bin:$PATH dl-plot a.run -o fake.png
cat fake.png variables colors
printf '#!/bin/sh\necho half; exit 3\n' >bin/rsvg-convert
PATH=bin:$PATH dl-plot a.run -o bad.png
echo "status $?"
if command -v rsvg-convert >/dev/null; then
  dl-plot a.run -o real.png
  python3 -c 'print(open("real.png", "rb").read(8))' >header
  [ "$(cat header)" = "b'\\x89PNG\\r\\n\\x1a\\n'" ] || cat header
fi
rm -f real.png
ls ./*.png
