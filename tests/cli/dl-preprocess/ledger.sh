# With --ledger a run takes what is new; killed at any moment, it takes nothing
# twice and loses nothing.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
aged() { touch -d "$1 minutes ago" "$2"; }
new() { # NAME: a picture
  picture "photos/$1.ppm" 4 4 "$2"
  aged 90 "photos/$1.ppm"
}
take() { # OUTPUT [OPTION]...
  local output=$1
  shift
  dl-preprocess images --size 4x4 photos --ledger photos.ledger -o "$output" "$@"
  echo "status $?"
}
ids() { dl-shard --head 99 --json "$@" | jq -r .id; }

new ant/1 1 && new bee/1 2
take 1.dls && ids 1.dls
echo '== nothing new'
take 2.dls
take 1.dls --json
ls
echo '== a new one, one that changed, one that is gone'
new ant/2 3 && new ant/1 4 && aged 80 photos/ant/1.ppm && rm photos/bee/1.ppm
take 1.dls
take 2.dls && ids 2.dls && dl-shard --info --json 2.dls | jq -c '[.classes[].name]'
echo '== told once'
new ant/3 5
take 3.dls && ids 3.dls
echo '== the same folder under another name'
(cd photos && dl-preprocess images --size 4x4 . --ledger ../photos.ledger -o ../4.dls)
echo '== a class that is new'
new cow/1 6
take 5.dls
tail -n 1 photos.ledger | jq -c keys # nothing of the run that failed
rm -r photos/cow
echo '== another recipe, another way'
new ant/4 7
dl-preprocess images --size 4x4 --color grey photos --ledger photos.ledger -o 5.dls
echo "status $?"
take 5.dls --by digest
take 5.dls --classes ant,cow
take - >stream
dl-preprocess images --size 4x4 pipe:true --ledger photos.ledger -o 5.dls
echo "status $?"
echo '== by contents'
dl-preprocess images --size 4x4 photos --ledger d.ledger --by digest -o d1.dls && ids d1.dls
mkdir -p photos/bee && mv photos/ant/4.ppm photos/bee/ && cp photos/ant/1.ppm photos/bee/copy.ppm && touch photos/ant/2.ppm
dl-preprocess images --size 4x4 photos --ledger d.ledger --by digest -o d2.dls
echo "status $?"
echo '== an archive is one input'
tar -cf photos.tar photos && aged 90 photos.tar
dl-preprocess images --size 4x4 photos.tar --ledger t.ledger -o t1.dls && ids t1.dls | wc -l
dl-preprocess images --size 4x4 photos.tar --ledger t.ledger -o t2.dls
echo '== a damaged ledger'
sed '3s/"digest"/"digits"/' photos.ledger >bad.ledger
dl-preprocess images --size 4x4 photos --ledger bad.ledger -o 6.dls
echo "status $?"
for lost in 4d "\$d;5d" "4,\$d"; do # a line, one and the end, all but the first run's begin
  sed "$lost" d.ledger >bad.ledger
  dl-preprocess images --size 4x4 photos --ledger bad.ledger --by digest -o 6.dls
  echo "status $?"
done

echo '== killed'
rm -r photos ./*.dls photos.ledger
points=(ledger.output=kill ledger.output=kill@2 ledger.begin=kill ledger.entered=kill ledger.renamed=kill)
new ant/0 0 && new bee/0 0
take k.dls -q
for i in {1..20}; do
  new "ant/$i" "$i" && new "bee/$i" "$i"
  DL_FAILPOINTS=${points[i % 5]} dl-preprocess images -q --size 4x4 photos --ledger photos.ledger \
    -o "k$i.dls" 2>/dev/null
  [ $? = 137 ] || echo "not killed at ${points[i % 5]}"
done 2>/dev/null
take last.dls
find . -name '.*.tmp' # of runs that were killed: there is none
for file in k*.dls last.dls; do ids "$file"; done | sort >taken
(cd photos && printf '%s\n' */*) | sort | cmp - taken && wc -l <taken
grep -c in_place photos.ledger
take more.dls
echo '== killed once more'
new ant/21 1
{
  DL_FAILPOINTS=ledger.output=kill dl-preprocess images -q --size 4x4 photos --ledger photos.ledger -o left.dls
} 2>/dev/null
[ -n "$(find . -name '.left.dls.*.tmp')" ] && echo 'the file is there'
take none.dls 2>/dev/null && find . -name '.*.tmp' && ids none.dls
grep -c begun photos.ledger
echo '== a night of broken pictures alone'
mkdir -p night/ant && picture night/ant/1.ppm 4 4 1 && touch -d '90 minutes ago' night/ant/1.ppm
night() { dl-preprocess images --size 4x4 night --ledger night.ledger -o "$@"; echo "status $?"; }
night n1.dls
echo P6 >night/ant/2.ppm && touch -d '90 minutes ago' night/ant/2.ppm
night n2.dls
night n2.dls --max-bad 3
night n2.dls --max-bad 3 --json
picture night/ant/3.ppm 4 4 3 && touch -d '90 minutes ago' night/ant/3.ppm
night n2.dls && ids n2.dls
