import type { Platform } from '../platform.ts';
import { HostDatagramSocket } from './datagrams.ts';
import { dial } from './dial.ts';
import { codeOf, onFile, SystemError } from './errors.ts';
import { listen } from './listen.ts';
import { lookUp } from './look-up.ts';
import { after, afterPending, handleDefects, watch } from './loop.ts';
import { interfaceFlag, native, pollEvent } from './native.ts';

/** The platform of the program in users' pods. */
export const hostPlatform: Platform = {
  arguments: native.arguments,
  environment: native.environment,
  userId: native.userId,
  groupId: native.groupId,

  now: native.now,
  after,
  afterPending,

  readFile: (path) => onFile('read', path, () => native.readFile(path)),
  writeFile: (path, text) => onFile('write', path, () => native.writeFile(path, text.toWellFormed())),
  exists: native.exists,
  readLink: (path) => onFile('readlink', path, () => native.readLink(path)),
  random: (count) => onFile('read', '/dev/urandom', () => native.random(count)),
  encode: (text) => native.encode(text.toWellFormed()),
  write(descriptor, bytes) {
    try {
      // a native function sees the whole buffer of a part
      return native.write(descriptor, bytes.slice());
    } catch (error) {
      throw new SystemError(codeOf(error));
    }
  },

  networkInterfaces,
  lookUp,
  dial,
  listen,
  datagramSocket: (family) => new HostDatagramSocket(family),

  onSignal(names, act) {
    const arriving = native.signals([...names]);
    watch(arriving, pollEvent.in, () => act(native.readSignal(arriving) as (typeof names)[number]), true);
  },
  onDefect: handleDefects,
  exit: native.exit,
};

/** As Node lists them (libuv, `uv__ifaddr_exclude`): interfaces that are up and running, with their IP addresses. */
function networkInterfaces(): Record<string, { address: string; mac: string }[]> {
  const entries = native.interfaces();
  const running = entries.filter(
    ({ flags }) => (flags & interfaceFlag.up) !== 0 && (flags & interfaceFlag.running) !== 0,
  );
  const macs = new Map(entries.flatMap(({ name, mac }) => (mac === undefined ? [] : [[name, mac]])));
  const found: Record<string, { address: string; mac: string }[]> = {};
  for (const { name, address } of running) {
    if (address === undefined) continue;
    const mac = macs.get(name) ?? '00:00:00:00:00:00';
    found[name] = [...(found[name] ?? []), { address, mac }];
  }
  return found;
}
