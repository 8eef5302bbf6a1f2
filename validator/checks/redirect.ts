import type { Family } from '../addresses.ts';
import type { RedirectCheck } from '../contract.ts';
import { readDevices } from '../devices.ts';
import { type Failed, type Finding, failed } from '../finding.ts';
import { type Listener, listen } from '../listener.ts';
import type { Pod } from '../pod.ts';
import { readSpareTargets } from '../spare-targets.ts';
import { type Target, targetsOf } from '../targets.ts';
import { makeToken } from '../token.ts';
import { now, untilHeld } from '../waiting.ts';
import { probe } from './probe.ts';

/** How long one look waits: a redirect answers within the connect itself, so this is for a starved machine. */
const attempt = 500;

/**
 * Listens where the proxy will, connects to where nobody answers, and expects the own token: what linkerd's network
 * validator does for the outbound rule, and `istio-iptables --run-validation` for the inbound one. Unlike those it
 * tells causes apart, retries, and works without a default route.
 */
export async function proveRedirect(
  check: RedirectCheck,
  family: Family,
  pod: Pod,
  end: number,
): Promise<Finding> {
  const otherUser = wrongUser(check, pod.userId, pod.groupId);
  if (otherUser) return otherUser;
  const token = makeToken();
  let listener: Listener | undefined;
  const look = async (): Promise<Finding> => {
    if (!listener) {
      const listening = await listen(check.listen, family, token, pod.families.length === 1);
      if (typeof listening === 'string') return cannotListen(check.listen, family, listening);
      listener = listening;
    }
    const { accepted } = listener;
    const limit = Math.min(attempt, Math.max(end - now(), 1));
    const from = check.direction === 'inbound' ? loopback[family] : undefined;
    const ask = (targets: Target[]): Promise<Finding> =>
      firstHeld(targets.map((target) => probe(target, { token, accepted, limit, from })));
    const targets = targetsOf(check.connect, family);
    const finding = await ask(targets);
    if (finding.held || finding.reason !== 'no-route') return withHint(finding);
    // the inbound rule's addresses are the mesh's own and on `lo`: without a route to them the mesh is not there
    if (check.direction === 'inbound') return withHint({ ...finding, reason: 'not-redirected' });
    const spares = readSpareTargets(targets, pod.apiServer);
    return spares.length === 0 ? finding : withHint(await ask(spares));
  };
  try {
    return await untilHeld(end, look);
  } finally {
    listener?.close();
  }
}

/** Where Istio's validation dials from: its inbound rule leaves other sources out. */
const loopback: Record<Family, string> = { IPv4: '127.0.0.1', IPv6: '::1' };

/** A rule that does not apply to this user or group proves nothing by being silent, and nothing by being there. */
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

function cannotListen(port: number, family: Family, code: string): Failed {
  if (code === 'EADDRINUSE') return failed('port-taken', `port ${port} taken by another program (${family})`);
  return failed('cannot-listen', `${code} on listening on port ${port} (${family})`);
}

/** What tells most comes last. */
const telling = ['no-route', 'not-redirected', 'answered-by-someone-else'];

/** The first that holds, or when none does what tells most of them. */
async function firstHeld(probes: Promise<Finding>[]): Promise<Finding> {
  const some = Promise.any(
    probes.map(async (found) => {
      const finding = await found;
      return finding.held ? finding : Promise.reject(finding);
    }),
  );
  return some.catch(({ errors }: { errors: Failed[] }) => mostTelling(errors));
}

export function mostTelling(found: Failed[]): Failed {
  const rank = ({ reason }: Failed): number => telling.indexOf(reason);
  const best = Math.max(...found.map(rank));
  const same = found.filter((finding) => rank(finding) === best);
  const reason = same[0]?.reason ?? 'not-redirected';
  return failed(reason, same.map(({ seen }) => seen).join(', '));
}

/** A redirect ends at the loopback interface: where that is down, right rules lead nowhere. */
function withHint(finding: Finding): Finding {
  if (finding.held || finding.reason !== 'not-redirected') return finding;
  const up = readDevices().some(({ name, up }) => name === 'lo' && up);
  return up ? finding : { ...finding, seen: `${finding.seen}, and the interface lo is down` };
}
