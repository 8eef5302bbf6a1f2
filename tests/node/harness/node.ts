import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, cpSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cluster } from '../../cluster/harness/cluster.ts';
import { removeGroup } from '../../support/cgroups.ts';
import { mortal } from '../../support/mortal.ts';
import { run } from '../../support/run.ts';
import { type Image, writeImages } from '../images/layout.ts';
import { inRun } from '../setup.ts';
import { chainFile, makeNetwork, pluginFolder, primaryChain, removeBridge } from './network.ts';
import { type Start, startsIn } from './records.ts';
import { containerdSettings, kubeletSettings, nodeAddress } from './settings.ts';

const boot = fileURLToPath(new URL('../boot.sh', import.meta.url));

/** How many seconds a boot may take: far more than a boot takes on a busy machine. */
const patience = 90;

interface NodeObject {
  spec: { taints?: { key: string }[] };
  status: { nodeInfo: { bootID: string }; conditions: { type: string; status: string }[] };
}

/**
 * A node that runs real pods, with the kubelet, containerd, runc, and a chain of CNI plugins. The node has its
 * own mount and PID namespaces, but uses the run's network. A power cut kills the node's process 1, and the kernel then
 * ends the node's other processes. `/run` is new at each boot, and `disk` keeps its files.
 */
export class RealNode {
  readonly name: string;
  /** The node's disk as a folder: `etc/cni`, `opt/cni`, `var/lib/...`, `var/log`. */
  readonly disk: string;
  readonly #cluster: Cluster;
  readonly #kubelet: string[];
  #bootId = '';
  #process: ChildProcess | undefined;

  private constructor(cluster: Cluster, name: string) {
    const { kubelet, group } = inRun();
    this.name = name;
    this.#cluster = cluster;
    this.disk = mkdtempSync(join(tmpdir(), `${name}-`));
    this.#kubelet = [
      kubelet,
      '--config=/etc/kubernetes/kubelet.yaml',
      '--kubeconfig=/etc/kubernetes/kubelet.kubeconfig',
      `--hostname-override=${name}`,
      `--node-ip=${nodeAddress}`,
      '--v=2',
    ];
    this.write('etc/kubernetes/kubelet.yaml', JSON.stringify(kubeletSettings(group)));
    this.write('etc/kubernetes/containerd.toml', containerdSettings);
    mkdirSync(join(this.disk, 'run'));
  }

  /**
   * Sets up a node with only the primary network's plugin in its chain, and boots it. @param images all images of its
   * pods: nothing is pulled
   */
  static async start(cluster: Cluster, name: string, images: Image[]): Promise<RealNode> {
    const node = new RealNode(cluster, name);
    const [user, serving] = await Promise.all([
      cluster.user(`system:node:${name}`, ['system:nodes']),
      cluster.authority.serving([name, nodeAddress]),
    ]);
    node.write('etc/kubernetes/kubelet.kubeconfig', readFileSync(user.kubeconfig, 'utf8'));
    node.write('etc/kubernetes/kubelet.crt', serving.certificate);
    node.write('etc/kubernetes/kubelet.key', serving.key);
    node.write('etc/kubernetes/authority.crt', cluster.authority.pair.certificate);
    cpSync(pluginFolder, join(node.disk, 'opt/cni/bin'), { recursive: true });
    // after a failed test, these logs are kept together with those of the control plane
    const [logs, kept] = [join(node.disk, 'var/log'), join(cluster.folder, 'log', name)];
    mkdirSync(logs, { recursive: true });
    mkdirSync(kept);
    await run('mount', ['--bind', logs, kept]);
    await writeImages(join(node.disk, 'images'), images);
    await makeNetwork(cluster);
    await node.boot();
    return node;
  }

  /** The node's `status.nodeInfo.bootID`, which changes at each boot. */
  get bootId(): string {
    return this.#bootId;
  }

  get chain(): string {
    return join(this.disk, 'etc/cni/net.d', chainFile);
  }

  starts(): Start[] {
    return startsIn(join(this.disk, 'var/log', `events-${this.#bootId}`));
  }

  /** Overwrites a file on the disk in place, because containerd does not notice a file that is moved there. */
  write(path: string, text: string): void {
    const target = join(this.disk, path);
    mkdirSync(join(target, '..'), { recursive: true });
    writeFileSync(target, text, { mode: 0o600 });
  }

  /** Boots the node, and waits until the API server shows it Ready with the new boot ID. */
  async boot(): Promise<void> {
    if (this.#process !== undefined) throw new Error(`${this.name} is already on`);
    this.#bootId = randomUUID();
    this.write('boot_id', `${this.#bootId}\n`);
    // each boot begins with the primary network's chain, without plugins that were added to it
    this.write(join('etc/cni/net.d', chainFile), JSON.stringify(primaryChain));
    const namespaces = ['--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
    const log = join(this.disk, 'var/log/boot.log');
    const output = openSync(log, 'a');
    const child = spawn(...mortal('unshare', [...namespaces, boot, this.disk, ...this.#kubelet]), {
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    this.#process = child;
    const failed = once(child, 'exit').then(() => {
      throw new Error(`${this.name} shut down unexpectedly:\n${readFileSync(log, 'utf8')}`);
    });
    // the process also ends at a later power cut, which is no failure
    failed.catch(() => {});
    await Promise.race([failed, this.#ready()]);
  }

  /** Kills everything on the node. */
  async powerCut(): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#process = undefined;
    if (child.exitCode === null && child.signalCode === null) {
      const off = once(child, 'exit');
      process.kill(onlyChildOf(child), 'SIGKILL');
      // process 1 is gone only when all other processes in its namespace are gone
      await off;
    }
    removeBridge();
    removeGroup(join(inRun().group, 'kubepods'));
  }

  /** Suspends the kubelet only, so that the node becomes NotReady while its pods continue to run. */
  freezeKubelet(): void {
    process.kill(this.#kubeletProcess(), 'SIGSTOP');
  }

  thawKubelet(): void {
    process.kill(this.#kubeletProcess(), 'SIGCONT');
  }

  #kubeletProcess(): number {
    const [kubelet = ''] = this.#kubelet;
    const found =
      this.#process && descendantsOf(Number(this.#process.pid)).find((pid) => commandOf(pid) === kubelet);
    if (found === undefined) throw new Error(`no kubelet runs on ${this.name}`);
    return found;
  }

  async #ready(): Promise<void> {
    await this.#cluster.api.until<NodeObject>(
      `/api/v1/nodes?fieldSelector=metadata.name%3D${this.name}`,
      ({ spec, status }) =>
        status.nodeInfo.bootID === this.#bootId &&
        status.conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True') &&
        (spec.taints ?? []).length === 0,
      patience,
    );
  }
}

/** The process that `unshare` started and waits for. */
const onlyChildOf = ({ pid }: ChildProcess): number => childrenOf(Number(pid))[0] ?? Number.NaN;

const childrenOf = (pid: number): number[] =>
  ofProcess(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number);

function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

const commandOf = (pid: number): string => ofProcess(pid, 'cmdline').split('\0')[0] ?? '';

/** Reads a file in `/proc/PID`; empty if the process has ended. */
function ofProcess(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
