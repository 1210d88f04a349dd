/** What a shell reads once: a function that asks the program itself what may come next. */
import { COMPLETE, FILES, type Shell } from '../shells.ts';

export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# eval "$(pilotlight completion bash)"
_pilotlight() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == '${FILES}' ]]; then
      compopt -o default
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <("\${COMP_WORDS[0]}" ${COMPLETE} -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _pilotlight pilotlight
`,
  zsh: `# eval "$(pilotlight completion zsh)"
_pilotlight() {
  local line
  local -a candidates
  for line in "\${(@f)$("\${words[1]}" ${COMPLETE} -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    [[ $line == '${FILES}' ]] && { _files; return; }
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe pilotlight candidates
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _pilotlight pilotlight
`,
  fish: `# pilotlight completion fish | source
function __pilotlight_complete
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l lines ($words[1] ${COMPLETE} -- $words[2..-1] "$typed" 2>/dev/null)
  if test "$lines" = '${FILES}'
    __fish_complete_path "$typed"
  else
    printf '%s\\n' $lines
  end
end
complete -c pilotlight -f -a '(__pilotlight_complete)'
`,
};
