import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { machine } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { messageOf } from '../../webhook/lib/errors.ts';
import { cacheHome } from '../cluster/binaries/cache.ts';
import { mortal } from '../support/mortal.ts';

/** A series at one time. */
export interface Sample {
  metric: Record<string, string>;
  value: [time: number, value: string];
}

export interface Prometheus {
  /** Evaluates a query now. @throws Error with Prometheus' account of what is wrong with it */
  query(expr: string): Promise<Sample[]>;
}

/**
 * Starts Prometheus, which scrapes a port every second as the PodMonitor of the component `monitoring` has it do.
 *
 * @param folder for its configuration and data
 */
export async function startPrometheus(t: TestContext, folder: string, port: number): Promise<Prometheus> {
  const program = join(cacheHome(), `prometheus-${machine()}`);
  const config = join(folder, 'prometheus.yaml');
  const target = { targets: [`127.0.0.1:${port}`], labels: { namespace: 'cni-gate', pod: 'cni-gate-0' } };
  writeFileSync(
    config,
    stringify({
      global: { scrape_interval: '1s', scrape_timeout: '1s' },
      scrape_configs: [{ job_name: 'cni-gate/cni-gate', static_configs: [target] }],
    }),
  );
  const own = await freePort();
  const child = spawn(
    ...mortal(program, [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${own}`,
    ]),
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  let hasEnded = false;
  const ended = once(child, 'close').then(
    () => {
      hasEnded = true;
    },
    (error: unknown) => {
      hasEnded = true;
      log += messageOf(error);
    },
  );
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = `http://127.0.0.1:${own}`;
  const isReady = (): Promise<boolean> =>
    fetch(`${url}/-/ready`, { signal: AbortSignal.timeout(2000) }).then(
      async (response) => {
        await response.text();
        return response.ok;
      },
      () => false,
    );
  while (!(await isReady())) {
    if (hasEnded)
      throw new Error(`NOT RUN: ${program} does not run. To get it: tests/alerts/install.sh\n${log}`);
    await sleep(50);
  }
  return {
    query: async (expr) => {
      const body = new URLSearchParams({ query: expr });
      const response = await fetch(`${url}/api/v1/query`, { method: 'POST', body });
      const answer = (await response.json()) as {
        status: string;
        error?: string;
        data: { result: Sample[] };
      };
      if (answer.status !== 'success') throw new Error(`${expr}: ${answer.error}`);
      return answer.data.result;
    },
  };
}

/** A port of this machine that is free. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
