import { failed, passed } from '../finding.ts';
import { now } from '../host/loop.ts';
import { dial } from '../host/tcp.ts';
import type { Reason } from '../reasons.ts';
import type { ReachCheck } from '../shared/contract.ts';
import type { Attempt } from '../simultaneous.ts';

/** The time of an attempt, in milliseconds: the first packet is sent again twice (RFC 6298: after 1 s and 3 s). */
const attempt = 4000;

/** Connects over TCP to a port of a host, which is a name or an address. */
export function attemptReach({ host, port }: ReachCheck): Attempt {
  const at = `${host} port ${port}`;
  return async (deadline) => {
    const limit = Math.min(attempt, Math.max(deadline - now(), 1));
    const dialled = await dial({ host, port, limit });
    if (dialled.as === 'silent') {
      if (!dialled.resolved) return failed('name-unknown', `no answer on the name ${host}`);
      return failed('connect-timed-out', `no answer from ${at}`);
    }
    if (dialled.as === 'connected') {
      dialled.socket.close();
      return passed('a connection');
    }
    return failed(reasonFor(dialled.code), `${dialled.code} for ${at}`);
  };
}

export function reasonFor(code: string): Reason {
  if (code === 'ECONNREFUSED' || code === 'ECONNRESET') return 'connect-refused';
  if (code === 'ETIMEDOUT') return 'connect-timed-out';
  return /^(ENOTFOUND|EAI_)/.test(code) ? 'name-unknown' : 'unreachable';
}
