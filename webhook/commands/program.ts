import { Command } from 'commander';
import { docsUrl } from '../lib/names.ts';
import { version } from '../lib/version.ts';
import { checkCommand } from './check.ts';
import { dashboardCommand } from './dashboard.ts';
import { policiesCommand } from './policies.ts';
import { reviewCommand } from './review.ts';
import { serveCommand } from './serve.ts';
import { statusCommand } from './status.ts';

const more = `
Examples:
  cni-gate check --pre
    whether a cluster is fit, and which profiles fit its namespaces
  cni-gate review --profile cilium -f manifests
    what admission would do to these manifests

Documentation:
${docsUrl}reference/command-line.md`;

/** The command line with all its commands. `release/reference/` generates the documentation of the flags from it. */
export function createProgram(): Command {
  return new Command('cni-gate')
    .description("Verifies pods' networks, and keeps pods off nodes whose CNI is not ready.")
    .version(version)
    .addCommand(serveCommand())
    .addCommand(reviewCommand())
    .addCommand(policiesCommand())
    .addCommand(checkCommand())
    .addCommand(statusCommand())
    .addCommand(dashboardCommand())
    .addHelpText('after', more);
}
