import type { ReachCheck } from '../contract.ts';
import { dial } from '../dial.ts';
import { failed, held } from '../finding.ts';
import { patientLookUp } from '../look-up.ts';
import type { Reason } from '../reasons.ts';
import { type Attempt, now } from '../waiting.ts';

/** One try gets this long: two retransmissions of the first packet fit in (RFC 6298: after 1 s and 3 s). */
const attempt = 4000;

/** A TCP connect to a host and port, by name or address. */
export function attemptReach({ host, port }: ReachCheck): Attempt {
  const at = `${host} port ${port}`;
  const lookup = patientLookUp();
  return async (deadline) => {
    const dialled = await dial({
      host,
      port,
      lookup,
      limit: Math.min(attempt, Math.max(deadline - now(), 1)),
    });
    if (dialled.as === 'silent') {
      if (!dialled.resolved) return failed('name-unknown', `no answer on the name ${host}`);
      return failed('connect-timed-out', `no answer from ${at}`);
    }
    if (dialled.as === 'connected') {
      dialled.socket.destroy();
      return held('it');
    }
    return failed(reasonFor(dialled.code), `${dialled.code} for ${at}`);
  };
}

/** The reason that an error of `connect` or of the name look-up stands for. */
export function reasonFor(code: string): Reason {
  if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return 'connect-refused';
  if (code === 'ETIMEDOUT') return 'connect-timed-out';
  return /^(ENOTFOUND|EAI_)/.test(code) ? 'name-unknown' : 'unreachable';
}
