import { failed } from '../finding.ts';
import type { Pod } from '../pod.ts';
import type { Family } from '../shared/addresses.ts';
import type { CapturedCheck } from '../shared/contract.ts';
import type { Attempt } from '../simultaneous.ts';
import { readListeners, surelyListens } from '../sockets.ts';
import { askOutside, connectTo, limitOf, ofProxy, withoutListener } from './connect.ts';

/**
 * Checks Istio's ambient mode, where ztunnel listens in the pod's network namespace. The check binds no port.
 * @param isLater whether this is a recheck
 */
export function attemptCaptured(check: CapturedCheck, family: Family, pod: Pod, isLater = false): Attempt {
  return async (deadline) => {
    const unsure = check.listeners.filter((port) => !surelyListens(port, family));
    const closed = unsure.length > 0 ? withoutListener(unsure, family, readListeners()) : [];
    if (closed.length > 0)
      return failed('no-listener', `no listener on ${closed.join(', ')} in the pod (${family})`);
    const limit = limitOf(deadline);
    const finding = await askOutside(check.connect, family, pod.apiServer, (target) =>
      connectTo(target, check.outbound, limit, { missing: 'not-captured', elsewhere: 'not-captured' }),
    );
    return isLater ? ofProxy(finding, check.outbound, family) : finding;
  };
}
