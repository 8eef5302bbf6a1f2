import { fileURLToPath } from 'node:url';
import { startContainer } from './container.ts';
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
export async function dial(sandbox: Sandbox, user: number, dials: Dial[]): Promise<(number | string)[]> {
  const end = await startContainer(sandbox, {
    args: ['/dialer.ts', JSON.stringify(dials)],
    mounts: { '/dialer.ts': program },
    environment: {},
    user,
    group: user,
  }).ended;
  if (end.code !== 0) throw new Error(`the dialer ended with ${end.code}:\n${end.log}`);
  return JSON.parse(end.log);
}

export async function dialFromNode(sandbox: Sandbox, dials: Dial[]): Promise<(number | string)[]> {
  return JSON.parse(await sandbox.exec('node', process.execPath, [program, JSON.stringify(dials)]));
}
