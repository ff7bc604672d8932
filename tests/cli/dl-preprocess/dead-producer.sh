# A program that dies while it writes into a pipe: its status counts by 'pipe:',
# --examples tells in any pipe, and a record that is cut is an error.
try() { dl-preprocess "$@" -o out.dls; echo "status $?, $(ls out.dls 2>/dev/null)"; rm -f out.dls; }
# COUNT [STATUS]: so many examples of two bytes and a class, with file names.
records() { bash records "$@"; }
cat >records <<'END'
for i in $(seq "$1"); do printf 'ab\1\0\0\0%d.png\0\0\0' "$i"; done
exit "${2:-0}"
END
raw=(raw --shape 2 --dtype u8 --classes 2 --id-bytes 8)
echo "-- by its status"
try "${raw[@]}" 'pipe:bash records 7 1'
echo "-- by its number"
records 7 1 | try "${raw[@]}" --examples 9
records 9 | try "${raw[@]}" --examples 7
records 7 | try "${raw[@]}" --examples 7
printf '1,2\n1,3\n' | try csv --label 1 --examples 3
printf '1,2\n1,3\nx,y,z\n' | try csv --label 1 --examples 3 --max-bad 1 -q
printf '1,2,5\n1,3,5\n' | try csv --label 3 --sequence 1 --steps 2 --examples 2 -q
printf '0 1:5\n' | try svmlight --features 2 --examples 2 -q
head -c 3073 /dev/zero | try cifar --examples 2
printf '\0\0\10\1\0\0\0\2ab' | try idx --no-labels - --examples 3
echo "-- nothing is left behind the pipe"
records 7 1 | dl-preprocess "${raw[@]}" --examples 9 | dl-shard -o x
ls x* 2>/dev/null
echo "-- in the middle of one"
records 2 | head -c 25 >cut.raw
try "${raw[@]}" cut.raw
try raw --no-labels --shape 2 --dtype i16 'pipe:cat cut.raw'
echo "-- ids"
records 3 | dl-preprocess "${raw[@]}" | dl-shard --head 9 --json | grep -o '"id":"[^"]*"'
