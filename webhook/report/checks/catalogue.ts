import { docsUrl } from '../../lib/names.ts';

/**
 * Every check, in the order of the report: what breaks others comes before them, so the first check that fails names
 * the cause. `docs/reference/errors.md` has a section for each, and a test compares the two.
 */
export const catalogue = {
  'kubernetes-version': { group: 'kubernetes', expects: 'Kubernetes is 1.30 or later' },
  'install-rights': { group: 'before installing', expects: 'you may create all objects of the manifests' },
  'not-installed-yet': { group: 'before installing', expects: 'the cluster has nothing of cni-gate' },
  networks: { group: 'before installing', expects: 'the cluster has networks that profiles describe' },
  installed: { group: 'installation', expects: 'cni-gate is installed' },
  configuration: { group: 'installation', expects: 'the configuration of the installation is valid' },
  'webhook-pods': { group: 'installation', expects: 'the webhook for pods is as in the manifests' },
  'webhook-bindings': { group: 'installation', expects: 'the webhooks of the gate are as in the manifests' },
  deployment: { group: 'installation', expects: 'every replica is ready' },
  service: { group: 'installation', expects: 'the Service that webhooks call has a ready endpoint' },
  certificate: { group: 'installation', expects: 'the API server accepts the certificate of the replicas' },
  'policy-pods': { group: 'installation', expects: 'the policy over pods is in force' },
  'opt-out': { group: 'installation', expects: 'proof.allowOptOut and the manifests agree' },
  'policy-service-account': { group: 'installation', expects: 'the policy over our account is in force' },
  'server-rights': { group: 'installation', expects: 'the service account has its rights' },
  leader: { group: 'installation', expects: 'a replica leads' },
  'namespace-labels': { group: 'namespaces', expects: 'every label names profiles that exist' },
  daemonsets: { group: 'namespaces', expects: 'the DaemonSets of the profiles in use exist' },
  attachments: { group: 'namespaces', expects: 'network-status lists the networks of Multus' },
  'proof-mode': { group: 'namespaces', expects: 'no pod is in warn mode' },
  resources: { group: 'namespaces', expects: "LimitRanges and quotas accept the init container's resources" },
  probe: { group: 'namespaces', expects: 'a new pod comes back with its proof' },
} as const;

/** The stable name of a check. */
export type CheckId = keyof typeof catalogue;

/** All of them, in the order of the report. */
export const checkIds = Object.keys(catalogue) as CheckId[];

/** Address of the section that explains a check. */
export const checkPage = (id: CheckId): string => `${docsUrl}reference/errors.md#${id}`;
