import { setTimeout as sleep } from 'node:timers/promises';
import { apiPath } from '../webhook/kubernetes/api-path.ts';
import type { ApiClient } from '../webhook/kubernetes/client.ts';
import type { ApiObject } from '../webhook/kubernetes/reflector/object.ts';
import { Reflector } from '../webhook/kubernetes/reflector/reflector.ts';
import { configurationsPath } from '../webhook/kubernetes/webhook-configurations.ts';
import type { Deps } from '../webhook/lib/deps.ts';
import { CniGateError, messageOf } from '../webhook/lib/errors.ts';
import { ApiObjects, type ManagedObjects } from './api.ts';
import { CertificateMetrics } from './metrics.ts';
import { inForce } from './period.ts';
import { type Leaf, Reconciler, type ReconcilerOptions } from './reconcile.ts';
import { Report } from './report.ts';
import type { CertificateEvents, CertificateSource } from './sources.ts';

/** Options of managed certificates. */
export interface ManagedOptions
  extends ManagedObjects,
    Pick<ReconcilerOptions, 'names' | 'leafDays' | 'authorityDays' | 'overlap'> {
  client: ApiClient;
}

/**
 * Milliseconds between two reconciliations where nothing reports a change. A fifth longer, as it may be by chance, it
 * is still below the patience of a replica that leaves it to this one to say what it knows.
 */
const interval = 15_000;

/** The first wait after a failure; it doubles up to the interval. */
const firstWait = 500;

/** All replicas hear of a change at once: each waits a random time up to this, so that one is first. */
const longestDelay = 200;

/** So many reconciliations in a row follow at once; then others have what they want for a while. */
const longestRow = 20;

/**
 * The serving certificate that this replica signs with the authority that all replicas share in a Secret of the
 * cluster. It waits for a cluster that does not answer yet.
 *
 * @throws the reason of the signal, where the server has to stop first
 */
export async function managedCertificate(
  options: ManagedOptions,
  events: CertificateEvents,
  { registry, log, clock, signal }: Deps,
): Promise<CertificateSource> {
  const stop = new AbortController();
  const shared = new ApiObjects(options.client, options, stop.signal);
  const first = Promise.withResolvers<Leaf>();
  let current: Leaf | undefined;
  const report = new Report(
    log,
    new CertificateMetrics(registry),
    () => options.client.clockSkew,
    (_state, leaf) => {
      const before = current;
      current = leaf;
      if (!before) first.resolve(leaf);
      else if (before !== leaf) events.onReload(leaf);
    },
  );
  const unready = (): string | undefined => {
    if (!current) return `no serving certificate yet: ${report.trouble ?? 'the Secret was not read yet'}`;
    if (inForce(current, shared.now())) return undefined;
    return `the serving certificate is not valid: ${report.trouble ?? 'a new one is being issued'}`;
  };
  events.addReadyCheck(unready);
  const reconciler = new Reconciler({
    ...options,
    shared,
    events: report,
    monotonicNow: () => clock.monotonicNow(),
  });
  const running = run(reconciler, report, new ChangeNotifier(options.client, options), stop.signal);
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
        return current ?? leaf;
      },
      close,
    };
  } catch (error) {
    log.info({}, `stopped before there was a serving certificate: ${messageOf(error)}`);
    await close();
    throw error;
  }
}

/**
 * Reconciles when a watch reports a change, and by the clock: a watch may be silent, and a machine may have slept.
 * Never ends by an error of the cluster.
 */
async function run(
  reconciler: Reconciler,
  report: Report,
  changes: ChangeNotifier,
  signal: AbortSignal,
): Promise<void> {
  const watching = changes.run(signal);
  let failures = 0;
  let row = 0;
  while (!signal.aborted) {
    const changed = changes.next();
    const result = await reconcileOnce(reconciler, report, signal);
    failures = result === 'failed' ? failures + 1 : 0;
    row = result === 'again' ? row + 1 : 0;
    // at random, so that replicas do not go on side by side
    const pause = Math.min(interval, pauseAfter(result, failures, row)) * (0.8 + 0.4 * Math.random());
    const over = new AbortController();
    const ended = AbortSignal.any([signal, over.signal]);
    const rest = sleep(pause, undefined, { signal: ended }).catch(() => {});
    const woken = changed.then(() => sleep(longestDelay * Math.random()));
    // after a failure it waits, whatever happens meanwhile
    await (failures > 0 ? rest : Promise.race([rest, woken]));
    over.abort();
  }
  await watching;
}

type Result = Awaited<ReturnType<Reconciler['reconcile']>> | 'failed';

async function reconcileOnce(reconciler: Reconciler, report: Report, signal: AbortSignal): Promise<Result> {
  try {
    return await reconciler.reconcile();
  } catch (error) {
    if (signal.aborted) return 'done';
    // a defect is reported like everything else: to go on with what is there is better than not to serve
    const known = error instanceof CniGateError;
    report.failed('secret', known ? error : new CniGateError('CNI_GATE_INTERNAL', String(error)));
    return 'failed';
  }
}

/** Milliseconds until the next reconciliation, after so many in a row that failed, or had something to do. */
function pauseAfter(result: Result, failures: number, row: number): number {
  switch (result) {
    case 'again':
      return row < longestRow ? firstWait / 10 : Infinity;
    case 'wait':
      return firstWait * 4;
    case 'failed':
      return firstWait * 2 ** (failures - 1);
    case 'done':
      return Infinity;
  }
}

/**
 * Reports that one of the objects changed; what is there then is read anew. Each object is watched by its name, so
 * that the right to watch can be restricted to that name.
 */
class ChangeNotifier {
  readonly #reflectors: Reflector<ApiObject, undefined>[];
  #changed = Promise.withResolvers<void>();

  constructor(client: ApiClient, { namespace, secret, configurations }: ManagedObjects) {
    const watched = [
      { path: apiPath`/api/v1/namespaces/${namespace}/secrets`, name: secret },
      ...configurations.map(({ kind, name }) => ({ path: configurationsPath(kind), name })),
    ];
    this.#reflectors = watched.map(({ path, name }) => {
      const reflector = new Reflector<ApiObject, undefined>(client, {
        resource: path.split('/').at(-1) ?? path,
        path,
        query: { fieldSelector: `metadata.name=${name}` },
        pick: () => undefined,
      });
      reflector.subscribe(() => this.#changed.resolve());
      return reflector;
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#reflectors.map((reflector) => reflector.run(signal)));
  }

  /** Resolves at the next change from now on. */
  next(): Promise<void> {
    this.#changed = Promise.withResolvers();
    return this.#changed.promise;
  }
}
