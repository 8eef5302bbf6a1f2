import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { contained, type Mount } from '../../support/container/container.ts';
import { run } from '../../support/run.ts';
import { addressOf, checkout, endingServices, type Service } from './file.ts';
import { imageOf } from './images.ts';

/** A service under way. */
export interface RunningService {
  child: ChildProcess;
  /** All that it wrote. */
  readonly output: string;
}

/**
 * Brings the services of a compose file up as an engine does: each with the arguments, environment and volumes that
 * the file gives it, after those it depends on. Programs stand in for images; all share one network, in which the
 * services' names lead to this machine.
 *
 * @returns once every service that ends has ended
 * @throws Error with what a service wrote where it should have ended well and did not
 */
export async function up(services: ReadonlyMap<string, Service>): Promise<Map<string, RunningService>> {
  const scratch = mkdtempSync(join(tmpdir(), 'compose-'));
  const hosts = join(scratch, 'hosts');
  writeFileSync(hosts, hostsFile(services));
  for (const address of [...services.values()].flatMap((service) => addressOf(service) ?? [])) {
    await run('ip', ['address', 'add', `${address}/32`, 'dev', 'lo']);
  }
  const ending = endingServices(services);
  const running = new Map<string, RunningService>();
  const ready = new Map<string, Promise<void>>();
  const start = (name: string): Promise<void> => {
    const known = ready.get(name);
    if (known !== undefined) return known;
    const service = services.get(name);
    if (service === undefined) throw new Error(`depends_on names ${name}, which is no service`);
    const begun = Promise.all(Object.keys(service.depends_on ?? {}).map(start)).then(async () => {
      const process = begin(name, service, scratch, hosts);
      running.set(name, process);
      if (ending.has(name)) await endedWell(name, process);
    });
    ready.set(name, begun);
    return begun;
  };
  try {
    await Promise.all([...services.keys()].map(start));
  } catch (error) {
    down(running);
    throw error;
  }
  return running;
}

/** Ends every service at once. */
export function down(running: ReadonlyMap<string, RunningService>): void {
  for (const { child } of running.values()) child.kill('SIGKILL');
}

function begin(name: string, service: Service, scratch: string, hosts: string): RunningService {
  const image = imageOf(service.image);
  const root = join(scratch, name);
  mkdirSync(join(root, 'etc'), { recursive: true, mode: 0o755 });
  mkdirSync(join(root, 'tmp'), { mode: 0o777 });
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'hosts: files\n');
  const command = [...(service.entrypoint ?? image.entrypoint), ...(service.command ?? [])];
  const [uid = image.uid] = service.user?.split(':').map(Number) ?? [];
  const mounts: Mount[] = [
    ...image.mounts,
    [hosts, '/etc/hosts'],
    ...(service.volumes ?? []).map((volume) => mountOf(volume, scratch)),
  ];
  const child = spawn(...contained({ root, uid, writable: service.read_only !== true, mounts }, command), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/',
      ...service.environment,
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  return {
    child,
    get output() {
      return output;
    },
  };
}

/** `name:/target[:ro]`: a folder of the checkout where it begins with a dot, else one that services share. */
function mountOf(volume: string, scratch: string): Mount {
  const [from = '', target = '', access] = volume.split(':');
  const path = from.startsWith('.') ? resolve(checkout, from) : join(scratch, 'volumes', from);
  if (!from.startsWith('.')) mkdirSync(path, { recursive: true });
  else if (!existsSync(path)) throw new Error(`docker-compose.yml mounts ${from}, which is not there`);
  return [path, target, access === 'ro' ? 'ro' : 'rw'];
}

function hostsFile(services: ReadonlyMap<string, Service>): string {
  const lines = [...services].map(([name, service]) => `${addressOf(service) ?? '127.0.0.1'} ${name}`);
  return ['127.0.0.1 localhost', ...lines, ''].join('\n');
}

async function endedWell(name: string, process: RunningService): Promise<void> {
  const [code] = await once(process.child, 'close');
  if (code !== 0) throw new Error(`service ${name} ended with ${code}:\n${process.output}`);
}
