/** The scripts, by shell. */
export const COMPLETION_SCRIPTS: ReadonlyMap<string, string> = new Map([
  [
    "bash",
    `# Completion of quoinctl for bash.
_quoinctl() {
  local line program="\${COMP_WORDS[0]}" current="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      :files) compopt -o default 2>/dev/null ;;
      :nospace) compopt -o nospace 2>/dev/null ;;
      *) COMPREPLY+=("$line") ;;
    esac
  done < <("\${program/#~/$HOME}" __complete bash "$current" "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -F _quoinctl quoinctl
`,
  ],
  [
    "zsh",
    `#compdef quoinctl
# Completion of quoinctl for zsh.
_quoinctl() {
  local line files
  local -a values shown space
  while IFS= read -r line; do
    case "$line" in
      :files) files=yes ;;
      :nospace) space=(-S '') ;;
      *) values+=("\${line%%$'\\t'*}"); shown+=("\${line/$'\\t'/  -- }") ;;
    esac
  done < <(\${~words[1]} __complete zsh "\${(@Q)words[2,CURRENT]}" 2>/dev/null)
  (( \${#values} )) && compadd "\${space[@]}" -l -d shown -a values
  [[ -n $files ]] && _files
  (( compstate[nmatches] ))
}
compdef _quoinctl quoinctl
`,
  ],
  [
    "fish",
    `# Completion of quoinctl for fish.
function __quoinctl_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in (command $words[1] __complete fish $words[2..] "$current" 2>/dev/null)
    switch $line
      case :files
        __fish_complete_path "$current"
      case :nospace
      case '*'
        echo $line
    end
  end
end
complete -c quoinctl -f -a '(__quoinctl_complete)'
`,
  ],
]);
