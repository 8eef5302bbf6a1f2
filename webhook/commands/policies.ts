import { Command } from 'commander';

interface Flags {
  config?: string;
  image?: string;
}

const more = `
The policy injects inside the API server, of Kubernetes 1.36 or later, what the
server would inject. Apply it whenever the configuration, the image or the
release changes.`;

/** `cni-gate policies` prints the mutating policy of a configuration, and its binding, as YAML. */
export const policiesCommand = (): Command =>
  new Command('policies')
    .description('print the mutating policy of a configuration; needs no cluster')
    .addHelpText('after', more)
    .option('--config <file>', 'configuration (default: built-in profiles)')
    .option('--image <image>', 'image of the init container, if not configured')
    .action(run);

async function run({ config, image }: Flags): Promise<void> {
  // loaded here, because the other commands do not need these modules
  const [{ readPolicy }, { policiesYaml }] = await Promise.all([
    import('../config/load.ts'),
    import('../core/policies/yaml.ts'),
  ]);
  process.stdout.write(policiesYaml(readPolicy(config, image)));
}
