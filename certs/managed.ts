import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../webhook/cluster/client.ts';
import type { Deps } from '../webhook/lib/deps.ts';
import { CniGateError, messageOf } from '../webhook/lib/errors.ts';
import type { CertificateEvents, CertificateSource } from './files.ts';
import { sharedObjects } from './objects.ts';
import { type Leaf, Reconciler, type ReconcilerOptions } from './reconcile.ts';
import { type Reporter, reporter } from './report.ts';
import { inForce } from './verify.ts';

interface ManagedOptions extends Pick<ReconcilerOptions, 'names' | 'overlap'> {
  client: ApiClient;
  /** The namespace of the Secret and the Service. */
  namespace: string;
  /** The name of the Secret. */
  secret: string;
}

/** Milliseconds between two reconciliations. */
const interval = 5000;

/** Milliseconds from a failure to the next reconciliation. */
const failurePause = 1000;

/** The maximum random delay of a reconciliation, in milliseconds, so that replicas rarely write at the same time. */
const longestDelay = 200;

/**
 * Waits for this replica's serving certificate, which is signed by the authority in the shared Secret.
 * @throws the reason of the signal, if the signal is aborted first
 */
export async function managedCertificate(
  options: ManagedOptions,
  events: CertificateEvents,
  { registry, log, signal }: Deps,
): Promise<CertificateSource> {
  const stop = new AbortController();
  const { client, namespace, secret } = options;
  const shared = sharedObjects(client, namespace, secret, stop.signal);
  const report = reporter(log, registry);
  const reconciler = new Reconciler({ ...options, shared, report });
  events.addReadyCheck(() => {
    const { leaf } = reconciler;
    if (!leaf) return `no serving certificate yet: ${report.trouble() ?? 'the Secret was not read yet'}`;
    if (inForce(leaf, shared.now())) return undefined;
    return `the serving certificate is not valid: ${report.trouble() ?? 'a new one is being issued'}`;
  });
  const first = Promise.withResolvers<Leaf>();
  const onLeaf = (leaf: Leaf, isFirst: boolean): void => (isFirst ? first.resolve(leaf) : events.onReload());
  const running = run(reconciler, report, onLeaf, stop.signal);
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

/** Reconciles until the signal is aborted. */
async function run(
  reconciler: Reconciler,
  report: Reporter,
  onLeaf: (leaf: Leaf, isFirst: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  let current: Leaf | undefined;
  while (!signal.aborted) {
    const result = await reconciler.reconcile().catch((error: unknown) => {
      // an error other than CniGateError is a defect: it is reported too; the last certificate stays in use
      const known = error instanceof CniGateError;
      if (!signal.aborted)
        report.failed('secret', known ? error : new CniGateError('CNI_GATE_INTERNAL', String(error)));
      return 'failed' as const;
    });
    const { leaf } = reconciler;
    if (leaf && leaf !== current) onLeaf(leaf, current === undefined);
    current = leaf;
    const pause = { failed: failurePause, done: interval, again: 0 }[result];
    await sleep(pause + longestDelay * Math.random(), undefined, { signal }).catch(() => {});
  }
}
