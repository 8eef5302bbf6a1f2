import { CommanderError } from 'commander';
import { createProgram } from './commands/program.ts';
import { CniGateError } from './lib/errors.ts';

/** The exit code for wrong usage and unreadable input; 1 is for problems that were found in readable input. */
const wrongUsage = 2;

/** The exit code for a defect in cni-gate: `EX_SOFTWARE` of sysexits.h, so that it is never taken for a finding. */
const defect = 70;

// a reader such as `head` closes the pipe when it has read enough, which is no error
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') return;
  console.error(`cni-gate: cannot write the output: ${error.message}`);
  process.exit(wrongUsage);
});

const program = createProgram();
for (const command of [program, ...program.commands]) {
  const path = command === program ? command.name() : `${program.name()} ${command.name()}`;
  command
    .exitOverride()
    .showHelpAfterError(`see ${path} --help`)
    .configureOutput({
      outputError: (text, write) => {
        write(text.replace(/^error: (.*)$/m, 'cni-gate: $1 (CNI_GATE_USAGE)'));
      },
    });
}

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    // commander has already printed what is wrong; `--help` and `--version` are not errors
    process.exitCode = error.exitCode === 0 ? 0 : wrongUsage;
  } else if (error instanceof CniGateError) {
    console.error(`cni-gate: ${error.message} (${error.code})`);
    process.exitCode = wrongUsage;
  } else {
    console.error('cni-gate: a defect in cni-gate, please report it (CNI_GATE_INTERNAL)', error);
    process.exitCode = defect;
  }
}
