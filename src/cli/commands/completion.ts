import { Argument, Command } from 'commander';
import { printLine, type Console } from '../console.ts';
import { COMPLETE, SHELLS, type Shell } from '../shells.ts';

export function completionCommand(console: Console): Command {
  return new Command('completion')
    .description('a script that completes commands, flags and their values in your shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText(
      'after',
      '\nbash: eval "$(pilotlight completion bash)"   in ~/.bashrc' +
        '\nzsh:  eval "$(pilotlight completion zsh)"    in ~/.zshrc' +
        '\nfish: pilotlight completion fish | source    in ~/.config/fish/config.fish',
    )
    .action(async (shell: Shell) => {
      const { SCRIPTS } = await import('../completion/scripts.ts');
      console.out(SCRIPTS[shell]);
    });
}

/** What the scripts call at each Tab: prints what may come next, with a tab and its meaning after it. */
export function completeCommand(program: Command, console: Console): Command {
  return new Command(COMPLETE).argument('[words...]').action(async (words: readonly string[]) => {
    const { candidatesFor } = await import('../completion/candidates.ts');
    for (const { value, description } of candidatesFor(program, words)) {
      printLine(console, description === '' ? value : `${value}\t${description}`);
    }
  });
}
