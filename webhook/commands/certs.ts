import { Command, Option } from 'commander';
import type { ManualStep } from '../../certs/manual.ts';
import { authorityDaysOption, managedDays, namesOf } from './certificate.ts';
import { addClusterOptions, type ClusterFlags, days, ownNamespaceOption } from './options.ts';

interface ServiceFlags {
  namespace: string;
  tlsService: string;
}

interface SecretFlags extends ClusterFlags, ServiceFlags {
  tlsSecret: string;
}

/** `cni-gate certs`: shows the certificates, rotates their authority by hand, and issues into files. */
export function certsCommand(): Command {
  return new Command('certs')
    .description('show and rotate the authority in the Secret of the replicas, and issue into files')
    .addCommand(
      inCluster(
        'show',
        'show Secret, caBundles and the progress of a rotation; exits with 1 if something is wrong',
      )
        .addOption(
          new Option('-o, --output <form>', 'what to print').choices(['text', 'json']).default('text'),
        )
        .action(runShow),
    )
    .addCommand(
      inCluster('rotate', 'start to replace the authority; the replicas complete it')
        .addOption(authorityDaysOption('validity of an authority'))
        .option('--finish', 'drop the previous authority now, before it expires')
        .action(runRotate),
    )
    .addCommand(
      addService(new Command('issue'))
        .addOption(authorityDaysOption('validity of an authority'))
        .description('no cluster: write an authority and a serving certificate into files')
        .requiredOption('--out <folder>', 'where to write them; an existing authority is used again')
        .option('--tls-names <name...>', 'names of the certificate (default: those of the Service)')
        .option('--tls-days <days>', 'validity of the serving certificate', days, managedDays)
        .action(runIssue),
    );
}

function inCluster(name: string, description: string): Command {
  const command = new Command(name).description(description);
  return addService(addClusterOptions(command, '$KUBECONFIG, ~/.kube/config')).option(
    '--tls-secret <name>',
    'Secret of the certificates',
    'cni-gate-tls',
  );
}

function addService(command: Command): Command {
  return command
    .addOption(ownNamespaceOption('-n, --namespace <name>'))
    .option('--tls-service <name>', 'Service that webhooks call', 'cni-gate');
}

async function runShow(flags: SecretFlags & { output: 'text' | 'json' }): Promise<void> {
  const [{ isWell, render, show }, { isManaged }] = await Promise.all([
    import('../../certs/manual.ts'),
    import('../report/observe/installation.ts'),
  ]);
  const { client, shared } = await openShared(flags);
  const shown = await show(shared, await isManaged(client, flags.namespace));
  const json = flags.output === 'json';
  process.stdout.write(
    json ? `${JSON.stringify(shown, null, 2)}\n` : render(shown, `${flags.namespace}/${flags.tlsSecret}`),
  );
  process.exitCode = isWell(shown) ? 0 : 1;
}

const done: Record<ManualStep, string> = {
  rotate:
    'The next authority is in the Secret. The replicas write it into every caBundle, wait, and sign with it: see `cni-gate certs show`.',
  finish: 'The previous authority is no longer trusted; the replicas remove it from every caBundle.',
};

async function runRotate(flags: SecretFlags & { finish?: boolean; tlsAuthorityDays: number }): Promise<void> {
  const { runManualStep } = await import('../../certs/manual.ts');
  const step = flags.finish ? 'finish' : 'rotate';
  const { shared } = await openShared(flags);
  await runManualStep(step, shared, flags.tlsAuthorityDays);
  process.stdout.write(`${done[step]}\n`);
}

async function runIssue(
  flags: ServiceFlags & { out: string; tlsNames?: string[]; tlsDays: number; tlsAuthorityDays: number },
): Promise<void> {
  const { issueIntoFiles } = await import('../../certs/files.ts');
  const { out, tlsDays, tlsAuthorityDays: authorityDays, tlsService, namespace } = flags;
  const names = flags.tlsNames ?? namesOf(tlsService, namespace);
  const written = issueIntoFiles(out, { names, days: tlsDays, authorityDays, now: new Date() });
  process.stdout.write(written.map((file) => `${file}\n`).join(''));
}

/** The cluster's objects, with every webhook configuration that calls the Service. */
async function openShared({
  kubeconfig,
  context,
  namespace,
  tlsSecret: secret,
  tlsService: service,
}: SecretFlags) {
  const [{ openCluster }, { sharedObjects, configurationsCalling }] = await Promise.all([
    import('../cluster/open.ts'),
    import('../../certs/objects.ts'),
  ]);
  const client = await openCluster(kubeconfig, context);
  const configurations = await configurationsCalling(client, { namespace, service });
  return { client, shared: sharedObjects(client, { namespace, secret, service, configurations }) };
}
