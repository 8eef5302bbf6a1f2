import { docsUrl } from '../../lib/names.ts';
import type { Facts } from '../observe/observe.ts';
import { type CheckResult, Settled } from './check-result.ts';
import * as installation from './installation.ts';
import * as namespaces from './namespaces.ts';
import * as policies from './policies.ts';
import * as registration from './registration.ts';

/** Judges facts, or throws {@link Settled}; returns undefined where the check does not apply. */
type Judge = (facts: Facts, now: number) => CheckResult | undefined;

/**
 * All checks by group, each with what a pass means and with its judge. The first failed check is reported as the cause,
 * so causes come before their consequences. `docs/reference/errors.md` has a section for each check.
 */
const groups = {
  kubernetes: {
    'kubernetes-version': ['Kubernetes is 1.30 or later', installation.checkVersion],
  },
  'before installing': {
    'install-rights': ['you may create all objects of the manifests', namespaces.checkInstallRights],
    'not-installed-yet': ['the cluster has nothing of cni-gate', namespaces.checkAbsence],
    networks: ['the cluster has networks that profiles describe', namespaces.checkNetworks],
  },
  installation: {
    installed: ['cni-gate is installed', installation.checkPresence],
    configuration: ['the configuration of the installation is valid', installation.checkConfiguration],
    'webhook-pods': ['the webhook for pods is as in the manifests', registration.checkPodWebhook],
    'webhook-bindings': ['the webhooks of the gate are as in the manifests', registration.checkGateWebhooks],
    deployment: ['every replica is ready', installation.checkDeployment],
    service: ['the Service that webhooks call has a ready endpoint', installation.checkService],
    certificate: ['the API server accepts the certificate of the replicas', registration.checkCertificate],
    'mutating-policy': ['the API server injects as the configuration says', policies.checkMutatingPolicy],
    'policy-pods': ['the policy over pods is in force', policies.checkPodsPolicy],
    'opt-out': ['proof.allowOptOut and the manifests agree', registration.checkOptOut],
    'policy-service-account': ['the policy over our account is in force', policies.checkAccountPolicy],
    'server-rights': ['the service account has its rights', installation.checkServerRights],
    leader: ['a replica leads', installation.checkLeader],
  },
  namespaces: {
    'namespace-labels': ['every label names profiles that exist', namespaces.checkLabels],
    daemonsets: ['the DaemonSets of the profiles in use exist', namespaces.checkDaemonSets],
    'proof-mode': ['no pod is in warn mode', namespaces.checkProofMode],
    resources: ["LimitRanges and quotas accept the init container's resources", namespaces.checkResources],
    probe: ['a new pod comes back with its proof', installation.checkProbe],
  },
} as const satisfies Record<string, Record<string, readonly [expects: string, judge: Judge]>>;

type Group = keyof typeof groups;

/** The stable name of a check. */
export type CheckId = { [G in Group]: keyof (typeof groups)[G] }[Group];

/** All checks, in the order of the report. */
export const catalogue = Object.entries(groups).flatMap(([group, checks]) =>
  Object.entries(checks).map(([id, [expects, judge]]) => ({ id, group, expects, judge })),
) as { id: CheckId; group: Group; expects: string; judge: Judge }[];

/** The checks for an installation without a server, which has only policies. */
const withoutServer: readonly CheckId[] = [
  'installed',
  'configuration',
  'mutating-policy',
  'policy-pods',
  'opt-out',
];

/** The address of the section of the documentation that explains a check. */
export const checkPage = (id: CheckId): string => `${docsUrl}reference/errors.md#${id}`;

/** A check with its result. */
export interface CheckRow extends CheckResult {
  id: CheckId;
  group: Group;
  expects: string;
  link: string;
}

/**
 * The results of all checks that apply. If the facts contain the caller's rights, only the checks before an
 * installation apply. If cni-gate is not installed, `installed` is the only check of its group; without a server,
 * checks of the server are left out.
 *
 * @param now milliseconds since the epoch
 */
export function checksOf(facts: Facts, now: number): CheckRow[] {
  const wanted: Group[] = facts.rights
    ? ['kubernetes', 'before installing']
    : ['kubernetes', 'installation', 'namespaces'];
  const isGone = installation.isGone(facts);
  const proofOnly = policies.isProofOnly(facts);
  return catalogue.flatMap(({ id, group, expects, judge }) => {
    if (!wanted.includes(group) || (isGone && group === 'installation' && id !== 'installed')) return [];
    if (proofOnly && group === 'installation' && !withoutServer.includes(id)) return [];
    const result = settled(() => judge(facts, now));
    return result === undefined ? [] : [{ id, group, expects, ...result, link: checkPage(id) }];
  });
}

function settled<T>(judge: () => T): T | CheckResult {
  try {
    return judge();
  } catch (error) {
    if (error instanceof Settled) return error.result;
    throw error;
  }
}
