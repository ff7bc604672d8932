# bash completion for the dl-* tools: the options that `TOOL --help` lists, the
# formats of dl-preprocess, files elsewhere.

_dl_tools() {
  local tool=$1 word=${COMP_WORDS[COMP_CWORD]} help
  help=$(command "$tool" --help 2>/dev/null) || return 0
  case $word in
    -*)
      mapfile -t COMPREPLY < <(compgen -W "$(sed -nE 's/^ {2,6}(-[a-zA-Z0-9], )?(--[a-z][a-z0-9-]*).*/\2/p' <<<"$help")" -- "$word")
      ;;
    *)
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      if [[ $tool == *dl-preprocess && $COMP_CWORD -eq 1 ]]; then
        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W 'analyze cifar compare csv fit idx images raw series svmlight table ts' -- "$word")
      fi
      ;;
  esac
}
complete -o filenames -F _dl_tools dl-preprocess dl-shard dl-master dl-worker dl-eval dl-infer dl-import dl-export dl-plot dl-keygen
