/** Completion in shells: a script that asks the program itself, and the answers from its commands. */
import { Argument, Command, type Option } from 'commander';
import { OPERATION_IDS } from '../../contract/operations.ts';
import { printLine, type Console } from '../console.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];
const COMPLETE = '__complete';
/** Any file may come next: the shell knows those better. */
const FILES = ':files';

export function completionCommand(console: Console): Command {
  return new Command('completion')
    .description('Print a script that completes commands, flags and their values in your shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText(
      'after',
      '\nbash: eval "$(pilotlight completion bash)"   in ~/.bashrc' +
        '\nzsh:  eval "$(pilotlight completion zsh)"    in ~/.zshrc' +
        '\nfish: pilotlight completion fish | source    in ~/.config/fish/config.fish',
    )
    .action((shell: Shell) => console.out(SCRIPTS[shell]));
}

/** Prints what may come next, with a tab and its meaning after it. */
export function completeCommand(program: Command, console: Console): Command {
  return new Command(COMPLETE).argument('[words...]').action((words: readonly string[]) => {
    for (const { value, description } of candidatesFor(program, words)) {
      printLine(console, description === '' ? value : `${value}\t${description}`);
    }
  });
}

/** `words`: those after the program's name; the last one is being typed and may be empty. */
export function candidatesFor(program: Command, words: readonly string[]) {
  const typed = words.at(-1) ?? '';
  const { command, pending, used } = walk(program, words.slice(0, -1));
  const others = typed.startsWith('-') ? optionsOf(command, used) : wordsOf(command);
  const all = pending ? valuesOf(pending).map((value) => candidate(value)) : others;
  return all.filter(({ value }) => value === FILES || value.startsWith(typed));
}

function candidate(value: string, about = '') {
  const [line = ''] = about.split('\n');
  return { value, description: line.length > 60 ? `${line.slice(0, 59)}…` : line };
}

function walk(program: Command, words: readonly string[]) {
  let command = program;
  let pending: Option | undefined;
  const used = new Set<Option>();
  for (const word of words) {
    if (pending) pending = undefined;
    else if (word.startsWith('-')) {
      const option = command.options.find(({ long, short }) => word === long || word === short);
      if (option) used.add(option);
      if (option?.required) pending = option;
    } else {
      command = command.commands.find((each) => [each.name(), ...each.aliases()].includes(word)) ?? command;
    }
  }
  return { command, pending, used };
}

function valuesOf({ argChoices, flags }: Option): readonly string[] {
  return argChoices ?? (/<(?:file|path)s?(?:\.\.\.)?>/.test(flags) ? [FILES] : []);
}

function optionsOf(command: Command, used: ReadonlySet<Option>) {
  return command
    .createHelp()
    .visibleOptions(command)
    .filter((option) => !used.has(option) || option.description.includes('may be repeated'))
    .map((option) => candidate(option.long ?? option.flags, option.description));
}

function wordsOf(command: Command) {
  if (command.name() === 'call') return OPERATION_IDS.map((id) => candidate(id));
  const choices = command.registeredArguments.flatMap((argument) =>
    /^(?:files|archive)$/.test(argument.name()) ? [FILES] : (argument.argChoices ?? []),
  );
  const commands = command.createHelp().visibleCommands(command);
  return [
    ...choices.map((value) => candidate(value)),
    ...commands.map((each) => candidate(each.name(), each.summary() || each.description())),
  ];
}

const SCRIPTS: Readonly<Record<Shell, string>> = {
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
