import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { opsLimits } from '../../../webhook/lib/limits.ts';
import { mortal } from '../../support/mortal.ts';
import type { Access } from '../harness/access.ts';
import { eventually } from '../harness/eventually.ts';

const main = fileURLToPath(new URL('../../../webhook/main.ts', import.meta.url));
const clock = fileURLToPath(new URL('./set-clock.ts', import.meta.url));

/** All replicas have the same ports, each at an address of its own: an EndpointSlice names one port. */
export const port = 8443;
const opsPort = 8080;

/** `cni-gate serve` as a process that stands for a pod of the Deployment, with a clock that can be set. */
export class Replica {
  readonly host: string;
  /** Every line that it logged, parsed. */
  readonly lines: Record<string, unknown>[] = [];
  readonly #child: ChildProcess;
  #errors = '';
  readonly #waiting = new Set<() => void>();

  constructor(host: string, access: Access, flags: string[]) {
    this.host = host;
    const own = ['--host', host, '--port', String(port), '--ops-port', String(opsPort)];
    const args = ['--import', clock, main, 'serve', ...own, '--kubeconfig', access.kubeconfig, ...flags];
    this.#child = spawn(...mortal(process.execPath, args), {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { PATH: process.env.PATH, POD_NAMESPACE: 'cni-gate' },
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk) => {
      this.#errors += chunk;
    });
    if (this.#child.stdout) {
      createInterface(this.#child.stdout).on('line', (line) => {
        this.lines.push(JSON.parse(line));
        for (const check of this.#waiting) check();
      });
    }
    this.#child.on('close', () => {
      for (const check of this.#waiting) check();
    });
  }

  /**
   * Waits for a line of the log.
   *
   * @param from index of the first line that counts
   * @throws Error with the log, where it does not come or the process ends
   */
  async logged(what: RegExp, from = 0, seconds = 60): Promise<Record<string, unknown>> {
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    const fail = (why: string): void => {
      const log = this.lines.slice(from).map((line) => JSON.stringify(line));
      reject(new Error(`${what} was not logged by ${this.host}: ${why}\n${log.join('\n')}\n${this.#errors}`));
    };
    const check = (): void => {
      const line = this.lines.slice(from).find(({ msg }) => what.test(String(msg)));
      if (line) resolve(line);
      else if (this.#child.exitCode !== null || this.#child.signalCode !== null) fail('the process ended');
    };
    const timer = setTimeout(() => fail(`not in ${seconds} s`), seconds * 1000);
    this.#waiting.add(check);
    check();
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(check);
    }
  }

  serving(): Promise<Record<string, unknown>> {
    return this.logged(/^serving admission reviews$/);
  }

  /** Sets its clock. */
  async setClock(ms: number): Promise<void> {
    const set = once(this.#child, 'message');
    this.#child.send(ms);
    await set;
  }

  /** The certificate that it serves to a new connection. */
  async served(): Promise<X509Certificate> {
    const socket = connect({ host: this.host, port, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const certificate = socket.getPeerX509Certificate();
    socket.destroy();
    assert.ok(certificate);
    return certificate;
  }

  /** Waits until an authority signed what it serves. */
  async servesBy(authority: { certificate: string }, seconds = 60): Promise<void> {
    const { publicKey } = new X509Certificate(authority.certificate);
    await eventually(async () => assert.ok((await this.served()).verify(publicKey)), seconds);
  }

  /** What the plain port answers. */
  async ops(path: string): Promise<{ status: number | undefined; body: string }> {
    const call = request({ host: this.host, port: opsPort, path, agent: false });
    call.end();
    const [response] = await once(call, 'response');
    return { status: response.statusCode, body: await text(response) };
  }

  /** The sum of a metric's series that have these labels. */
  async metric(name: string, labels: Record<string, string> = {}): Promise<number> {
    // scrapes share a text that is younger than this
    await sleep(opsLimits.metricsAge + 100);
    const { body } = await this.ops('/metrics');
    const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
    return body
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => wanted.every((each) => line.includes(each)))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }

  /** Sends a signal and waits for the end; the exit code. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill(signal);
      await ended;
    }
    return this.#child.exitCode;
  }
}
