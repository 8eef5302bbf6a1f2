import { fileURLToPath } from 'node:url';
import type { Sandbox } from './sandbox.ts';

const program = fileURLToPath(new URL('./dialer.ts', import.meta.url));

export interface Dial {
  host: string;
  port: number;
  from?: string;
  /** Reports `connected` as soon as the connection is made, without waiting for a banner. */
  only?: 'connect';
}

/** The result of each connection: the port in the banner, the error's code, or `silence` after 1 s. */
export async function dialFrom(
  where: 'pod' | 'node',
  sandbox: Sandbox,
  dials: Dial[],
): Promise<(number | string)[]> {
  return JSON.parse(await sandbox.exec(where, process.execPath, [program, JSON.stringify(dials)]));
}
