import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { dns } from './builtins.ts';

/**
 * A name look-up for connects that are tried again and again: one that is under way serves the next connect too. The
 * C library waits 5 s for each name server of `resolv.conf` that does not answer (resolv.conf(5), `timeout`), so a
 * look-up that began anew with each try would never come to the second one.
 */
export function patientLookUp(): LookupFunction {
  let running: Promise<LookupAddress[]> | undefined;
  return (host, options, callback) => {
    running ??= dns()
      .promises.lookup(host, { ...options, all: true })
      .finally(() => {
        running = undefined;
      });
    running.then(
      (addresses) => {
        const [first] = addresses;
        if (options.all) callback(null, addresses);
        else callback(null, first?.address ?? '', first?.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };
}
