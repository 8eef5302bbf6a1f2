import { setTimeout as sleep } from 'node:timers/promises';
import { apiPath } from '../webhook/cluster/api-path.ts';
import type { ApiClient } from '../webhook/cluster/client.ts';
import { Informer } from '../webhook/cluster/informer/informer.ts';
import type { ApiObject } from '../webhook/cluster/informer/object.ts';
import type { Deps } from '../webhook/lib/deps.ts';
import { CniGateError, messageOf } from '../webhook/lib/errors.ts';
import { Notifier } from '../webhook/lib/notifier.ts';
import type { CertificateEvents, CertificateSource } from './files.ts';
import { type ManagedObjects, placeOf, sharedObjects } from './objects.ts';
import { type Leaf, Reconciler, type ReconcilerOptions } from './reconcile.ts';
import { type Reporter, reporter } from './report.ts';
import { inForce } from './verify.ts';

interface ManagedOptions extends ManagedObjects, Pick<ReconcilerOptions, 'names' | 'leafDays' | 'overlap'> {
  client: ApiClient;
}

/** Milliseconds between two reconciliations if no watch reports a change. */
const interval = 15_000;

/** Milliseconds to wait after a failure. The wait doubles with each further failure, up to the interval. */
const firstWait = 500;

/** After a change, each replica waits for a random time up to this, in milliseconds, so that usually one acts first. */
const longestDelay = 200;

/**
 * The serving certificate of this replica, signed by the authority in the shared Secret. Waits until there is one.
 * @throws the reason of the signal, if the signal is aborted first
 */
export async function managedCertificate(
  options: ManagedOptions,
  events: CertificateEvents,
  { registry, log, signal }: Deps,
): Promise<CertificateSource> {
  const stop = new AbortController();
  const shared = sharedObjects(options.client, options, stop.signal);
  const report = reporter(log, registry, options.client);
  const reconciler = new Reconciler({ ...options, shared, report });
  events.addReadyCheck(() => {
    const { leaf } = reconciler;
    if (!leaf) return `no serving certificate yet: ${report.trouble() ?? 'the Secret was not read yet'}`;
    if (inForce(leaf, shared.now())) return undefined;
    return `the serving certificate is not valid: ${report.trouble() ?? 'a new one is being issued'}`;
  });
  const changes = watchChanges(options.client, options, stop.signal);
  const first = Promise.withResolvers<Leaf>();
  const onLeaf = (leaf: Leaf, isFirst: boolean): void => (isFirst ? first.resolve(leaf) : events.onReload());
  const running = run(reconciler, report, changes, onLeaf, stop.signal);
  const close = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  signal.addEventListener('abort', () => first.reject(signal.reason));
  if (signal.aborted) first.reject(signal.reason);
  try {
    const leaf = await first.promise;
    return {
      get current() {
        return reconciler.leaf ?? leaf;
      },
      close,
    };
  } catch (error) {
    log.info({}, `stopped before there was a serving certificate: ${messageOf(error)}`);
    await close();
    throw error;
  }
}

/** Reconciles after each change, and periodically: a watch may fail silently, or the machine may be suspended. */
async function run(
  reconciler: Reconciler,
  report: Reporter,
  changes: Notifier,
  onLeaf: (leaf: Leaf, isFirst: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let wait = firstWait;
  let current: Leaf | undefined;
  while (!signal.aborted) {
    const result = await reconciler.reconcile().catch((error: unknown) => {
      // errors that are not ours are defects: they are reported too, and the last certificate stays in use
      const known = error instanceof CniGateError;
      if (!signal.aborted)
        report.failed('secret', known ? error : new CniGateError('CNI_GATE_INTERNAL', String(error)));
      return 'failed';
    });
    const { leaf } = reconciler;
    if (leaf && leaf !== current) onLeaf(leaf, current === undefined);
    current = leaf;
    if (result === 'failed') await sleep(wait, undefined, { signal }).catch(() => {});
    else if (result === 'done') await changes.wait(interval, signal);
    wait = result === 'failed' ? Math.min(interval, 2 * wait) : firstWait;
    await sleep(longestDelay * Math.random());
  }
}

/** Watches each object by its name, so that RBAC can restrict the right to watch to these objects. */
function watchChanges(
  client: ApiClient,
  { namespace, secret, configurations }: ManagedObjects,
  signal: AbortSignal,
): Notifier {
  const changes = new Notifier();
  const secrets = apiPath`/api/v1/namespaces/${namespace}/secrets`;
  for (const [path, name] of [[secrets, secret] as const, ...configurations.map(placeOf)]) {
    const informer = new Informer<ApiObject, undefined>(client, {
      resource: path.split('/').at(-1) ?? path,
      path,
      query: { fieldSelector: `metadata.name=${name}` },
      pick: () => undefined,
    });
    informer.subscribe(() => changes.notify());
    void informer.run(signal);
  }
  return changes;
}
