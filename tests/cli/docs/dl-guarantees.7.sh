# Each promise of dl-guarantees(7) names tests, and each of them exists.
page=$DL_TEST_ROOT/man/dl-guarantees.7.scd
awk -v root="$DL_TEST_ROOT" '
  /^# / { promises = /^# WHAT IS PROMISED/; next }
  !promises { next }
  /^\*/ && above == "" { if (open != "") print "no test: " open; open = $0 }
  /^Tests:/ { naming = 1; open = "" }
  naming {
    line = $0
    sub(/^Tests:/, "", line)
    n = split(line, names, /[ ,]+/)
    for (i = 1; i <= n; i++) {
      name = names[i]
      last = sub(/\.$/, "", name)
      if (name == "") continue
      file = root "/tests/" name (name ~ /^unit\// ? "_test.cpp" : ".sh")
      if ((getline ignored < file) <= 0) print "no such test: " name
      close(file)
      ++tests
      if (last) naming = 0
    }
  }
  { above = $0 }
  END { if (open != "") print "no test: " open; print (tests > 20 ? "ok" : "few tests") }
' "$page"
