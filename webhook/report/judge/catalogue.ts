import { docsUrl } from '../../lib/names.ts';
import type { Facts } from '../observe/observe.ts';
import * as installation from './installation.ts';
import * as namespaces from './namespaces.ts';
import { checkNodes } from './nodes.ts';
import * as pods from './pods.ts';
import * as policies from './policies.ts';
import { checkProbe } from './probe.ts';
import { type Finding, passed, Settled } from './row.ts';
import { checkWebhooks } from './webhooks.ts';

/** Judges facts, or throws {@link Settled}. Returns undefined where the check does not apply, and [] if all is well. */
type Judge = (facts: Facts) => Finding[] | undefined;

/** A check that does not apply to an installation without a server, which has only policies. */
const ofServer =
  (judge: Judge): Judge =>
  (facts) =>
    installation.isProofOnly(facts) ? undefined : judge(facts);

/**
 * All checks by group, each with the text to show if nothing is wrong, and its judge. Causes come before
 * their consequences: the first failure is reported as the cause. `docs/reference/errors.md` explains all.
 */
const groups = {
  kubernetes: {
    'kubernetes-version': ['', installation.checkVersion],
  },
  'before installing': {
    networks: ['', namespaces.checkNetworks],
  },
  installation: {
    installed: ['the cluster has objects of cni-gate', installation.checkPresence],
    configuration: ['', installation.checkConfiguration],
    webhooks: ['as in the manifests', ofServer(checkWebhooks)],
    service: ['', ofServer(installation.checkService)],
    certificate: ['every caBundle trusts the certificate', ofServer(installation.checkCertificate)],
    'mutating-policy': ['as the configuration says', policies.checkMutatingPolicy],
    'policy-pods': ['as in the manifests', policies.checkValidating('pods')],
    'policy-service-account': ['as in the manifests', ofServer(policies.checkValidating('serviceAccount'))],
    leader: ['', ofServer(installation.checkLeader)],
  },
  namespaces: {
    namespaces: ['', namespaces.checkNamespaces],
    daemonsets: ['those of all profiles in use exist', ofServer(namespaces.checkDaemonSets)],
    probe: ['', checkProbe],
  },
  pods: {
    nodes: ['there is no network to show', checkNodes],
    'held-pods': ['no pod is held', pods.checkHeld],
    'failed-proofs': ['no proof failed, and no network is lost', pods.checkProofs],
    'waiting-pods': ['no pod waits on its node for long', pods.checkWaiting],
    'pods-without-proof': ['every pod has its proof', pods.checkWithoutProof],
    'duplicate-addresses': ['no two pods have one address', pods.checkAddresses],
  },
} as const satisfies Record<string, Record<string, readonly [expects: string, judge: Judge]>>;

type Group = keyof typeof groups;

/** The stable name of a check. */
export type CheckId = { [G in Group]: keyof (typeof groups)[G] }[Group];

/** All checks, in the order of the report. */
export const catalogue = Object.entries(groups).flatMap(([group, checks]) =>
  Object.entries(checks).map(([id, [expects, judge]]) => ({ id, group, expects, judge })),
) as { id: CheckId; group: Group; expects: string; judge: Judge }[];

/** The groups of `cni-gate check --pre`, `cni-gate check`, and `cni-gate status`. */
export const scopes = {
  pre: ['kubernetes', 'before installing'],
  check: ['kubernetes', 'installation', 'namespaces'],
  status: ['kubernetes', 'installation', 'namespaces', 'pods'],
} as const satisfies Record<string, readonly Group[]>;

export type Scope = keyof typeof scopes;

/** The address of the section of the documentation that explains a check. */
export const checkPage = (id: CheckId): string => `${docsUrl}reference/errors.md#${id}`;

/** A result of a check. Commands and the dashboard show a cluster only in this form. */
export interface Row extends Finding {
  check: CheckId;
}

/**
 * The rows of all checks that apply, at least one for each. If cni-gate is certainly not installed, the check
 * `installed` is the last one.
 */
export function rowsOf(facts: Facts, scope: Scope): Row[] {
  const wanted: readonly Group[] = scopes[scope];
  const rows: Row[] = [];
  for (const { id, group, expects, judge } of catalogue) {
    if (!wanted.includes(group)) continue;
    const findings = settled(() => judge(facts));
    const all = findings?.length === 0 ? [passed(expects)] : (findings ?? []);
    rows.push(...all.map((finding) => ({ check: id, ...finding })));
    if (id === 'installed' && all.some(({ result }) => result === 'failed')) break;
  }
  return rows;
}

function settled(judge: () => Finding[] | undefined): Finding[] | undefined {
  try {
    return judge();
  } catch (error) {
    if (error instanceof Settled) return [error.finding];
    throw error;
  }
}
