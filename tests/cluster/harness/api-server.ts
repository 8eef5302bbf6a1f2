import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Api } from './api.ts';
import type { Start } from './component.ts';
import { type Layout, serviceRange } from './layout.ts';

export function apiServer(layout: Layout): Start {
  const { ports, files, access } = layout;
  const api = new Api(access.admin);
  return {
    args: [
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      `--secure-port=${ports['kube-apiserver']}`,
      // otherwise the API server would put 127.0.0.1 into an EndpointSlice, which is not allowed
      '--endpoint-reconciler-type=none',
      `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
      `--service-cluster-ip-range=${serviceRange}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--allow-privileged=true',
      '--profiling=false',
      // without this flag, open watches would delay the shutdown for a minute
      '--shutdown-watch-termination-grace-period=2s',
      // the API server calls webhooks directly at the addresses in the EndpointSlices of their Services
      '--enable-aggregator-routing=true',
      `--client-ca-file=${files.authority}`,
      ...[`--tls-cert-file=${files.server}`, `--tls-private-key-file=${files.serverKey}`],
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${files.tokens}`,
      `--service-account-signing-key-file=${files.tokensKey}`,
      `--kubelet-certificate-authority=${files.authority}`,
      ...[`--kubelet-client-certificate=${files.kubelet}`, `--kubelet-client-key=${files.kubeletKey}`],
      ...auditFlags(layout),
    ],
    ready: async () => (await api.text('/readyz')) === 'ok',
  };
}

export const auditLog = (folder: string): string => join(folder, 'audit.jsonl');

/** The requests that the audit log contains: those of cni-gate, and all deletions and evictions of pods. */
const audited = [
  { users: ['system:serviceaccount:cni-gate:cni-gate'] },
  { verbs: ['delete', 'deletecollection'], resources: [{ group: '', resources: ['pods'] }] },
  { verbs: ['create'], resources: [{ group: '', resources: ['pods/eviction'] }] },
];

function auditFlags({ folder }: Layout): string[] {
  const policy = join(folder, 'audit-policy.json');
  const rules = audited.map((rule) => ({ level: 'Metadata', omitStages: ['RequestReceived'], ...rule }));
  writeFileSync(policy, JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules }));
  return [
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${auditLog(folder)}`,
    '--audit-log-mode=blocking-strict',
  ];
}
