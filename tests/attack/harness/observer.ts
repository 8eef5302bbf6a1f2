import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ControlGroup } from './control-group.ts';

export interface Target {
  /** The id of its Node process, as the test sees it. */
  pid: number;
  /** The `folder` of its control group. */
  group: string;
  /** Where its metrics are: `http://address:port/metrics`. */
  metrics: string;
}

/** What was seen of a server from the beginning of an attack to its end. */
export interface Observed {
  /** Bytes: the most that its process had in memory, or its control group if that was more. */
  peak: number;
  /** Milliseconds: the longest time for which its event loop was blocked, by its own metric. */
  blocked: number;
  /** Milliseconds of it at most for which the kernel gave its main thread no processor. */
  starved: number;
  alive: boolean;
  /** Processes that the kernel killed for want of memory. */
  killed: number;
  /** How many samples there are; an observer without any has seen nothing. */
  samples: number;
  memory: number[];
}

export interface Observation {
  /** Ends it. The last sample is of this moment. */
  stop(): Promise<Observed>;
}

const child = fileURLToPath(new URL('./observer-child.ts', import.meta.url));

/** Looks at a server four times a second, from a process of its own: the one that attacks is too busy to. */
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
