import { Command, Option } from 'commander';
import type { ApiClient } from '../cluster/client.ts';
import type { FoundPolicy } from '../cluster/status/configuration.ts';
import type { Wanted } from '../cluster/status/wanted.ts';
import { readPolicy } from '../config/file.ts';
import { CniGateError } from '../errors.ts';
import type { StatusFacts } from '../status/facts.ts';
import type { Status, Verdict } from '../status/model.ts';
import { namespaceName } from './options.ts';

interface Flags {
  kubeconfig?: string;
  namespace?: string;
  config?: string;
  ownNamespace: string;
  output: 'text' | 'json';
  all?: true;
  watch?: true;
  probe?: true;
}

const more = `
Exit code: 0 all is well; 1 something is wrong: no replica answers, the API server does not trust it, a policy of ours
is missing, a DaemonSet that is in use is missing or not ready on a node, a pod is held or runs without a proof, a
label is wrong, the namespace of -n has not opted in, or the probe failed; 2 wrong usage, no answer of the cluster, no
such namespace, a right that is missing to tell whether all is well, or a probe that could not be made; 3 cni-gate is
not installed. With --watch it is that of the last status.`;

const exitCodes: Record<Verdict, number> = { well: 0, 'not-well': 1, 'not-known': 2, 'not-installed': 3 };

/** `cni-gate status`: where networks are ready, and which pods wait or run without a proof. Sets `process.exitCode`. */
export function statusCommand(): Command {
  return new Command('status')
    .description(
      'tell what is in force, where networks are ready, which pods are held, and which run without a proof',
    )
    .option(
      '--kubeconfig <file>',
      'how to reach the cluster (default: the service account of the pod, $KUBECONFIG, ~/.kube/config)',
    )
    .option('-n, --namespace <name>', 'of the namespaces that opted in, only this one', namespaceName)
    .option(
      '--config <file>',
      'configuration (default: that of the ConfigMap cni-gate, or built-in profiles)',
    )
    .addOption(
      new Option('--own-namespace <name>', 'namespace of cni-gate itself')
        .env('POD_NAMESPACE')
        .default('cni-gate'),
    )
    .addOption(new Option('-o, --output <form>', 'what to print').choices(['text', 'json']).default('text'))
    .option('--all', 'nodes that are ready or exempt as well, and every row')
    .option('-w, --watch', 'go on, and print the status again whenever it changes')
    .option('--probe', 'ask the API server for a pod in a namespace that opted in, as a dry run')
    .addHelpText('after', more)
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  if (flags.probe && flags.watch)
    throw new CniGateError('CNI_GATE_USAGE', '--probe asks once, and --watch goes on: give one of the two');
  // loaded here: the other commands need none of it
  const [{ openCluster }, { listStatus }, { statusOf }, { statusText }, { installedPolicy }] =
    await Promise.all([
      import('../cluster/open.ts'),
      import('../cluster/status/list.ts'),
      import('../status/compose.ts'),
      import('../status/text.ts'),
      import('../cluster/status/configuration.ts'),
    ]);
  const { config, ownNamespace, namespace } = flags;
  const all = flags.all === true;
  const given: FoundPolicy | undefined =
    config === undefined ? undefined : { policy: readPolicy(config), source: config };
  const client = await openCluster(flags.kubeconfig);
  try {
    const { policy, source } = given ?? (await installedPolicy(client, ownNamespace));
    const compose = (facts: StatusFacts): Status =>
      statusOf(facts, { configuration: source, now: Date.now(), all, namespace });
    // what shows where the next one begins, in a file
    const gap = flags.watch && !process.stdout.isTTY ? '\n' : '';
    const form = (status: Status): string =>
      flags.output === 'json'
        ? `${JSON.stringify(status, null, flags.watch ? undefined : 2)}\n`
        : statusText(status, all) + gap;
    const wanted = { policy, ownNamespace, namespace };
    // also before watching: what is missing to reach the cluster is an error at the start, and an outage later
    const first = await listStatus(client, wanted);
    if (flags.probe) {
      const { makeProbe } = await import('../cluster/status/probe.ts');
      first.probe = await makeProbe(client, { ...first, ownNamespace });
    }
    if (flags.watch) await follow(client, wanted, first, { compose, form });
    else {
      const status = compose(first);
      tell(status, form(status));
    }
  } finally {
    client.close();
  }
}

function tell(status: Status, text: string): void {
  process.stdout.write(text);
  process.exitCode = exitCodes[status.verdict];
}

/** Milliseconds between two looks at what the watches know. */
const interval = 1000;

/** Home, and away with what is below. */
const redraw = '\u001b[H\u001b[J';

/** Prints the status whenever it is another one, until it is told to stop or nobody reads any more. */
async function follow(
  client: ApiClient,
  wanted: Wanted,
  first: StatusFacts,
  { compose, form }: { compose: (facts: StatusFacts) => Status; form: (status: Status) => string },
): Promise<void> {
  const { watchStatus } = await import('../cluster/status/watch.ts');
  const warn = (_facts: object, message: string): void => void process.stderr.write(`cni-gate: ${message}\n`);
  const { facts, close } = watchStatus(client, wanted, first, { info: warn, warn });
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop());
  process.stdout.once('error', () => stop());
  const contentOf = ({ time: _, ...content }: Status): string => JSON.stringify(content);
  let shown = '';
  const show = (status: Status): void => {
    const content = contentOf(status);
    if (content === shown) return;
    shown = content;
    tell(status, (process.stdout.isTTY ? redraw : '') + form(status));
  };
  show(compose(first));
  // looked at by the clock: time alone makes a node that starts a broken one
  const timer = setInterval(() => {
    const known = facts();
    if (known !== undefined) show(compose(known));
  }, interval);
  await stopped;
  clearInterval(timer);
  await close();
}
