# Six pets: what the model pets.safetensors (softmax) says of them, and what
# they are.
# shellcheck shell=bash disable=SC2034
models=$DL_TEST_ROOT/tests/cli/dl-eval
pets() { # FROM TO: those lines as a DataSet stream
  sed -n "$1,$2p" <<'EOF' | dl-preprocess csv --label 4 --classes cat,dog,emu --no-provenance
-0.3567,-1.6094,-2.3026,cat
-1.204,-0.5108,-2.3026,cat
-2.3026,-0.2231,-2.3026,dog
-1.6094,-0.6931,-1.204,dog
-0.6931,-0.9163,-2.3026,dog
-0.9163,-1.204,-1.2,emu
EOF
}
