import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../support/run.ts';
import { type Families, type Family, familiesOf } from './addresses.ts';
import { addNamespace, inside, pathOf, removeNamespace } from './namespaces.ts';
import { linkLines, podLines, type Shape } from './shape.ts';

const usual: Shape = { families: 'dual', gateway: 'on-subnet', defaultRoute: true };

/** Disables duplicate address detection, so that new addresses can be used immediately. */
const withoutDuplicateDetection =
  'echo 0 | tee /proc/sys/net/ipv6/conf/all/accept_dad /proc/sys/net/ipv6/conf/default/accept_dad';

/** The network of a pod and of its node: two network namespaces, joined by a veth pair, without any other link. */
export class Sandbox implements AsyncDisposable {
  readonly pod: string;
  readonly node: string;
  readonly shape: Shape;
  /** The folder that all containers of the pod see at `/dev/shm`. */
  readonly shm = mkdtempSync(join(tmpdir(), 'cni-gate-shm-'));
  readonly #cleanups: (() => Promise<void> | void)[] = [];

  private constructor(pod: string, node: string, shape: Shape) {
    this.pod = pod;
    this.node = node;
    this.shape = shape;
    chmodSync(this.shm, 0o1777);
    this.onRemoval(() => rmSync(this.shm, { recursive: true }));
  }

  static async make(wanted: Partial<Shape> = {}): Promise<Sandbox> {
    const shape = { ...usual, ...wanted };
    const [pod, node] = await Promise.all([addNamespace('pod'), addNamespace('node')]);
    const sandbox = new Sandbox(pod, node, shape);
    try {
      await sandbox.#connect(shape);
      return sandbox;
    } catch (error) {
      await sandbox[Symbol.asyncDispose]();
      throw error;
    }
  }

  async connectPod(): Promise<void> {
    await this.ip('pod', ...podLines(this.shape));
  }

  get families(): Families {
    return this.shape.families;
  }

  get familyList(): Family[] {
    return familiesOf(this.families);
  }

  /** The inode of the pod's network namespace, which the termination message should contain. */
  get inode(): number {
    return statSync(pathOf(this.pod)).ino;
  }

  ip(where: 'pod' | 'node', ...lines: string[]): Promise<string> {
    return run('ip', ['-netns', this[where], '-batch', '-'], `${lines.join('\n')}\n`);
  }

  exec(where: 'pod' | 'node', command: string, args: string[] = [], input = ''): Promise<string> {
    return run(...inside(this[where], command, ...args), input);
  }

  /** Registers a clean-up for the end of the sandbox. Clean-ups run in reverse order. */
  onRemoval(cleanup: () => Promise<void> | void): void {
    this.#cleanups.push(cleanup);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const cleanup of this.#cleanups.reverse()) await cleanup();
    await Promise.all([removeNamespace(this.pod), removeNamespace(this.node)]);
  }

  async #connect(shape: Shape): Promise<void> {
    await Promise.all(
      (['pod', 'node'] as const).map((where) => this.exec(where, 'sh', ['-c', withoutDuplicateDetection])),
    );
    const lines = linkLines(shape, this.pod);
    await this.ip('node', ...lines.node);
    await this.ip('pod', ...lines.pod);
  }
}

/** The machine's boot ID, which is the second half of a sandbox's identity. */
export const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
