import { openStates } from '../../core/networks/daemon-set-status.ts';
import { Readiness } from '../../core/networks/readiness.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import { docsUrl, profileLabel } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import { type CheckRow, checksOf } from '../judge/catalogue.ts';
import { few } from '../judge/check-result.ts';
import { featureRows } from '../judge/features.ts';
import { checkPresence } from '../judge/installation.ts';
import { compare, optedIn } from '../judge/namespaces.ts';
import { isNotReady, networkRows } from '../judge/networks.ts';
import { countProofs, podRows } from '../judge/pods.ts';
import type { StatusFacts } from '../observe/observe.ts';
import { checkJson } from './check.ts';

/**
 * `not-well`: something is wrong. `not-known`: nothing is known to be wrong, but the caller may not read everything
 * that admission depends on, or the requested probe could not be made.
 */
export type StatusVerdict = 'well' | 'not-well' | 'not-known' | 'not-installed';

/** What `status --output json` prints; `schemas/status.json` describes each field. */
export type Status = ReturnType<typeof statusOf>;

/**
 * Whether a status lists the check. Other checks of namespaces appear only if they fail, as faults. The recommendation
 * to install the mutating policy is left to `check`.
 */
const isShown = ({ id, group, result }: CheckRow): boolean =>
  id === 'proof-mode' ||
  (group === 'installation' && id !== 'installed' && !(id === 'mutating-policy' && result === 'warning'));

/**
 * The status of a cluster. Pure: the result depends only on the arguments.
 *
 * @param now milliseconds since the epoch
 * @param all whether to include nodes that are ready or exempt
 */
export function statusOf(facts: StatusFacts, now: number, all: boolean) {
  const { namespace = null, probe = null, cluster, configuration } = facts;
  const presence = checkPresence(facts);
  const gone = presence.result === 'failed';
  const pods = facts.pods.found.toSorted(
    (left, right) => compare(left.namespace, right.namespace) || compare(left.name, right.name),
  );
  const namespaces = optedIn(facts);
  // if cni-gate is not installed, no pod is held or has to be proved, and no node has to be ready
  const judged: StatusFacts = gone
    ? { ...facts, readiness: new Readiness(), pods: { found: [] }, namespaces: { found: [] } }
    : { ...facts, pods: { found: pods } };
  const checks = checksOf(judged, now).filter((check) => isShown(check) || check.group === 'namespaces');
  const features = featureRows(judged, checks);
  const networks = networkRows(judged, now);
  const troubles = podRows(judged, features, now);
  const podsOf = Map.groupBy(judged.pods.found, (pod) => pod.namespace);
  // the first fault is in the headline, so the order of the checks matters: causes come before their consequences
  const faultsOfChecks: Fault[] = checks.flatMap(({ code, what, hint }) =>
    code === null ? [] : [{ code, message: `${what}. ${hint}` }],
  );
  const faults: Fault[] = gone
    ? [{ code: 'CNI_GATE_NOT_INSTALLED', message: notInstalled(presence.what, namespaces) }]
    : faultsOfChecks;
  if (namespace !== null && namespaces.length === 0) {
    const message = notOptedIn(namespace, configuration.policy.profiles.keys());
    faults.push({ code: 'CNI_GATE_NOT_OPTED_IN', message });
  }
  const wrong = [faults, networks.rows.filter(isNotReady), ...Object.values(troubles)];
  // a requested probe that could not be made leaves the verdict open
  const isOpen = ({ id, result, essential }: CheckRow): boolean =>
    (result === 'not-known' && essential) ||
    (id === 'probe' && result === 'skipped' && probe?.outcome === 'not-made');
  const notKnown = checks.filter(isOpen).map(({ what }) => what);
  const isWrong = wrong.some((list) => list.length > 0);
  const verdict: StatusVerdict = isWrong ? 'not-well' : notKnown.length > 0 ? 'not-known' : 'well';
  const result: StatusVerdict = gone ? 'not-installed' : verdict;
  const status = {
    time: timeText(now),
    result,
    headline: '',
    well: result === 'well',
    cluster,
    configuration: configuration.source,
    features,
    installation: checks.filter(isShown).map(checkJson),
    notKnown,
    probe,
    namespace,
    namespaces: namespaces.map((optIn) => ({ ...optIn, pods: countProofs(podsOf.get(optIn.name) ?? []) })),
    pods: countProofs(judged.pods.found),
    unprovedNodes: networks.unproved,
    wayNotShown: judged.pods.found.filter(({ evidence }) => evidence?.wayNotShown).length,
    daemonSets: networks.daemonSets,
    nodes: all ? networks.rows : networks.rows.filter(({ state }) => !openStates.has(state)),
    faults,
    ...troubles,
  };
  status.headline = headlineOf(status);
  return status;
}

/** What is wrong, and its error code. */
interface Fault {
  code: ErrorCode;
  message: string;
}

function notInstalled(what: string, namespaces: readonly { name: string }[]): string {
  const names = few(namespaces.map(({ name }) => name));
  const unchecked = names === '' ? '' : ` cni-gate checks no pods of the namespaces that opted in: ${names}.`;
  return `${what}.${unchecked} To install it: ${docsUrl}guides/install.md`;
}

const notOptedIn = (namespace: string, profiles: Iterable<string>): string =>
  `namespace ${namespace} has not opted in, so nothing of it is held or proved: kubectl label --overwrite namespace ${namespace} ${profileLabel}=PROFILE, of ${[...profiles].join(', ')}, or several joined by dots`;

/** The headline: the result in one line. */
function headlineOf(status: Omit<Status, 'headline'>): string {
  const { result, installation, faults, notKnown } = status;
  const [first] = faults;
  const counts = countsOf(status).join(', ');
  if (result === 'not-installed') return first?.message ?? '';
  if (result === 'not-known')
    return `It is not known whether all is well. Not known: ${notKnown.join('; ')}.`;
  if (result === 'not-well')
    return `Not all is well: ${first ? `${first.message} (${first.code})` : `${counts}.`}`;
  const unknown = installation.filter((check) => check.result === 'not-known' || check.result === 'skipped');
  const noted = counts === '' ? '' : ` Of note: ${counts}.`;
  const dark = unknown.length === 0 ? '' : ` Not known: ${unknown.map(({ what }) => what).join('; ')}.`;
  const warnings = warningsOf(status).join('; ');
  const well = `All is well${dark === '' ? '' : ', as far as it is known'}`;
  return `${warnings === '' ? well : `No fault. Warnings: ${warnings}`}.${noted}${dark}`;
}

/** The warnings of the checks, each with what to do. */
export const warningsOf = ({ installation }: Pick<Status, 'installation'>): string[] =>
  installation.flatMap(({ result, what, hint }) => (result === 'warning' ? `${what}. ${hint}` : []));

/** Counts the problems of each kind, and pods and nodes that are worth a note although nothing is wrong. */
export function countsOf(status: Omit<Status, 'headline'>): string[] {
  const counts = {
    'not ready': status.nodes.filter(isNotReady).length,
    'pods held': status.heldPods.length,
    'failed proofs': status.failedPods.filter(({ verdict }) => verdict !== 'lost').length,
    'lost networks': status.failedPods.filter(({ verdict }) => verdict === 'lost').length,
    'pods that wait': status.pods.waiting - status.heldPods.length,
    'pods without a proof': status.podsWithoutProof.length,
    'duplicate addresses': status.duplicateAddresses.length,
    'nodes without a pod that shows their proof': status.unprovedNodes,
    'pods that passed without an answer of their node': status.wayNotShown,
    faults: status.faults.length,
  };
  return Object.entries(counts).flatMap(([what, count]) => (count > 0 ? [`${what}: ${count}`] : []));
}
