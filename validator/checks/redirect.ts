import { type Failed, type Finding, failed } from '../finding.ts';
import { close } from '../host/loop.ts';
import { accepting } from '../host/tcp.ts';
import type { Pod } from '../pod.ts';
import type { Family } from '../shared/addresses.ts';
import type { RedirectCheck } from '../shared/contract.ts';
import { targetsOf } from '../shared/targets.ts';
import type { Attempt } from '../simultaneous.ts';
import { loopback } from '../sockets.ts';
import { type Ask, askAll, askOutside, connectTo, limitOf, ofProxy } from './connect.ts';

/**
 * Connects to an address where nothing answers, like linkerd's validator and `istio-iptables --run-validation`. The
 * connection must end at the proxy's port. Unlike these, this check distinguishes causes, and retries.
 * @param isLater whether the proxy already has its port; otherwise, this program listens on the port
 */
export function attemptRedirect(check: RedirectCheck, family: Family, pod: Pod, isLater = false): Attempt {
  // an inbound check uses only `lo`, so it cannot accept the kubelet's connection, which `witness` waits for
  const from = check.direction === 'inbound' ? loopback[family] : undefined;
  return async (deadline) => {
    const wrong = wrongUser(check, pod.userId, pod.groupId);
    if (wrong) return wrong;
    const listener = isLater ? undefined : accepting(check.listen, family, close, undefined, from);
    if (typeof listener === 'string') return cannotListen(check.listen, family, listener);
    const limit = limitOf(deadline);
    const reasons = { missing: 'not-redirected', elsewhere: 'answered-by-someone-else' } as const;
    try {
      const finding = await askByRule(check, family, pod, (target) =>
        connectTo(target, check.listen, limit, reasons, from),
      );
      return isLater ? ofProxy(finding, check.listen, family) : finding;
    } finally {
      if (listener !== undefined) close(listener);
    }
  };
}

async function askByRule(check: RedirectCheck, family: Family, pod: Pod, ask: Ask): Promise<Finding> {
  if (check.direction === 'outbound') return askOutside(check.connect, family, pod.apiServer, ask);
  const finding = await askAll(targetsOf(check.connect, family), ask);
  // inbound targets are addresses on `lo` that the mesh adds, so without a route, the mesh's rules are missing
  const isUnrouted = !finding.passed && finding.reason === 'no-route';
  return isUnrouted ? { ...finding, reason: 'not-redirected' } : finding;
}

/** Returns a failure if the rule does not apply to this user or group, so that the check would show nothing. */
export function wrongUser(check: RedirectCheck, userId: number, groupId = userId): Failed | undefined {
  const { asUser, asGroup, notAsUser, notAsGroup } = check;
  if (isOther(asUser, userId)) return wrong(`as user ${userId}, where the rule is for user ${asUser}`);
  if (isOther(asGroup, groupId)) return wrong(`as group ${groupId}, where the rule is for group ${asGroup}`);
  if (notAsUser === userId) return wrong(`as user ${userId}, which the rule exempts`);
  if (notAsGroup === groupId) return wrong(`as group ${groupId}, which the rule exempts`);
  return undefined;
}

const isOther = (wanted: number | undefined, id: number): boolean => wanted !== undefined && wanted !== id;

const wrong = (seen: string): Failed => ({
  ...failed('wrong-user', `this program run ${seen}`),
  final: true,
});

export function cannotListen(port: number, family: Family, code: string): Failed {
  if (code === 'EADDRINUSE') return failed('port-taken', `port ${port} taken by another program (${family})`);
  return failed('cannot-listen', `${code} on listening on port ${port} (${family})`);
}
