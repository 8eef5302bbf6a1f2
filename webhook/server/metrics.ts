import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { AdmissionDecision } from '../admission/respond.ts';
import { version } from '../lib/version.ts';

/** In seconds. A decision takes tens of microseconds; a request that waits for the cluster takes up to 30 seconds. */
const durationBuckets = [
  50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 100e-3, 500e-3, 1, 5, 10, 30,
];

/** Milliseconds between two measurements of the event loop: the value of prom-client's own metrics. */
const loopResolution = 10;

/** A limit that a request or connection can exceed. */
export type OverloadLimit = 'bodies' | 'slow-body' | 'cost' | 'connections' | 'ops-connections' | 'pipelined';

/** What can change while the server runs. */
export type ReloadSource = 'configuration' | 'certificate' | 'cluster-state' | 'client-ca';

/** The metrics of the server itself. Names follow https://prometheus.io/docs/practices/naming/. */
export class Metrics {
  readonly registry = processRegistry();
  readonly #registers = [this.registry];
  readonly #reviews = new Counter({
    name: 'cni_gate_admission_reviews_total',
    help: 'Answered admission reviews.',
    labelNames: ['webhook', 'profile', 'outcome', 'reason'],
    registers: this.#registers,
  });
  readonly #duration = new Histogram({
    name: 'cni_gate_admission_duration_seconds',
    help: 'Time from the parsed request to the answer.',
    labelNames: ['webhook'],
    buckets: durationBuckets,
    registers: this.#registers,
  });
  readonly badRequests = new Counter({
    name: 'cni_gate_bad_requests_total',
    help: 'Calls that are not a valid admission review.',
    labelNames: ['code'],
    registers: this.#registers,
  });
  readonly #patchFailures = new Counter({
    name: 'cni_gate_patch_failures_total',
    help: 'Patches that did not apply: a defect.',
    registers: this.#registers,
  });
  readonly #reloads = new Counter({
    name: 'cni_gate_reloads_total',
    help: 'Attempts to apply a changed file.',
    labelNames: ['source', 'result'],
    registers: this.#registers,
  });
  readonly #lastReload = new Gauge({
    name: 'cni_gate_last_reload_successful',
    help: '1 if the last change of a file was applied, otherwise 0.',
    labelNames: ['source'],
    registers: this.#registers,
  });
  readonly #certificateExpiry = new Gauge({
    name: 'cni_gate_certificate_not_after_timestamp_seconds',
    help: 'When the serving certificate expires, as Unix time.',
    registers: this.#registers,
  });
  readonly #overload = new Counter({
    name: 'cni_gate_overload_total',
    help: 'Calls not answered and connections closed by a limit.',
    labelNames: ['limit'],
    registers: this.#registers,
  });

  /** Counts a request that was not answered, or a connection that was closed, because of a limit. */
  overload(limit: OverloadLimit): void {
    this.#overload.inc({ limit });
  }

  /** Registers a gauge of the memory reserved for bodies, in bytes. */
  measureBodies(inFlight: () => number): void {
    new Gauge({
      name: 'cni_gate_bodies_in_flight_bytes',
      help: 'Estimated memory of admission calls.',
      registers: this.#registers,
      collect() {
        this.set(inFlight());
      },
    });
  }

  /**
   * Starts to measure the longest delay of the event loop. Call it when the port is open: a delay during the start
   * affects no request. Unlike `nodejs_eventloop_lag_max_seconds`, a scrape does not reset the value.
   */
  measureEventLoop(): void {
    const delays = monitorEventLoopDelay({ resolution: loopResolution });
    delays.enable();
    new Gauge({
      name: 'cni_gate_event_loop_delay_max_seconds',
      help: 'Longest pause of the event loop since the start, plus 10 ms.',
      registers: this.#registers,
      collect() {
        this.set(delays.max / 1e9);
      },
    });
  }

  /** Counts an answered review. @param seconds from the parsed request to the answer */
  answered(
    webhook: string,
    decision: Pick<AdmissionDecision, 'outcome' | 'reason' | 'profile'>,
    seconds: number,
  ): void {
    // the configuration has this profile: a pod's label must not become a time series
    const { outcome, reason, profile = '' } = decision;
    this.#reviews.inc({ webhook, profile, outcome, reason });
    this.#duration.observe({ webhook }, seconds);
    if (reason === 'CNI_GATE_PATCH_FAILED') this.#patchFailures.inc();
  }

  /** Counts an attempt to reload a source. */
  reloaded(source: ReloadSource, result: 'success' | 'failure'): void {
    this.#reloads.inc({ source, result });
    this.#lastReload.set({ source }, result === 'success' ? 1 : 0);
  }

  /** Records when the serving certificate expires. */
  certificateExpires(notAfter: Date): void {
    this.#certificateExpiry.set(notAfter.getTime() / 1000);
  }
}

/** A registry with the metrics of the process. */
function processRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'cni_gate_build_info',
    help: 'Always 1.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version }, 1);
  return registry;
}
