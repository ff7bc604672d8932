#!/bin/bash
# Leftovers of a killed dl-keygen are removed by the next one that writes the file.
(DL_FAILPOINTS=keygen.before_rename=kill@1 dl-keygen keys; :) >/dev/null 2>&1
(cd keys && find . -type f | sed 's/-.*tmp/-N.tmp/; s/[.]key[.].*-N/.key.PLACE-N/')
dl-keygen keys
find keys -type f | sort
