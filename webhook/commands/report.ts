import { setTimeout as sleep } from 'node:timers/promises';
import { CniGateError } from '../lib/errors.ts';
import type { Scope } from '../report/judge/catalogue.ts';
import type { Report, Verdict } from '../report/show/report.ts';
import { type ClusterFlags, paint } from './options.ts';

/** Flags that `check` and `status` have in common. */
export interface ReportFlags extends ClusterFlags {
  config?: string;
  ownNamespace: string;
  namespace?: string;
  probe?: boolean;
  output: 'text' | 'json';
}

const exitCodes: Record<Verdict, number> = { passed: 0, failed: 1, 'not-known': 2, 'not-installed': 3 };

/** Milliseconds between two attempts with `--wait`. */
const interval = 2000;

/**
 * Prints a report about the cluster that the flags name, and sets `process.exitCode`.
 *
 * @param all whether to print every row; otherwise, rows are merged, and `status` omits most passed rows
 * @param wait how long to repeat until no check fails, in milliseconds
 */
export async function printReport(flags: ReportFlags, scope: Scope, all: boolean, wait = 0): Promise<void> {
  const { config, output, ...options } = flags;
  // loaded here, because the other commands do not need these modules
  const [{ openCluster }, { givenPolicy }, { observe }, { briefOf, reportOf }, { reportText }] =
    await Promise.all([
      import('../cluster/open.ts'),
      import('../report/observe/configuration.ts'),
      import('../report/observe/observe.ts'),
      import('../report/show/report.ts'),
      import('../report/show/text.ts'),
    ]);
  const given = givenPolicy(config);
  const client = await openCluster(flags.kubeconfig, flags.context);
  try {
    const make = async (): Promise<Report> => reportOf(await observe(client, { ...options, given }), scope);
    const whole = await waitFor(make, wait);
    const report = all || scope !== 'status' ? whole : briefOf(whole);
    const text = output === 'json' ? `${JSON.stringify(report, null, 2)}\n` : reportText(report, all, paint);
    process.stdout.write(text);
    process.exitCode = exitCodes[report.result];
  } finally {
    client.close();
  }
}

/** Makes reports until no check fails or the time is over, and returns the last. Progress goes to standard error. */
async function waitFor(make: () => Promise<Report>, wait: number): Promise<Report> {
  const end = performance.now() + wait;
  let last = '';
  for (;;) {
    const isLast = performance.now() >= end;
    const result = await make().catch((error: unknown) => {
      if (isLast || !(error instanceof CniGateError)) throw error;
      return error;
    });
    const isError = result instanceof CniGateError;
    const isOver = !isError && (isLast || result.result === 'passed' || result.result === 'not-known');
    if (isOver) return result;
    const what = isError ? `${result.message} (${result.code})` : result.headline;
    if (what !== last) process.stderr.write(`cni-gate: waiting: ${what}\n`);
    last = what;
    await sleep(Math.max(0, Math.min(interval, end - performance.now())));
  }
}
