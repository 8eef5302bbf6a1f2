import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ControlGroup } from './control-group.ts';

export interface Endpoint {
  host: string;
  port: number;
  /** PEM certificate of the authority that signed the server's certificate. */
  ca: string;
}

/** The results of ordinary creations of pods, which must succeed during an attack. */
export interface Innocents {
  count: number;
  failed: string[];
  /** The duration of each creation in milliseconds, including its retries. */
  took: number[];
  retries: number;
}

export interface Schedule {
  count: number;
  /** The period in milliseconds over which creations begin, at even intervals. */
  over: number;
}

const child = fileURLToPath(new URL('./direct-innocents-child.ts', import.meta.url));

/** Calls a server as an API server does when users create ordinary pods. The calls come from a separate process. */
export async function directInnocents(endpoint: Endpoint, schedule: Schedule): Promise<Innocents> {
  const group = new ControlGroup('innocents');
  const [command, args] = group.inside([process.execPath, [child]]);
  const caller = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const message = once(caller, 'message');
  const ended = once(caller, 'exit');
  caller.send({ endpoint, schedule });
  const early = ended.then(([code]) => {
    throw new Error(`the innocents' process ended with ${code}`);
  });
  const [result] = await Promise.race([message, early]);
  early.catch(() => {});
  await ended;
  await group.remove();
  return result as Innocents;
}
