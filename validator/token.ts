import { fs } from './builtins.ts';

const bytes = 32;

/** Bytes that nobody else knows. Loading `node:crypto` for them would take longer than the proof does. */
export function makeToken(): Buffer {
  const token = Buffer.alloc(bytes);
  // every container has this device: OCI runtime specification, "Default Devices"
  const { closeSync, openSync, readSync } = fs();
  const file = openSync('/dev/urandom', 'r');
  try {
    readSync(file, token);
  } finally {
    closeSync(file);
  }
  return token;
}
