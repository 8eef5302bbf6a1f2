import { close, watch } from './loop.ts';
import { native, pollEvent } from './native.ts';

const running = new Map<string, Promise<string[]>>();

/**
 * The addresses of a name, by the system's resolver. Rejects with the code of the error. A look-up that is in progress
 * serves the next caller too: the C library waits 5 s for each name server of `resolv.conf` that does not answer
 * (resolv.conf(5), `timeout`), so one that restarted with each attempt would never reach the second server.
 */
export function lookUp(name: string): Promise<string[]> {
  const found = running.get(name) ?? begin(name).finally(() => running.delete(name));
  running.set(name, found);
  return found;
}

function begin(name: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    // names in /etc/hosts are in lower case (Kubernetes, `hostAliases`), and musl compares them as they are
    const pipe = native.lookUp(name.toWellFormed().toLowerCase());
    let answer = '';
    watch(pipe, pollEvent.in, () => {
      const bytes = native.read(pipe);
      answer += String.fromCharCode(...bytes);
      if (bytes.length > 0) return;
      close(pipe);
      if (answer.startsWith('!')) reject(new Error(codeFor(answer.slice(1))));
      else resolve(answer.split(' '));
    });
  });
}

/** One code for the two ways in which a name has no address. */
const codeFor = (code: string): string => (/^EAI_(NONAME|NODATA)$/.test(code) ? 'ENOTFOUND' : code);
