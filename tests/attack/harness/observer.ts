import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ControlGroup } from './control-group.ts';

export interface Target {
  /** The process ID of the server's Node process, as the test sees it. */
  pid: number;
  /** The `folder` of the server's control group. */
  group: string;
  /** The URL of the server's metrics: `http://address:port/metrics`. */
  metrics: string;
}

/** What an observer saw of a server during an attack. */
export interface Observed {
  /** Peak memory in bytes, of the server's process or of its control group, whichever is larger. */
  peak: number;
  /** The longest time for which the server's event loop was blocked, in milliseconds, by the server's own metric. */
  blocked: number;
  /** The part of `blocked`, in milliseconds, during which the main thread may have lacked a processor. */
  starved: number;
  alive: boolean;
  /** How many processes the kernel killed because memory ran out. */
  killed: number;
  /** The number of samples. If it is 0, the observer has seen nothing. */
  samples: number;
  memory: number[];
}

export interface Observation {
  /** Ends the observation, after a last sample. */
  stop(): Promise<Observed>;
}

const child = fileURLToPath(new URL('./observer-child.ts', import.meta.url));

/** Samples a server four times a second. This needs a separate process, because the attacking process is too busy. */
export async function observe(target: Target): Promise<Observation> {
  const group = new ControlGroup('observer');
  const [command, args] = group.inside([process.execPath, [child]]);
  const observer = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const begun = once(observer, 'message');
  observer.send(target);
  await begun;
  return {
    stop: async () => {
      const message = once(observer, 'message');
      observer.send('stop');
      const [observed] = await message;
      await once(observer, 'exit');
      await group.remove();
      return observed as Observed;
    },
  };
}
