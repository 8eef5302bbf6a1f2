import type { Figures as Load } from '../load.ts';
import type { Aim, Row } from '../report.ts';
import type { Took } from './calls.ts';
import type { Vitals } from './server.ts';

/** What one size of the cluster was measured with. */
export interface Figures {
  nodes: number;
  sets: number;
  /** Seconds from the start of the process until it is ready. */
  ready: number;
  /** When it is ready. */
  start: Vitals;
  /** Some seconds later. */
  synced: Vitals;
  /** While events come steadily. */
  took: Took | undefined;
  /** As fast as they are read. */
  perSecond: number;
  /** Pods of users that were sent. */
  pods: number;
  /** After that. */
  full: Vitals;
  /** Before the events, where it was asked for. */
  load?: Load | undefined;
}

/** Of resident memory, by nodes and DaemonSets on each. */
const memoryAims: { nodes: number; sets: number; aim: Aim }[] = [
  { nodes: 5, sets: 1, aim: { atMost: 90 } },
  { nodes: 5000, sets: 1, aim: { atMost: 140 } },
  { nodes: 15_000, sets: 3, aim: { atMost: 300 } },
];

/** Rows of the report: all sizes with the most DaemonSets, and those with fewer that have an aim. */
export function rowsOf(all: readonly Figures[]): Row[] {
  const most = Math.max(...all.map(({ sets }) => sets));
  const aimOf = ({ nodes, sets }: Figures): Aim | undefined =>
    memoryAims.find((one) => one.nodes === nodes && one.sets === sets)?.aim;
  const shown = all.filter((one) => one.sets === most || aimOf(one) !== undefined);
  const conditions = ({ nodes, sets }: Figures): string =>
    `${nodes.toLocaleString('en')} nodes × ${sets} ${sets === 1 ? 'DaemonSet' : 'DaemonSets'}`;
  const row = (of: Figures, figure: string, measured: number, unit: string, aim?: Aim): Row => ({
    figure,
    conditions: conditions(of),
    measured,
    unit,
    ...(aim && { aim }),
  });
  const called = shown.flatMap((one) => (one.sets === most && one.took ? [{ one, took: one.took }] : []));
  return [
    ...shown.map((one) => row(one, 'resident memory', one.synced.memory, 'MiB', aimOf(one))),
    ...shown.map((one) => ({
      ...row(one, 'most resident memory, with pods', one.full.peak, 'MiB'),
      conditions: `${conditions(one)}, ${one.pods.toLocaleString('en')} pods`,
    })),
    ...shown.map((one) =>
      row(one, 'start to ready', one.ready, 's', one.nodes === 15_000 ? { atMost: 10 } : undefined),
    ),
    ...shown.flatMap((one) =>
      one.load === undefined
        ? []
        : [
            row(one, 'most resident memory, 20 connections at full load', one.load.peak, 'MiB', {
              atMost: 150,
            }),
          ],
    ),
    ...called.map(({ one, took }) => row(one, 'decision, p50', took.decision.p50, 'µs')),
    ...called.map(({ one, took }) => row(one, 'decision, p99', took.decision.p99, 'µs')),
    ...called.flatMap(({ one }) =>
      // where all pods had come before, there was nothing left to send
      one.perSecond > 0 ? [row(one, 'events of a watch, as fast as they are read', one.perSecond, '/s')] : [],
    ),
  ];
}
