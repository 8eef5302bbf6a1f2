import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { GoProgram } from '../../support/go-program.ts';
import { run } from '../../support/run.ts';
import { addNamespace, inside, pathOf, removeNamespace } from '../harness/namespaces.ts';
import type { Sandbox } from '../harness/sandbox.ts';

// a version that Go 1.19 of Debian 12 can build; v1.3.0 needs Go 1.21
const program = new GoProgram('github.com/containernetworking/cni/cnitool', 'v1.1.2');

/** Builds `cnitool` of the CNI project once: a tool that calls plugins like a runtime. @returns its path */
export async function cnitool(): Promise<string> {
  await program.build();
  return program.path;
}

const debianPlugins = '/usr/lib/cni';
const cniVersion = '1.0.0';

/** The network that a runtime adds first to each sandbox: its plugin brings `lo` up. */
const loopback = { cniVersion, name: 'lo', plugins: [{ type: 'loopback' }] };

/** A script that mounts a folder of the test at /var/lib, where the tool writes its cache, and then runs the tool. */
const withOwnState = 'mount --bind "$1" /var/lib && shift && exec "$@"';

/** The plugins of a network, and their settings. */
export interface Network {
  /** Settings of the plugin that creates the pod's interface. */
  main: object;
  /** The destinations of the pod's routes, for a plugin that adds no routes itself. */
  routes?: string[];
  /** The version of the CNI specification. */
  version?: string;
  /** A plugin that the test builds, because Debian has no package of it. */
  program?: GoProgram;
}

/** A node on which real plugins connect pods: Debian's plugins with `host-local`, or a plugin that the test builds. */
export class PluginChain implements AsyncDisposable {
  readonly #tool: string;
  readonly #node: string;
  readonly #folder: string;

  private constructor(tool: string, node: string, folder: string) {
    this.#tool = tool;
    this.#node = node;
    this.#folder = folder;
  }

  static async make({ main, routes = [], version = cniVersion, program }: Network): Promise<PluginChain> {
    if (!existsSync(join(debianPlugins, 'bridge'))) {
      throw new Error(
        `NOT RUN: no CNI plugins in ${debianPlugins}; as root on Debian: tests/netns/install.sh`,
      );
    }
    const tool = await cnitool();
    const folder = await mkdtemp(join(tmpdir(), 'cni-gate-chain-'));
    for (const name of ['net.d', 'bin', 'state']) await mkdir(join(folder, name));
    if (program) await symlink(program.path, join(folder, 'bin', basename(program.path)));
    const ipam = {
      type: 'host-local',
      dataDir: join(folder, 'state', 'networks'),
      ranges: [[{ subnet: '10.244.2.0/24' }], [{ subnet: 'fd00:10:244:2::/64' }]],
      routes: routes.map((dst) => ({ dst })),
    };
    const pods = { cniVersion: version, name: 'pods', plugins: [{ ...main, ipam }] };
    await writeFile(join(folder, 'net.d', '00-lo.conflist'), JSON.stringify(loopback));
    await writeFile(join(folder, 'net.d', '10-pods.conflist'), JSON.stringify(pods));
    return new PluginChain(tool, await addNamespace('chain'), folder);
  }

  async add(sandbox: Sandbox): Promise<string[]> {
    await sandbox.ip('pod', 'link set lo down');
    await this.#add('lo', sandbox);
    const result: { ips: { address: string }[] } = JSON.parse(await this.#add('pods', sandbox));
    return result.ips.map(({ address }) => address.replace(/\/\d+$/, ''));
  }

  /** Runs a script on the node. */
  async exec(script: string): Promise<void> {
    await run(...inside(this.#node, 'sh', '-c', script), '');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeNamespace(this.#node);
    await rm(this.#folder, { recursive: true, force: true });
  }

  #add(network: string, sandbox: Sandbox): Promise<string> {
    const words = [this.#tool, 'add', network, pathOf(sandbox.pod)];
    const state = join(this.#folder, 'state');
    return run(
      ...inside(this.#node, 'unshare', '--mount', 'sh', '-c', withOwnState, 'sh', state, ...words),
      '',
      {
        PATH: process.env.PATH,
        CNI_PATH: `${debianPlugins}:${join(this.#folder, 'bin')}`,
        NETCONFPATH: join(this.#folder, 'net.d'),
      },
    );
  }
}
