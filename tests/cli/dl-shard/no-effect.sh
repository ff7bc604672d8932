# Options of dealing beside those of looking, and a seed for nothing.
make-dataset 4 >a.dls
try() { echo "$*"; dl-shard "$@" a.dls >/dev/null; echo $?; }
try --verify -n 3
try --info --shuffle
try --head 1 -o x
try -o x --seed 3
ls
