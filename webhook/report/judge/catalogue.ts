import { docsUrl } from '../../lib/names.ts';
import type { Facts } from '../observe/observe.ts';
import type { CheckResult } from './check-result.ts';
import {
  checkConfiguration,
  checkDeployment,
  checkLeader,
  checkPresence,
  checkProbe,
  checkServerRights,
  checkService,
  checkVersion,
  isGone,
} from './installation.ts';
import {
  checkAbsence,
  checkAttachments,
  checkDaemonSets,
  checkInstallRights,
  checkLabels,
  checkNetworks,
  checkProofMode,
  checkResources,
} from './namespaces.ts';
import {
  checkAccountPolicy,
  checkCertificate,
  checkGateWebhooks,
  checkOptOut,
  checkPodsPolicy,
  checkPodWebhook,
} from './registration.ts';

type Group = 'kubernetes' | 'before installing' | 'installation' | 'namespaces';
type Judge = (facts: Facts, now: number) => CheckResult | undefined;

const check = (group: Group, expects: string, judge: Judge) => ({ group, expects, judge });

/**
 * Every check, in the order of the report: what breaks others comes before them, so the first check that fails names
 * the cause. `docs/reference/checks.md` has a section for each, and a test compares the two.
 */
export const catalogue = {
  'kubernetes-version': check('kubernetes', 'Kubernetes is 1.30 or later', checkVersion),
  'install-rights': check(
    'before installing',
    'you may create all objects of the manifests',
    checkInstallRights,
  ),
  'not-installed-yet': check('before installing', 'the cluster has nothing of cni-gate', checkAbsence),
  networks: check('before installing', 'the cluster has networks that profiles describe', checkNetworks),
  installed: check('installation', 'cni-gate is installed', checkPresence),
  configuration: check('installation', 'the configuration of the installation is valid', checkConfiguration),
  'webhook-pods': check('installation', 'the webhook for pods is as in the manifests', checkPodWebhook),
  'webhook-bindings': check(
    'installation',
    'the webhooks of the gate are as in the manifests',
    checkGateWebhooks,
  ),
  deployment: check('installation', 'every replica is ready', checkDeployment),
  service: check('installation', 'the Service that webhooks call has a ready endpoint', checkService),
  certificate: check(
    'installation',
    'the API server accepts the certificate of the replicas',
    checkCertificate,
  ),
  'policy-pods': check('installation', 'the policy over pods is in force', checkPodsPolicy),
  'opt-out': check('installation', 'proof.allowOptOut and the manifests agree', checkOptOut),
  'policy-service-account': check(
    'installation',
    'the policy over our account is in force',
    checkAccountPolicy,
  ),
  'server-rights': check('installation', 'the service account has its rights', checkServerRights),
  leader: check('installation', 'a replica leads', checkLeader),
  'namespace-labels': check('namespaces', 'every label names profiles that exist', checkLabels),
  daemonsets: check('namespaces', 'the DaemonSets of the profiles in use exist', checkDaemonSets),
  attachments: check('namespaces', 'network-status lists the networks of Multus', checkAttachments),
  'proof-mode': check('namespaces', 'no pod is in warn mode', checkProofMode),
  resources: check(
    'namespaces',
    "LimitRanges and quotas accept the init container's resources",
    checkResources,
  ),
  probe: check('namespaces', 'a new pod comes back with its proof', checkProbe),
};

/** The stable name of a check. */
export type CheckId = keyof typeof catalogue;

/** All of them, in the order of the report. */
export const checkIds = Object.keys(catalogue) as CheckId[];

/** Address of the section that explains a check. */
export const checkPage = (id: CheckId): string => `${docsUrl}reference/checks.md#${id}`;

/** A check with its result. */
export interface CheckRow extends CheckResult {
  id: CheckId;
  group: Group;
  expects: string;
  link: string;
}

/**
 * The checks that the facts allow, in the order of the catalogue: with the caller's rights, those before an
 * installation. Without an installation its parts are not judged.
 *
 * @param now milliseconds since the epoch
 */
export function checksOf(facts: Facts, now: number): CheckRow[] {
  const groups: Group[] = facts.rights
    ? ['kubernetes', 'before installing']
    : ['kubernetes', 'installation', 'namespaces'];
  const wanted = checkIds.filter(
    (id) =>
      groups.includes(catalogue[id].group) &&
      (catalogue[id].group !== 'installation' || id === 'installed' || !isGone(facts)),
  );
  return wanted.flatMap((id) => {
    const { group, expects, judge } = catalogue[id];
    const result = judge(facts, now);
    return result === undefined ? [] : [{ id, group, expects, ...result, link: checkPage(id) }];
  });
}
