#!/bin/sh
# The index of dl-layers(5) names each type of layer that the page describes, and no other.
page=$DL_TEST_ROOT/man/dl-layers.5.scd
awk '/^# / { on = /INDEX/ } on && /^[:|] |^   / && !/^\|/' "$page" | grep -oE '\*[a-z0-9_]+\*' | tr -d '*' | sort -u >index
sed -n 's/^## //p' "$page" | sort >described
[ "$(wc -l <described)" -gt 60 ] || echo "few types"
diff index described
