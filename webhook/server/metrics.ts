import { monitorEventLoopDelay } from 'node:perf_hooks';
import { type Counter, collectDefaultMetrics, type Gauge, Histogram, Registry } from 'prom-client';
import type { AdmissionDecision } from '../admission/respond.ts';
import { counter, gauge, measuredGauge } from '../lib/metrics.ts';
import { version } from '../lib/version.ts';

/** Bucket bounds in seconds. A decision takes tens of microseconds, or up to 30 s if it waits for the API server. */
const durationBuckets = [
  50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 100e-3, 500e-3, 1, 5, 10, 30,
];

/** Milliseconds between two measurements of the event loop, as in prom-client's own metrics. */
const loopResolution = 10;

/** A limit that a request or connection can exceed. */
export type OverloadLimit = 'bodies' | 'slow-body' | 'cost' | 'connections' | 'ops-connections' | 'pipelined';

const reviewLabels = ['webhook', 'profile', 'outcome', 'reason'] as const;
const lastReload = '1 if the last change of a file was applied, otherwise 0.';
const certificateExpiry = 'When the serving certificate expires, as Unix time.';
const overloaded = 'Calls not answered and connections closed by a limit.';

/** What can be reloaded while the server runs. */
export type ReloadSource = 'configuration' | 'certificate' | 'cluster-state';

/** The metrics of the server itself: docs/reference/metrics.md. */
export class Metrics {
  readonly registry = processRegistry();
  readonly badRequests = this.#counter(
    'bad_requests',
    'Calls that are not a valid admission review.',
    'code',
  );
  readonly #reviews = this.#counter('admission_reviews', 'Answered admission reviews.', ...reviewLabels);
  readonly #duration = new Histogram({
    name: 'cni_gate_admission_duration_seconds',
    help: 'Time from the complete request to the answer.',
    labelNames: ['webhook'],
    buckets: durationBuckets,
    registers: [this.registry],
  });
  readonly #patchFailures = this.#counter('patch_failures', 'Patches that did not apply: a defect.');
  readonly #reloads = this.#counter('reloads', 'Attempts to apply a changed file.', 'source', 'result');
  readonly #lastReload = this.#gauge('last_reload_successful', lastReload, 'source');
  readonly #certificateExpiry = this.#gauge('certificate_not_after_timestamp_seconds', certificateExpiry);
  readonly #overload = this.#counter('overload', overloaded, 'limit');

  #counter<L extends string>(name: string, help: string, ...labels: L[]): Counter<L> {
    return counter(this.registry, `cni_gate_${name}_total`, help, ...labels);
  }

  #gauge<L extends string>(name: string, help: string, ...labels: L[]): Gauge<L> {
    return gauge(this.registry, `cni_gate_${name}`, help, ...labels);
  }

  overload(limit: OverloadLimit): void {
    this.#overload.inc({ limit });
  }

  /** Starts to measure the event loop. Call it once the port is open: delays before that affect no request. */
  measureEventLoop(): void {
    const delays = monitorEventLoopDelay({ resolution: loopResolution });
    delays.enable();
    const help = 'Longest pause of the event loop since the start, plus 10 ms.';
    measuredGauge(this.registry, 'cni_gate_event_loop_delay_max_seconds', help, [], () => [
      [{}, delays.max / 1e9],
    ]);
  }

  /** Counts an answered review. @param seconds from the arrival of the whole body to the answer */
  answered(
    webhook: string,
    decision: Pick<AdmissionDecision, 'outcome' | 'reason' | 'profile'>,
    seconds: number,
  ): void {
    // `profile` comes from the configuration: arbitrary labels of pods would create arbitrary time series
    const { outcome, reason, profile = '' } = decision;
    this.#reviews.inc({ webhook, profile, outcome, reason });
    this.#duration.observe({ webhook }, seconds);
    if (reason === 'CNI_GATE_PATCH_FAILED') this.#patchFailures.inc();
  }

  reloaded(source: ReloadSource, result: 'success' | 'failure'): void {
    this.#reloads.inc({ source, result });
    this.#lastReload.set({ source }, result === 'success' ? 1 : 0);
  }

  certificateExpires(notAfter: Date): void {
    this.#certificateExpiry.set(notAfter.getTime() / 1000);
  }
}

function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  gauge(registry, 'cni_gate_build_info', 'Always 1.', 'version').set({ version }, 1);
  return registry;
}
