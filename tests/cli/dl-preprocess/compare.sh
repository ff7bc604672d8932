# Drift between two tables: numbers by deciles, categories, missing shares, columns.
status() { "$@"; echo "status $?"; }
passengers() { awk -v seed="$1" -v rows="$2" -f "$DL_TEST_ROOT/scripts/share/examples/passengers.awk"; }
passengers 1 600 >monday.csv
passengers 2 600 >tuesday.csv
echo '== samples of one population'
status dl-preprocess compare monday.csv tuesday.csv
echo '== another port, older people, more gaps, columns that go and come'
awk -F, -v OFS=, 'NR > 1 { sub(/Cherbourg/, "Dover"); if ($5) $5 += 20; if (NR % 4 == 0) $6 = "" }
  { $11 = NR == 1 ? "Deck" : NR % 5; print }' tuesday.csv >wednesday.csv
status dl-preprocess compare monday.csv wednesday.csv
status dl-preprocess -q compare --bound 9 --drop Ship,Deck monday.csv wednesday.csv | tail -n 3
status dl-preprocess compare --drop Nobody monday.csv wednesday.csv
dl-preprocess -q compare monday.csv wednesday.csv --json >drift.json
python3 - <<'END'
import csv, json, math

def shares(name):
    values = [row["Port"] for row in csv.DictReader(open(name))]
    return {v: values.count(v) / len(values) for v in set(values)}

a, b = shares("monday.csv"), shares("wednesday.csv")
b = {**{v: b.get(v, 0) for v in a}, "others": sum(s for v, s in b.items() if v not in a)}
pairs = [(max(a.get(v, 0), 1e-4), max(s, 1e-4)) for v, s in b.items()]
psi = sum((q - p) * math.log(q / p) for p, q in pairs)
port = next(c for c in json.load(open("drift.json"))["columns"] if c["name"] == "Port")
print("the index of Port:", "equal" if abs(port["psi"] - psi) < 1e-9 else (port["psi"], psi))
END
echo '== saved analyses, also of parts'
head -n 301 monday.csv >part1.csv
sed '2,301d' monday.csv >part2.csv
for i in part1 part2 monday wednesday; do dl-preprocess analyze $i.csv -o $i.json; done
dl-preprocess analyze monday.csv >whole.txt
dl-preprocess analyze part1.json part2.json | cmp - whole.txt && echo 'the analysis of parts is that of all'
dl-preprocess -q compare monday.csv wednesday.csv >tables.txt
dl-preprocess -q compare 'part?.json' wednesday.json | cmp - tables.txt && echo 'so is their drift'
echo '== words that table takes as missing, few in one table and many in the other'
awk 'BEGIN { print "n,day,word" >"a.csv"; print "n,day,word" >"b.csv"
  for (i = 0; i < 300; ++i) {
    rest = sprintf("%s,%s", i % 60 == 5 ? "soon" : sprintf("2024-%02d-%02d", i % 12 + 1, i % 28 + 1), i % 2 ? "none" : "some")
    print (i % 50 == 3 ? "none" : i * 1.5) "," rest >"a.csv"
    print (i % 3 == 1 ? "none" : i * 1.5) "," rest >"b.csv"
  } }'
status dl-preprocess compare a.csv b.csv
dl-preprocess -q compare b.csv a.csv --json | jq -c '.columns[] | [.name, .type, .missing, .as_missing]'
dl-preprocess analyze a.csv -o a.json && dl-preprocess -q analyze b.csv -o b.json
dl-preprocess -q compare a.json b.json | head -n 3
echo '== what is wrong'
status dl-preprocess compare monday.csv
status dl-preprocess compare monday.csv tuesday.csv -o x
status dl-preprocess compare --bound 0 monday.csv tuesday.csv
status dl-preprocess compare monday.json nobody.csv
status dl-preprocess table --label none --bound 1 monday.csv -o x
status dl-preprocess analyze monday.csv part1.json
status dl-preprocess analyze monday.json --delimiter ';'
status dl-preprocess analyze part1.json -o part1.json
echo '{"columns": []}' >none.json
status dl-preprocess compare none.json monday.csv
sed 's/"version":1/"version":2/' monday.json >later.json
status dl-preprocess compare later.json monday.csv
sed 's/"numbers":[1-9]/"numbers":-&/; s/-"numbers":/-/' monday.json >odd.json
status dl-preprocess compare odd.json monday.csv
echo '== ids that are texts on a day with fewer rows'
awk 'BEGIN { print "who,n"; for (i = 0; i < 400; ++i) print "a person who is called number " i "," i % 7 }' >people.csv
sed 9q people.csv >few-people.csv
dl-preprocess compare people.csv few-people.csv | grep -c drift
status dl-preprocess compare few-people.csv few-people.csv --drop who,n
dl-preprocess analyze few-people.csv few-people.csv >/dev/null
status dl-preprocess analyze people.csv --network n.json
status dl-preprocess analyze monday.json --encoding latin1
