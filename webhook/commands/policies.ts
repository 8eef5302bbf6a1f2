import { Command } from 'commander';
import { imageName } from './options.ts';

interface Flags {
  config?: string;
  image?: string;
}

/** `cni-gate policies` prints the mutating policy of a configuration, and its binding, as YAML. */
export const policiesCommand = (): Command =>
  new Command('policies')
    .description('print the mutating policy of a configuration; needs no cluster')
    .option('--config <file>', 'configuration (default: built-in profiles)')
    .option('--image <image>', 'image of the init container, if not configured', imageName)
    .action(run);

async function run({ config, image }: Flags): Promise<void> {
  // loaded here, because the other commands do not need these modules
  const [{ readPolicy }, { policiesYaml }] = await Promise.all([
    import('../config/load.ts'),
    import('../core/policies/policy.ts'),
  ]);
  process.stdout.write(policiesYaml(readPolicy(config, image)));
}
