import { type Failed, type Finding, failed } from '../finding.ts';
import { native } from '../host/native.ts';
import { listen } from '../host/tcp.ts';
import { type Pod, readDevices } from '../pod.ts';
import type { Family } from '../shared/addresses.ts';
import type { RedirectCheck } from '../shared/contract.ts';
import { targetsOf } from '../shared/targets.ts';
import type { Attempt } from '../simultaneous.ts';
import { loopback, readListeners } from '../sockets.ts';
import { type Ask, askAll, askOutside } from '../spare-targets.ts';
import { acceptsNothing, connectTo, limitOf, listenersOn } from './captured.ts';
import { probe } from './probe.ts';

/**
 * Listens on the proxy's port, connects to an address where nothing answers, and expects its own token, like linkerd's
 * validator and `istio-iptables --run-validation`. Unlike those tools, this check distinguishes causes, and retries.
 */
export function attemptRedirect(check: RedirectCheck, family: Family, pod: Pod): Attempt {
  return async (deadline) => {
    const wrong = wrongUser(check, pod.userId, pod.groupId);
    if (wrong) return wrong;
    const token = native.random(32);
    // an inbound check listens only on `lo`, where its own connection stays, and leaves the kubelet's to `witness`
    const from = check.direction === 'inbound' ? loopback[family] : undefined;
    const listener = listen(check.listen, family, token, from);
    if (typeof listener === 'string') return cannotListen(check.listen, family, listener);
    const { accepted } = listener;
    const limit = limitOf(deadline);
    try {
      return await askByRule(check, family, pod, (target) => probe(target, { token, accepted, limit, from }));
    } finally {
      listener.close();
    }
  };
}

/**
 * The check when the proxy already uses its port: the proxy must get the connection. If the proxy does not listen, or
 * accepts nothing until the kernel drops further connections, that is not the network's fault: the check fails with
 * `no-listener`.
 */
export function attemptProxied(check: RedirectCheck, family: Family, pod: Pod): Attempt {
  const from = check.direction === 'inbound' ? loopback[family] : undefined;
  return async (deadline) => {
    const limit = limitOf(deadline);
    const ask: Ask = (target) => connectTo(target, check.listen, limit, from);
    const finding = await askByRule(check, family, pod, ask);
    if (finding.passed) return finding;
    const listeners = listenersOn(check.listen, family, readListeners());
    if (listeners.length === 0)
      return failed('no-listener', `no listener on ${check.listen} in the pod (${family})`);
    if (acceptsNothing(listeners))
      return failed('no-listener', `connections to port ${check.listen} that nothing accepts`);
    return finding.reason === 'not-captured' ? withHint({ ...finding, reason: 'not-redirected' }) : finding;
  };
}

async function askByRule(check: RedirectCheck, family: Family, pod: Pod, ask: Ask): Promise<Finding> {
  if (check.direction === 'outbound')
    return withHint(await askOutside(check.connect, family, pod.apiServer, ask));
  const finding = await askAll(targetsOf(check.connect, family), ask);
  // inbound targets are addresses on `lo` that the mesh adds, so without a route, the mesh's rules are missing
  const isUnrouted = !finding.passed && finding.reason === 'no-route';
  return withHint(isUnrouted ? { ...finding, reason: 'not-redirected' } : finding);
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

/** Adds a hint if the interface `lo` is down, because correct rules have no effect then. */
function withHint(finding: Finding): Finding {
  if (finding.passed || finding.reason !== 'not-redirected') return finding;
  const up = readDevices().some(({ name, up }) => name === 'lo' && up);
  return up ? finding : { ...finding, seen: `${finding.seen}, and the interface lo is down` };
}
