# Numbers that files have and training's floats have not: too large ones are
# refused before it, too small ones told.
cat >net.json <<'END'
{"input": {"shape": [1]}, "layers": [{"type": "output", "units": 1, "loss": "l2"}]}
END
try() { # ROW...
  printf '%s\n' "$@" | dl-preprocess csv --label 2 --regression --dtype f64 -q - -o x.dls --force
  dl-master -q --net net.json --data x.dls --dry-run >out
  echo "$?"
}
try 1e60,1 2,3
try 1,-1e60 2,3
try 1e-40,1 2e-40,3
try 1e-30,1 2e-30,3
