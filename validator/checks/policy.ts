import { type Failed, failed, mostTelling, passed } from '../finding.ts';
import { close, now, sleep } from '../host/loop.ts';
import { addressesOf, dial } from '../host/tcp.ts';
import type { Pod } from '../pod.ts';
import type { Reason } from '../reasons.ts';
import { parseAddress } from '../shared/addresses.ts';
import type { PolicyCheck } from '../shared/contract.ts';
import { type HostPort, ofFamilies, parseHostPort } from '../shared/targets.ts';
import type { Attempt } from '../simultaneous.ts';

/**
 * Milliseconds. `held`: how long all targets must be as expected. `between`: the pause between two dials of a target.
 * `dial`: the limit of a dial, which is longer than the first retransmission (RFC 6298: after 1 s). A blocked target is
 * dialled several times, because one lost packet looks like a policy.
 */
const span = { held: 1000, between: 250, dial: 1500 };

/** How long resolving a name may take, in milliseconds. */
const patience = 4000;

interface Target extends HostPort {
  /** The target as the profile names it. */
  text: string;
  addresses: string[];
}

/**
 * Checks that the pod's network policy is in force: for a second, all allowed targets can be reached, and no blocked
 * target can. Silence and ICMP errors mean that a target is blocked. A reset shows neither, because the packet reached
 * the target or something that answers for the target.
 */
export function attemptPolicy({ blocked, allowed = [] }: PolicyCheck, { families }: Pod): Attempt {
  const known = new Map<string, string[]>();
  // an earlier attempt's dial that is answered only now, after a retransmission, counts for the current attempt
  let problems: Failed[] = [];
  const resolve = async (text: string): Promise<Target | Failed> => {
    const { host, port } = parseHostPort(text) ?? { host: text, port: 0 };
    const found = known.get(host) ?? (await addressesOf(host, patience));
    if (!Array.isArray(found)) return failed('name-unknown', `${found} for the name ${host}`);
    const addresses = found.filter((address) => families.some((it) => it === parseAddress(address)?.family));
    if (addresses.length === 0) return failed('name-unknown', `no address of the pod's family for ${host}`);
    known.set(host, addresses);
    return { text, host, port, addresses };
  };
  return async () => {
    const lists = [blocked, allowed].map((texts) => Promise.all(ofFamilies(texts, families).map(resolve)));
    const [denied = [], permitted = []] = await Promise.all(lists);
    problems.push(...[...denied, ...permitted].filter((it) => 'reason' in it));
    const start = now();
    while (problems.length === 0 && now() - start < span.held) {
      // a dial to a blocked target is not awaited, because it lasts until its limit if the target is blocked
      for (const target of denied)
        if (!('reason' in target)) void dialBlocked(target, (problem) => problems.push(problem));
      const dials = permitted.map((target) => ('reason' in target ? target : dialAllowed(target)));
      const [found] = await Promise.all([Promise.all(dials), sleep(span.between)]);
      problems.push(...found.filter((it) => it !== undefined));
    }
    const ended = problems;
    problems = [];
    if (ended.length > 0) return mostTelling(ended);
    return passed('that', allowed.length === 0 ? unlike : undefined);
  };
}

const unlike = 'without an allowed target, a pod whose packets are lost passes too';

/** Dials each address of a target that must be blocked, and reports the addresses that are not blocked. */
async function dialBlocked(target: Target, report: (problem: Failed) => void): Promise<void> {
  await Promise.all(
    target.addresses.map(async (address) => {
      const { reason, how } = await ask(address, target.port);
      if (reason !== 'policy-too-strict')
        report(failed(reason, `${how} the blocked ${nameOf(target, address)}`));
    }),
  );
}

/** Dials all addresses of a target. At least one address must be reached. */
async function dialAllowed(target: Target): Promise<Failed | undefined> {
  const dials = target.addresses.map(async (address) => {
    const { reason, how } = await ask(address, target.port);
    if (reason !== 'policy-not-in-force')
      throw failed(reason, `${how} the allowed ${nameOf(target, address)}`);
  });
  return Promise.any(dials).then(
    () => undefined,
    ({ errors }: { errors: Failed[] }) => errors[0],
  );
}

const nameOf = ({ text, host }: Target, address: string): string =>
  host === address ? text : `${text} (${address})`;

/** Dials an address. A connection is a failure only for a blocked target, and silence only for an allowed one. */
async function ask(host: string, port: number): Promise<{ reason: Reason; how: string }> {
  const dialled = await dial({ host, port, limit: span.dial, seesIcmp: true });
  if (dialled.as === 'connected') {
    close(dialled.socket);
    return { reason: 'policy-not-in-force', how: 'a connection to' };
  }
  if (dialled.as === 'silent') return { reason: 'policy-too-strict', how: 'no answer for' };
  const how = `${dialled.code} for`;
  // no packet was sent
  if (dialled.as === 'no-route') return { reason: 'unreachable', how };
  // this code means a reset; before Linux 5.8, also "port unreachable"
  return { reason: dialled.code === 'ECONNREFUSED' ? 'connect-refused' : 'policy-too-strict', how };
}
