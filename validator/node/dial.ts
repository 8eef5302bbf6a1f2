import type { LookupFunction } from 'node:net';
import type { Dialled, DialOptions } from '../platform.ts';
import { net } from './builtins.ts';

/** `dial` of the platform. */
export function dial({ limit, lookUp, ...options }: DialOptions): Promise<Dialled> {
  return new Promise((resolve) => {
    const socket = net().connect({ ...options, ...(lookUp && { lookup: asLookup(lookUp) }) });
    const timer = setTimeout(() => {
      socket.destroy();
      resolve({ as: 'silent', resolved });
    }, limit);
    let resolved = false;
    socket.on('connectionAttempt', () => {
      resolved = true;
    });
    // the kernel's routing fails a connect at once, before Node counts it as an attempt
    let tried = false;
    socket.on('connectionAttemptFailed', () => {
      tried = true;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const code = error.code ?? error.message;
      resolve({ as: tried || error.syscall !== 'connect' ? 'refused' : 'no-route', code });
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve({ as: 'connected', socket });
    });
  });
}

/** A look-up of names as `net.connect` calls it. */
function asLookup(lookUp: NonNullable<DialOptions['lookUp']>): LookupFunction {
  return (host, options, callback) => {
    lookUp(host).then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
