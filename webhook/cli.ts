import { Command, CommanderError } from 'commander';
import { validateCommand } from '../validator/shared/contract.ts';
import { certsCommand } from './commands/certs.ts';
import { checkCommand } from './commands/check.ts';
import { dashboardCommand } from './commands/dashboard.ts';
import { layOutHelp } from './commands/help-layout.ts';
import { addWrappedHelp } from './commands/help-text.ts';
import { reviewCommand } from './commands/review.ts';
import { serveCommand } from './commands/serve.ts';
import { statusCommand } from './commands/status.ts';
import { versionCommand } from './commands/version.ts';
import { CniGateError } from './lib/errors.ts';
import { docsUrl } from './lib/names.ts';
import { version } from './lib/version.ts';

/** Wrong usage or input that cannot be read; 1 is left to what was found in good input. */
const wrongUsage = 2;

/** A defect in cni-gate itself: `EX_SOFTWARE` of sysexits.h, so that it never looks like a finding. */
const defect = 70;

// a reader such as `head` closes the pipe when it has enough: that is no error
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
});

const more = `Examples:
  cni-gate check --pre
    whether a cluster is fit, and which profiles fit its namespaces
  cni-gate review --profile cilium -f manifests
    what admission would do to these manifests

Documentation:
${docsUrl}reference/command-line.md`;

const program = new Command('cni-gate')
  .description("Verifies pods' networks, and keeps pods off nodes whose CNI is not ready.")
  .version(version)
  .addCommand(serveCommand())
  .addCommand(reviewCommand())
  .addCommand(checkCommand())
  .addCommand(statusCommand())
  .addCommand(dashboardCommand())
  .addCommand(certsCommand())
  .addCommand(versionCommand())
  // what the init container runs: main.ts calls it before this file is loaded
  .addCommand(
    new Command(validateCommand).description(
      'check the network of the pod this runs in, as the init container does',
    ),
    { hidden: true },
  );
addWrappedHelp(program, more);
for (const command of withCommandsOf(program)) {
  layOutHelp(command)
    .exitOverride()
    .showHelpAfterError(`see ${pathOf(command)} --help`)
    .configureOutput({
      outputError: (text, write) => {
        write(text.replace(/^error: (.*)$/m, 'cni-gate: $1 (CNI_GATE_USAGE)'));
      },
    });
}

try {
  const [asked, topic] = process.argv.slice(2);
  // commander would print the help of the program, and not that the topic does not exist
  if (asked === 'help' && topic !== undefined && !isHelpTopic(topic))
    program.error(`error: unknown command '${topic}'`, { code: 'commander.unknownCommand' });
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // commander has told what was wrong; asking for help is not wrong
    process.exitCode = error.exitCode === 0 ? 0 : wrongUsage;
  } else if (error instanceof CniGateError) {
    console.error(`cni-gate: ${error.message} (${error.code})`);
    process.exitCode = wrongUsage;
  } else {
    console.error('cni-gate: a defect in cni-gate, please report it (CNI_GATE_INTERNAL)', error);
    process.exitCode = defect;
  }
}

/** Whether `cni-gate help` has an answer to a word: a command, or an option of `help` itself. */
function isHelpTopic(word: string): boolean {
  return word.startsWith('-') || program.commands.some((command) => command.name() === word);
}

/** A command and all below it. */
function withCommandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withCommandsOf)];
}

/** How a command is called: `cni-gate certs show`. */
function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}
