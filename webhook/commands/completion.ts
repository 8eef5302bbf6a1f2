import { Argument, Command } from 'commander';
import { bashCompletion } from './completion/bash.ts';
import { fishCompletion } from './completion/fish.ts';
import { type CompletedCommand, completedCommand } from './completion/model.ts';
import { zshCompletion } from './completion/zsh.ts';
import { addWrappedHelp } from './help-text.ts';

const shells: Record<string, (program: CompletedCommand) => string> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

const more = `In this shell only:
  bash  source <(cni-gate completion bash)
  zsh   source <(cni-gate completion zsh)
  fish  cni-gate completion fish | source
For every shell, put the same line into ~/.bashrc, after compinit into ~/.zshrc, or into ~/.config/fish/config.fish.`;

/** `cni-gate completion`: prints the script by which a shell completes commands and flags of the program. */
export function completionCommand(): Command {
  const command = new Command('completion');
  addWrappedHelp(command, more);
  return command
    .description('print a script that completes commands and flags in a shell')
    .addArgument(new Argument('<shell>', 'whose script').choices(Object.keys(shells)))
    .action((shell: string) => {
      const print = shells[shell];
      if (print === undefined || command.parent === null) throw new TypeError(`no completion for ${shell}`);
      process.stdout.write(print(completedCommand(command.parent)));
    });
}
