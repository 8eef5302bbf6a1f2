import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { mortal } from '../../support/mortal.ts';

export interface ComponentPlan {
  name: string;
  path: string;
  args: string[];
  log: string;
  /** Whether the component is ready now. May throw if the component does not answer yet. */
  ready: () => Promise<boolean>;
}

export type Start = Pick<ComponentPlan, 'args' | 'ready'>;

/** How long, in milliseconds, a component may take to be ready. A minute is too short at a load of 20 on two cores. */
const readyTimeout = 180_000;

/** One program of the control plane. It can be stopped and started again, and keeps its data. */
export class Component {
  readonly #plan: ComponentPlan;
  #child: ChildProcess | undefined;

  constructor(plan: ComponentPlan) {
    this.#plan = plan;
  }

  get name(): string {
    return this.#plan.name;
  }

  get log(): string {
    return readFileSync(this.#plan.log, 'utf8');
  }

  get running(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async start(): Promise<void> {
    if (this.running) throw new Error(`${this.name} already runs`);
    const log = openSync(this.#plan.log, 'a');
    const [command, args] = mortal(this.#plan.path, this.#plan.args);
    // less frequent garbage collection, because control planes use most of the suite's processor time
    const env = { ...process.env, GOGC: '400' };
    this.#child = spawn(command, args, { stdio: ['ignore', log, log], env });
    closeSync(log);
    const deadline = performance.now() + readyTimeout;
    while (!(await this.#plan.ready().catch(() => false))) {
      if (!this.running) throw this.#failed('ended before it was ready');
      if (performance.now() > deadline) throw this.#failed('is not ready after three minutes');
      // neither etcd nor a component of Kubernetes announces that it is ready, so readiness is polled
      await sleep(50);
    }
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
  }

  /** Kills the component, as a power cut would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (!this.running || this.#child === undefined) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill(signal);
    await ended;
  }

  #failed(what: string): Error {
    const end = this.log.split('\n').slice(-15).join('\n');
    return new Error(`${this.name} ${what}. The end of its log:\n${end}`);
  }
}
