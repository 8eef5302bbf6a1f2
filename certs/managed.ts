import { setTimeout as sleep } from 'node:timers/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import { apiPath } from '../webhook/cluster/api-path.ts';
import type { ApiClient } from '../webhook/cluster/client.ts';
import { Informer } from '../webhook/cluster/informer/informer.ts';
import type { ApiObject } from '../webhook/cluster/informer/object.ts';
import type { Deps, Log } from '../webhook/lib/deps.ts';
import { CniGateError, messageOf } from '../webhook/lib/errors.ts';
import { Notifier } from '../webhook/lib/notifier.ts';
import type { CertificateEvents, CertificateSource } from './files.ts';
import { type ManagedObjects, placeOf, sharedObjects } from './objects.ts';
import { type Leaf, Reconciler, type ReconcilerOptions } from './reconcile.ts';
import { type FaultReason, type Plan, type State, trustedIn } from './rotation.ts';
import { inForce } from './verify.ts';

interface ManagedOptions
  extends ManagedObjects,
    Pick<ReconcilerOptions, 'names' | 'leafDays' | 'authorityDays' | 'overlap'> {
  client: ApiClient;
}

/** Milliseconds between two reconciliations if no watch reports a change. */
const interval = 15_000;

/** The first wait after a failure; it doubles up to the interval. */
const firstWait = 500;

/** All replicas hear of a change at once: each waits a random time up to this, so that one is first. */
const longestDelay = 200;

/** Seconds by which a clock may be wrong without a log line. */
const allowedSkew = 30;

/**
 * The serving certificate that this replica signs with the authority that all replicas share in a Secret of the
 * cluster. It waits for a cluster that does not answer yet.
 *
 * @throws the reason of the signal, if the server has to stop first
 */
export async function managedCertificate(
  options: ManagedOptions,
  events: CertificateEvents,
  { registry, log, clock, signal }: Deps,
): Promise<CertificateSource> {
  const stop = new AbortController();
  const shared = sharedObjects(options.client, options, stop.signal);
  const report = reporter(log, registry, options.client);
  const monotonicNow = (): number => clock.monotonicNow();
  const reconciler = new Reconciler({ ...options, shared, report, monotonicNow });
  events.addReadyCheck(() => {
    const { leaf } = reconciler;
    if (!leaf) return `no serving certificate yet: ${report.trouble() ?? 'the Secret was not read yet'}`;
    if (inForce(leaf, shared.now())) return undefined;
    return `the serving certificate is not valid: ${report.trouble() ?? 'a new one is being issued'}`;
  });
  const changes = watchChanges(options.client, options, stop.signal);
  const first = Promise.withResolvers<Leaf>();
  const onLeaf = (leaf: Leaf, isFirst: boolean): void =>
    isFirst ? first.resolve(leaf) : events.onReload(leaf);
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

/**
 * Reconciles when a watch reports a change, and by the clock: a watch may be silent, and a machine may have slept.
 * Never ends by an error of the cluster.
 */
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
      // a defect is reported as well: serving goes on with the last certificate
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

/** Notifies of changes. Each object is watched by its name, so that RBAC can restrict the right to watch to it. */
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

const sentences: Record<Plan['step'], string> = {
  none: 'nothing to do',
  restore: 'written back what this replica remembered',
  create: 'created a new authority',
  begin: 'created the next authority; it signs nothing until every API server trusts it',
  promote: 'the next authority signs from now on; the one before it is still trusted',
  drop: 'an authority that expired is no longer trusted',
};

/** Hears what a {@link Reconciler} does. */
export type Reporter = ReturnType<typeof reporter>;

/** Logs and counts what a {@link Reconciler} does. A condition that stays the same is logged once. */
function reporter(log: Log, registry: Registry, client: Pick<ApiClient, 'clockSkew'>) {
  const metrics = certificateMetrics(registry);
  /** What is wrong, by what it is about. */
  const wrong = new Map<string, string>();
  const logOnce = (level: 'warn' | 'error', about: string, facts: object, text: string, key = text): void => {
    if (wrong.get(about) !== key) log[level](facts, text);
    wrong.set(about, key);
  };
  const well = (about: string): void => {
    if (about.includes('/')) metrics.bundleComplete.set({ configuration: about }, 1);
    if (wrong.delete(about)) log.info({ about }, `certificates: all is well again with the ${about}`);
  };
  return {
    /** What failed last with the Secret; undefined if nothing is wrong. */
    trouble: () => wrong.get('secret'),
    /** Nothing is wrong with `secret`, `clock` or a webhook configuration. */
    well,
    /** A step was written into the Secret. */
    wrote({ step, faults }: Plan): void {
      metrics.steps.inc({ step });
      for (const { reason, message } of faults) {
        const code = 'CNI_GATE_TLS_SECRET';
        metrics.repairs.inc({ object: 'secret', reason });
        log.warn({ code, reason, step }, `${message} (${code}); repaired: ${sentences[step]}`);
      }
      if (faults.length === 0) log.info({ step }, `certificates: ${sentences[step]}`);
    },
    /** A caBundle was written, because of what was wrong with it. */
    repaired(configuration: string, reason: FaultReason): void {
      metrics.repairs.inc({ object: 'webhook-configuration', reason });
      // manifests bring no caBundle
      const level = reason === 'empty' ? 'info' : 'warn';
      log[level]({ configuration, reason }, `the caBundle of ${configuration} was ${reason}; written`);
    },
    /** Something failed; the next reconciliation tries it again. */
    failed(about: string, { code, message }: CniGateError): void {
      if (about.includes('/')) metrics.bundleComplete.set({ configuration: about }, 0);
      metrics.failures.inc({ code });
      logOnce('error', about, { about, code }, `${message} (${code}); it is tried again`, message);
    },
    /** The Secret was read or written, and says this. */
    agreed(state: State): void {
      metrics.authorityExpiry.set(state.authority.notAfter.getTime() / 1000);
      metrics.authorities.set(trustedIn(state).length);
      well('secret');
      const skew = client.clockSkew / 1000;
      metrics.clockSkew.set(skew);
      if (Math.abs(skew) <= allowedSkew) {
        well('clock');
        return;
      }
      const seconds = Math.round(Math.abs(skew));
      const message = `the clock of this machine is ${seconds} s ${skew > 0 ? 'behind' : 'ahead of'} the API server's, which is the one that certificates are issued for`;
      logOnce('warn', 'clock', { skew }, message, 'wrong');
    },
  };
}

/** Metrics of managed certificates. Names follow https://prometheus.io/docs/practices/naming/. */
export function certificateMetrics(registry: Registry) {
  const registers = [registry];
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name: `cni_gate_${name}`, help, labelNames, registers });
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `cni_gate_${name}`, help, labelNames, registers });
  return {
    authorityExpiry: gauge(
      'authority_not_after_timestamp_seconds',
      'When the signing authority expires, as Unix time.',
    ),
    authorities: gauge(
      'authorities',
      'Authorities that the caBundles should contain: more than 1 during a rotation.',
    ),
    steps: counter('certificate_steps_total', 'Steps that this replica wrote into the Secret.', 'step'),
    repairs: counter(
      'certificate_repairs_total',
      'Faults of Secret or caBundle that this replica repaired.',
      'object',
      'reason',
    ),
    failures: counter(
      'certificate_failures_total',
      'Failed reads, writes and repairs, which are retried.',
      'code',
    ),
    bundleComplete: gauge('ca_bundle_complete', '1 if the caBundle is right.', 'configuration'),
    clockSkew: gauge(
      'api_server_clock_skew_seconds',
      "API server's clock minus this machine's, to about a second.",
    ),
  };
}
