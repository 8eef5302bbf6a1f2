import type { NamedAddress } from '../platform.ts';
import { codeOf, SystemError } from './errors.ts';
import { close, watch } from './loop.ts';
import { native, pollEvent } from './native.ts';

/** `lookUp` of the platform. */
export function lookUp(name: string): Promise<NamedAddress[]> {
  return new Promise((resolve, reject) => {
    const pipe = begin(name);
    let answer = '';
    watch(pipe, pollEvent.in, () => {
      const bytes = native.read(pipe);
      answer += String.fromCharCode(...bytes);
      if (bytes.length > 0) return;
      close(pipe);
      if (answer.startsWith('!')) reject(new SystemError(nodesCode(answer.slice(1))));
      else resolve(answer.split(' ').map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
    });
  });
}

/** Names in /etc/hosts are in lower case (Kubernetes, `hostAliases`), and musl compares them as they are. */
function begin(name: string): number {
  try {
    return native.lookUp(name.toWellFormed().toLowerCase());
  } catch (error) {
    throw new SystemError(codeOf(error));
  }
}

/** Node has one code for the two ways in which a name has no address. */
const nodesCode = (code: string): string => (/^EAI_(NONAME|NODATA)$/.test(code) ? 'ENOTFOUND' : code);
