import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export class LoggingProcess {
  readonly child: ChildProcess;
  readonly lines: Record<string, unknown>[] = [];
  readonly #signal: (name: NodeJS.Signals) => unknown;
  readonly #waiting = new Set<() => void>();
  #errors = '';

  /** @param signal sends a signal to the process; needed if the process is not the child itself */
  constructor(child: ChildProcess, signal = (name: NodeJS.Signals): unknown => child.kill(name)) {
    this.child = child;
    this.#signal = signal;
    child.stderr?.setEncoding('utf8').on('data', (chunk) => {
      this.#errors += chunk;
    });
    const check = (): void => {
      for (const one of this.#waiting) one();
    };
    if (child.stdout) {
      createInterface(child.stdout).on('line', (line) => {
        this.lines.push(JSON.parse(line));
        check();
      });
    }
    child.on('close', check);
  }

  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Waits for a log line whose `msg` matches. @param from the index of the first line that counts */
  async logged(what: RegExp, from = 0, seconds = 60): Promise<Record<string, unknown>> {
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>();
    const fail = (why: string): void => {
      const log = this.lines.slice(from).map((line) => JSON.stringify(line));
      reject(new Error(`${what} was not logged: ${why}\n${log.join('\n')}\n${this.#errors}`));
    };
    const check = (): void => {
      const line = this.lines.slice(from).find(({ msg }) => what.test(String(msg)));
      if (line) resolve(line);
      else if (!this.running) fail(`the process ended with ${this.child.exitCode}`);
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

  async serving(): Promise<{ port: number; opsPort: number }> {
    const { port, opsPort } = await this.logged(/^serving admission reviews$/);
    return { port: Number(port), opsPort: Number(opsPort) };
  }

  async end(name: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.running) {
      const ended = once(this.child, 'exit');
      this.#signal(name);
      await ended;
    }
    return this.child.exitCode;
  }
}
