import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GoProgram } from '../../support/go-program.ts';
import { run } from '../../support/run.ts';
import { addNamespace, inside, pathOf, removeNamespace } from '../harness/namespaces.ts';
import type { Sandbox } from '../harness/sandbox.ts';

// a version that Go 1.19 of Debian 12 can build; v1.3.0 needs 1.21
const program = new GoProgram('github.com/containernetworking/cni/cnitool', 'v1.1.2');

/** Builds the CNI project's own tool once. It calls plugins as a container runtime does. @returns its path */
export async function cnitool(): Promise<string> {
  await program.build();
  return program.path;
}

const debianPlugins = '/usr/lib/cni';
const ownPlugin = fileURLToPath(new URL('./plugin.ts', import.meta.url));
const cniVersion = '1.0.0';

/** The network that a runtime adds first to each sandbox: its plugin brings `lo` up. */
const loopback = { cniVersion, name: 'lo', plugins: [{ type: 'loopback' }] };

const bridge = { type: 'bridge', bridge: 'cni0', isDefaultGateway: true };

/** A script that mounts a folder of the test at /var/lib, where the tool writes its cache, and then runs the tool. */
const withOwnState = 'mount --bind "$1" /var/lib && shift && exec "$@"';

/** A node with a real plugin chain: Debian's `bridge` and `host-local`, then the mesh's plugin. */
export class PluginChain implements AsyncDisposable {
  readonly #tool: string;
  readonly #node: string;
  readonly #folder: string;

  private constructor(tool: string, node: string, folder: string) {
    this.#tool = tool;
    this.#node = node;
    this.#folder = folder;
  }

  /** @param program a plugin that Debian does not have, and that is built */
  static async make(program?: GoProgram): Promise<PluginChain> {
    if (!existsSync(join(debianPlugins, 'bridge'))) {
      throw new Error(
        `NOT RUN: no CNI plugins in ${debianPlugins}; as root on Debian: tests/netns/install.sh`,
      );
    }
    const tool = await cnitool();
    const folder = await mkdtemp(join(tmpdir(), 'cni-gate-chain-'));
    for (const name of ['net.d', 'bin', 'state']) await mkdir(join(folder, name));
    if (program) await symlink(program.path, join(folder, 'bin', basename(program.path)));
    const own = join(folder, 'bin', 'mesh-rules');
    await writeFile(own, `#!/bin/sh\nexec '${process.execPath}' '${ownPlugin}'\n`);
    await chmod(own, 0o755);
    await writeFile(join(folder, 'net.d', '00-lo.conflist'), JSON.stringify(loopback));
    return new PluginChain(tool, await addNamespace('chain'), folder);
  }

  /**
   * @param main settings of the plugin that makes the pod's interface; by default, of `bridge`
   * @param routes the destinations of the pod's routes, for a plugin that adds none itself
   * @param version of the CNI specification
   */
  async configure(options: {
    withMesh: boolean;
    main?: object;
    routes?: string[];
    version?: string;
  }): Promise<void> {
    const { withMesh, main = bridge, routes = [], version = cniVersion } = options;
    const ipam = {
      type: 'host-local',
      dataDir: join(this.#folder, 'state', 'networks'),
      ranges: [[{ subnet: '10.244.2.0/24' }], [{ subnet: 'fd00:10:244:2::/64' }]],
      routes: routes.map((dst) => ({ dst })),
    };
    const plugins = [{ ...main, ipam }, ...(withMesh ? [{ type: 'mesh-rules' }] : [])];
    const text = JSON.stringify({ cniVersion: version, name: 'pods', plugins });
    await writeFile(join(this.#folder, 'net.d', '10-pods.conflist'), text);
  }

  async add(sandbox: Sandbox): Promise<string[]> {
    await sandbox.ip('pod', 'link set lo down');
    await this.#call('add', 'lo', sandbox);
    const result: { ips: { address: string }[] } = JSON.parse(await this.#call('add', 'pods', sandbox));
    return result.ips.map(({ address }) => address.replace(/\/\d+$/, ''));
  }

  /** Runs a script on the node. */
  async exec(script: string): Promise<void> {
    await run(...inside(this.#node, 'sh', '-c', script), '');
  }

  async remove(sandbox: Sandbox): Promise<void> {
    await this.#call('del', 'pods', sandbox);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeNamespace(this.#node);
    await rm(this.#folder, { recursive: true, force: true });
  }

  #call(verb: 'add' | 'del', network: string, sandbox: Sandbox): Promise<string> {
    const words = [this.#tool, verb, network, pathOf(sandbox.pod)];
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
