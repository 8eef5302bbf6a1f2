import { Command, CommanderError } from 'commander';
import { validateCommand } from '../validator/contract.ts';
import { reviewCommand } from './commands/review.ts';
import { serveCommand } from './commands/serve.ts';
import { CniGateError } from './errors.ts';
import { version } from './version.ts';

/** Exit code of wrong usage or input that cannot be read; 1 is left to what was found in good input. */
const wrongUsage = 2;

const program = new Command('cni-gate')
  .description("Keeps a pod off its work until the pod's network is real.")
  .version(version)
  .showHelpAfterError('(see --help)')
  .addCommand(
    new Command(validateCommand).description(
      'prove the network of the pod this runs in: what the init container does',
    ),
  )
  .addCommand(serveCommand())
  .addCommand(reviewCommand());
for (const command of [program, ...program.commands]) command.exitOverride();

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // commander has told what was wrong; asking for help is not wrong
    process.exitCode = error.exitCode === 0 ? 0 : wrongUsage;
  } else if (error instanceof CniGateError) {
    console.error(`cni-gate: ${error.message} (${error.code})`);
    process.exitCode = wrongUsage;
  } else {
    throw error;
  }
}
