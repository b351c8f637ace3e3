# Bash completion of the fcam programs: options as --help lists them, their names where a help line has A|B|C, files
# otherwise.
_fcam() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} help values
  help=$("$1" --help 2>/dev/null) || return
  if [[ $before == --* && $word != -* ]]; then
    values=$(sed -nE "s/^ *$before ([a-z0-9]+(\|[a-z0-9]+)+).*/\1/p" <<<"$help" | tr '|' ' ')
    if [[ -n $values ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
      return
    fi
  fi
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE '^ +--[a-z-]+' <<<"$help")" -- "$word")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -o filenames -F _fcam fcam-train fcam-evaluate fcam-fixed-focus fcam-flow fcam-mosaic fcam-bench fcam-report
