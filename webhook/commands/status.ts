import { Command, Option } from 'commander';
import { readPolicy } from '../config/file.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { CniGateError } from '../lib/errors.ts';
import type { FoundPolicy } from '../status/collect/configuration.ts';
import type { Wanted } from '../status/collect/sources.ts';
import type { StatusFacts } from '../status/facts.ts';
import type { Status, Verdict } from '../status/model.ts';
import type { TextOptions } from '../status/text.ts';
import { addWrappedHelp } from './help-text.ts';
import { addClusterOptions, addInstallationOptions, type ClusterFlags, namespaceName } from './options.ts';
import { terminal } from './terminal.ts';

interface Flags extends ClusterFlags {
  namespace?: string;
  config?: string;
  ownNamespace: string;
  output: 'text' | 'wide' | 'json';
  all?: true;
  watch?: true;
  probe?: true;
}

const more = `Exit code: 0 all is well; 1 something is wrong: the configuration of the installation is not valid, no replica answers, the API server does not trust it, a policy of cni-gate is missing, a used DaemonSet is missing or not ready on a node, a proof failed, two pods have one address, a pod is held, waits on its node for long, or runs without a proof, a label is wrong, the namespace of -n has not opted in, or the probe failed; 2 wrong usage, no answer from the cluster, no such namespace, a missing right without which there is no verdict, or a probe that could not run; 3 cni-gate is not installed. With --watch, it is that of the last status.`;

const exitCodes: Record<Verdict, number> = { well: 0, 'not-well': 1, 'not-known': 2, 'not-installed': 3 };

/** `cni-gate status`: where networks are ready, and which pods wait or run without a proof. Sets `process.exitCode`. */
export function statusCommand(): Command {
  const command = new Command('status').description(
    'show what is in force, where networks are ready, which pods are held, and which run without a proof',
  );
  addWrappedHelp(command, more);
  return addInstallationOptions(
    addClusterOptions(command, 'the service account of the pod, $KUBECONFIG, ~/.kube/config'),
  )
    .option('-n, --namespace <name>', 'only this opted-in namespace', namespaceName)
    .addOption(
      new Option('-o, --output <form>', 'what to print').choices(['text', 'wide', 'json']).default('text'),
    )
    .option('--all', 'include nodes that are ready or exempt, and show every row')
    .option('-w, --watch', 'keep running, and print the status again on each change')
    .option('--probe', 'create a pod in an opted-in namespace, as a dry run')
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  if (flags.probe && flags.watch)
    throw new CniGateError('CNI_GATE_USAGE', '--probe asks once, and --watch goes on: give one of the two');
  // loaded here: the other commands need none of it
  const [{ openCluster }, { listStatus }, { statusOf }, { statusText }, { usablePolicy }, { withRoleNamed }] =
    await Promise.all([
      import('../kubernetes/open.ts'),
      import('../status/collect/list.ts'),
      import('../status/compose.ts'),
      import('../status/text.ts'),
      import('../status/collect/configuration.ts'),
      import('../status/collect/role.ts'),
    ]);
  const { config, ownNamespace, namespace } = flags;
  const all = flags.all === true;
  const given: FoundPolicy | undefined =
    config === undefined ? undefined : { policy: readPolicy(config), source: config };
  const client = await openCluster(flags.kubeconfig, flags.context);
  try {
    const { policy, source, trouble } = given ?? (await usablePolicy(client, ownNamespace));
    const compose = (facts: StatusFacts): Status =>
      statusOf(facts, { client, configuration: source, trouble, now: Date.now(), all, namespace });
    // what shows where the next one begins, in a file
    const gap = flags.watch && !process.stdout.isTTY ? '\n' : '';
    const look = (): TextOptions => {
      const { width, ...rest } = terminal();
      return flags.output === 'wide' ? { ...rest, times: true } : { ...rest, ...(width && { width }) };
    };
    const form = (status: Status): string =>
      flags.output === 'json'
        ? `${JSON.stringify(status, null, flags.watch ? undefined : 2)}\n`
        : statusText(status, all, look()) + gap;
    const wanted = { policy, ownNamespace, namespace };
    // also before watching: what is missing to reach the cluster is an error at the start, and an outage later
    const first = await listStatus(client, wanted);
    if (flags.probe) {
      const { makeProbe } = await import('../status/collect/probe.ts');
      first.probe = await makeProbe(client, { ...first, ownNamespace });
    }
    if (flags.watch) await follow(client, wanted, first, { compose, form, output: flags.output });
    else {
      const status = compose(first);
      tell(status, form(status));
    }
  } catch (error) {
    throw withRoleNamed(error);
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

/** Milliseconds after which a text on a terminal is drawn again, for the ages in it. */
const stale = 10_000;

/** Home, and away with what is below. */
const redraw = '\u001b[H\u001b[J';

/** Prints the status whenever it is another one, until it is told to stop or nobody reads any more. */
async function follow(
  client: ApiClient,
  wanted: Wanted,
  first: StatusFacts,
  {
    compose,
    form,
    output,
  }: { compose: (facts: StatusFacts) => Status; form: (status: Status) => string; output: Flags['output'] },
): Promise<void> {
  const [{ watchStatus }, { roleFor }] = await Promise.all([
    import('../status/collect/watch.ts'),
    import('../status/collect/role.ts'),
  ]);
  const warn = (reported: { err?: unknown }, message: string): void =>
    void process.stderr.write(`cni-gate: ${message}${roleFor(reported.err)}\n`);
  const { facts, close } = watchStatus(client, wanted, first, { info: warn, warn, error: warn });
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop());
  process.stdout.once('error', () => stop());
  const contentOf = ({ time: _, ...content }: Status): string => JSON.stringify(content);
  let shown = '';
  let drawn = 0;
  const show = (status: Status): void => {
    const content = contentOf(status);
    const isStale = process.stdout.isTTY && output !== 'json' && performance.now() - drawn >= stale;
    if (content === shown && !isStale) return;
    shown = content;
    drawn = performance.now();
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
