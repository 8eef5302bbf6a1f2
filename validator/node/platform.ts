import type { DatagramSocket, Platform } from '../platform.ts';
import { dgram, dns, fs, os } from './builtins.ts';
import { dial } from './dial.ts';
import { listen } from './listen.ts';

/** The platform on Node: for `cni-gate validate` and for unit tests. */
export const nodePlatform: Platform = {
  arguments: () => process.argv.slice(2),
  environment: () => process.env,
  userId: () => process.getuid?.() ?? 0,
  groupId: () => process.getgid?.() ?? 0,

  now: () => process.uptime() * 1000,
  after(milliseconds, act) {
    const timer = setTimeout(act, milliseconds);
    return () => clearTimeout(timer);
  },
  // the second turn comes after a poll
  afterPending: () => new Promise((resolve) => setImmediate(() => setImmediate(resolve))),

  readFile: (path) => fs().readFileSync(path, 'utf8'),
  writeFile: (path, text) => fs().writeFileSync(path, text),
  exists: (path) => fs().existsSync(path),
  readLink: (path) => fs().readlinkSync(path),
  random: readRandom,
  encode: (text) => Buffer.from(text),
  write: (descriptor, bytes) => fs().writeSync(descriptor, bytes, 0),

  networkInterfaces: () => os().networkInterfaces(),
  // as `net.connect` asks: only families of which this machine has an address
  lookUp: (name) => dns().promises.lookup(name, { all: true, hints: dns().ADDRCONFIG }),
  dial,
  listen,
  datagramSocket: (family): DatagramSocket => dgram().createSocket(family === 'IPv4' ? 'udp4' : 'udp6'),

  onSignal(names, act) {
    for (const name of names) process.on(name, () => act(name));
  },
  onDefect(act) {
    process.on('uncaughtException', act);
  },
  exit: (code) => process.exit(code),
};

/** Loading `node:crypto` would take longer than the proof. */
function readRandom(count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  // every container has this device: OCI runtime specification, "Default Devices"
  const { closeSync, openSync, readSync } = fs();
  const file = openSync('/dev/urandom', 'r');
  try {
    readSync(file, bytes);
  } finally {
    closeSync(file);
  }
  return bytes;
}
