import { Command, Option } from 'commander';
import type { Wish } from '../certificates/by-hand.ts';
import { managedAuthorityDays, managedDays, namesOf } from './managed.ts';
import { addClusterOptions, type ClusterFlags, days } from './options.ts';

interface Flags extends ClusterFlags {
  namespace: string;
  tlsSecret: string;
  tlsService: string;
  output: 'text' | 'json';
  tlsDays: number;
  tlsAuthorityDays: number;
  tlsNames?: string[];
  out?: string;
  finish?: boolean;
}

/** `cni-gate certs`: what the certificates are, and what the replicas do about them by the calendar, by hand. */
export function certsCommand(): Command {
  return new Command('certs')
    .description('show, issue and rotate the certificates in the Secret of the replicas')
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
      making(inCluster('issue', 'issue a new serving certificate'))
        .option('--out <folder>', 'no cluster: write an authority and a certificate into files')
        .option('--tls-names <name...>', 'names of the certificate (default: those of the Service)')
        .action(runIssue),
    )
    .addCommand(
      making(inCluster('rotate', 'start to replace the authority; the replicas complete it'))
        .option(
          '--finish',
          'drop the previous authority now, instead of when everything it signed has expired',
        )
        .action((flags: Flags) => byHand(flags.finish ? 'finish' : 'rotate', flags)),
    );
}

function inCluster(name: string, description: string): Command {
  const command = new Command(name).description(description);
  return addClusterOptions(command, '$KUBECONFIG, ~/.kube/config')
    .addOption(
      new Option('-n, --namespace <name>', 'namespace of cni-gate').env('POD_NAMESPACE').default('cni-gate'),
    )
    .option('--tls-secret <name>', 'Secret of the certificates', 'cni-gate-tls')
    .option('--tls-service <name>', 'Service that webhooks call', 'cni-gate');
}

function making(command: Command): Command {
  return command
    .option('--tls-days <days>', 'validity of a serving certificate', days, managedDays)
    .option('--tls-authority-days <days>', 'validity of an authority', days, managedAuthorityDays);
}

async function runShow(flags: Flags): Promise<void> {
  const [{ isWell, show }, { render }] = await Promise.all([
    import('../certificates/show.ts'),
    import('../certificates/render.ts'),
  ]);
  const shown = await show(await openShared(flags));
  const json = flags.output === 'json';
  process.stdout.write(
    json ? `${JSON.stringify(shown, null, 2)}\n` : render(shown, `${flags.namespace}/${flags.tlsSecret}`),
  );
  process.exitCode = isWell(shown) ? 0 : 1;
}

async function runIssue(flags: Flags): Promise<void> {
  if (flags.out === undefined) return byHand('issue', flags);
  const { issueIntoFiles } = await import('../certificates/files.ts');
  const { tlsDays, tlsAuthorityDays: authorityDays } = flags;
  const request = { names: servingNames(flags), days: tlsDays, authorityDays, now: new Date() };
  const written = await issueIntoFiles(flags.out, request);
  process.stdout.write(written.map((file) => `${file}\n`).join(''));
}

const done: Record<Wish, string> = {
  issue: 'A new serving certificate is in the Secret; the replicas serve it within seconds.',
  rotate:
    'The next authority is in the Secret. The replicas put it into every caBundle, wait, and sign by it then: see `cni-gate certs show`.',
  finish: 'The previous authority is trusted no longer; the replicas take it out of every caBundle.',
};

async function byHand(wish: Wish, flags: Flags): Promise<void> {
  const { doByHand } = await import('../certificates/by-hand.ts');
  const { tlsDays: leafDays, tlsAuthorityDays: authorityDays } = flags;
  const making = { leafDays, authorityDays, names: servingNames(flags) };
  await doByHand(wish, await openShared(flags), making);
  process.stdout.write(`${done[wish]}\n`);
}

function servingNames({ tlsNames, tlsService, namespace }: Flags): string[] {
  return tlsNames ?? namesOf(tlsService, namespace);
}

/** The cluster's objects, with every webhook configuration that calls the Service. */
async function openShared({ kubeconfig, context, namespace, tlsSecret: secret, tlsService: service }: Flags) {
  const [{ openCluster }, { SharedOverApi }, { configurationsCalling }] = await Promise.all([
    import('../kubernetes/open.ts'),
    import('../certificates/over-api.ts'),
    import('../certificates/ours.ts'),
  ]);
  const client = await openCluster(kubeconfig, context);
  const configurations = await configurationsCalling(client, { namespace, name: service });
  return new SharedOverApi(client, { namespace, secret, service, configurations }, () => new Date());
}
