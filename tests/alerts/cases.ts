import type { AlertCase } from './promtool.ts';

const rejections = (type: string): string =>
  `apiserver_admission_webhook_rejection_count{name="pods.cni-gate.io", error_type="${type}"}`;
const reviews = (labels: string): string => `cni_gate_admission_reviews_total{${labels}}`;
const nodes = (state: string, pod = 'a'): string =>
  `cni_gate_nodes{profile="mesh", daemonset="net/agent", state="${state}", pod="${pod}"}`;

/** A situation. Without `fires`, it is an ordinary one, in which the alert must not fire. */
type Situation = Omit<AlertCase, 'alert' | 'fires'> & Partial<Pick<AlertCase, 'fires'>>;

/** By alert. */
const situations: Record<string, Situation[]> = {
  CniGateDown: [
    {
      when: 'both replicas are down for 3 minutes',
      series: {
        'up{job="cni-gate/cni-gate", pod="a"}': '1 0x10',
        'up{job="cni-gate/cni-gate", pod="b"}': '1 0x10',
      },
      at: '4m',
      fires: [
        {
          labels: {},
          summary:
            'No replica of cni-gate answers; in namespaces that opted in pods are refused, or made without a proof.',
        },
      ],
    },
    {
      when: 'one of two replicas is up',
      series: {
        'up{job="cni-gate/cni-gate", pod="a"}': '1 0x10',
        'up{job="cni-gate/cni-gate", pod="b"}': '1x10',
      },
      at: '10m',
    },
  ],
  CniGateNotRedundant: [
    {
      when: 'one of two replicas is down for 16 minutes',
      series: {
        'up{job="cni-gate/cni-gate", pod="a"}': '0x20',
        'up{job="cni-gate/cni-gate", pod="b"}': '1x20',
      },
      at: '16m',
      fires: [{ summary: 'One replica of cni-gate is left.' }],
    },
    {
      when: 'a replica restarts',
      series: {
        'up{job="cni-gate/cni-gate", pod="a"}': '1 0x3 1x16',
        'up{job="cni-gate/cni-gate", pod="b"}': '1x20',
      },
      at: '20m',
    },
  ],
  CniGateNotReached: [
    {
      when: 'calls fail for 10 minutes',
      series: { [rejections('calling_webhook_error')]: '0+1x12' },
      at: '10m',
      fires: [
        { summary: 'The API server cannot reach cni-gate, or does not trust or understand its answer.' },
      ],
    },
    {
      when: 'pods are let through without an answer for 10 minutes',
      series: { 'apiserver_admission_webhook_fail_open_count{name="bindings.cni-gate.io"}': '0+1x12' },
      at: '10m',
      fires: [
        { summary: 'The API server cannot reach cni-gate, or does not trust or understand its answer.' },
      ],
    },
    {
      when: 'cni-gate refuses pods, and another webhook cannot be called',
      series: {
        [rejections('no_error')]: '0+1x12',
        'apiserver_admission_webhook_fail_open_count{name="other.example"}': '0+1x12',
      },
      at: '10m',
    },
  ],
  CniGateNotRegistered: [
    {
      when: 'a caBundle is wrong for 6 minutes',
      series: { 'cni_gate_ca_bundle_complete{configuration="mutating/cni-gate", pod="a"}': '1 0x10' },
      at: '7m',
      fires: [
        {
          labels: { configuration: 'mutating/cni-gate' },
          summary: 'mutating/cni-gate is missing or has another authority; pods are not proved, or refused.',
        },
      ],
    },
    {
      when: 'it was repaired at once',
      series: { 'cni_gate_ca_bundle_complete{configuration="mutating/cni-gate", pod="a"}': '1 0 1x10' },
      at: '10m',
    },
  ],
  CniGateSeesNoCluster: [
    {
      when: 'the last contact is 12 minutes ago',
      series: { 'cni_gate_cluster_last_contact_timestamp_seconds{pod="a", resource="nodes"}': '0x20' },
      at: '12m',
      fires: [
        {
          labels: { pod: 'a', resource: 'nodes' },
          summary: 'a has received nothing about nodes from the API server for ten minutes.',
        },
      ],
    },
    {
      when: 'it is one minute ago',
      series: { 'cni_gate_cluster_last_contact_timestamp_seconds{pod="a", resource="nodes"}': '0+60x20' },
      at: '12m',
    },
  ],
  CniGateRefuses: [
    {
      when: 'pods are refused for half an hour',
      series: {
        [reviews(
          'webhook="mutate", outcome="refused", profile="mehs", reason="CNI_GATE_PROFILE_UNKNOWN", pod="a"',
        )]: '0+1x40',
      },
      at: '30m',
      fires: [
        {
          labels: { profile: 'mehs', reason: 'CNI_GATE_PROFILE_UNKNOWN' },
          summary: 'Pods are refused: CNI_GATE_PROFILE_UNKNOWN, profile mehs.',
        },
      ],
    },
    {
      when: 'the gate refuses bindings, and one pod was refused',
      series: {
        [reviews('webhook="gate", outcome="refused", profile="mesh", reason="broken", pod="a"')]: '0+1x40',
        [reviews('webhook="mutate", outcome="refused", profile="mesh", reason="x", pod="a"')]: '0 1x40',
      },
      at: '30m',
    },
  ],
  CniGateNodesNotReady: [
    {
      when: 'two nodes are broken for 20 minutes, by both replicas',
      series: { [nodes('broken')]: '2x30', [nodes('broken', 'b')]: '2x30', [nodes('ready')]: '3x30' },
      at: '20m',
      fires: [
        {
          labels: { profile: 'mesh', daemonset: 'net/agent', state: 'broken' },
          summary: '2 nodes get no pods of profile mesh: net/agent is broken.',
        },
      ],
    },
    {
      when: 'nodes start',
      series: { [nodes('starting')]: '2x30', [nodes('broken')]: '0x30', [nodes('rebooted')]: '1x5 0x25' },
      at: '20m',
    },
  ],
  CniGateNetworkFails: [
    {
      when: 'proofs have failed on a node for 6 minutes',
      series: { [nodes('failing')]: '0 1x10', [nodes('failing', 'b')]: '0 1x10', [nodes('ready')]: '3x10' },
      at: '7m',
      fires: [
        {
          labels: { profile: 'mesh', daemonset: 'net/agent' },
          summary: 'On 1 nodes the network of profile mesh does not work, though net/agent is Ready.',
        },
      ],
    },
    {
      when: 'nodes wait for their first pod, and one was failing for 3 minutes',
      series: { [nodes('unproved')]: '5x20', [nodes('failing')]: '0 1x3 0x16' },
      at: '20m',
    },
  ],
  CniGateProofsFail: [
    {
      when: 'proofs of two pods have failed for 16 minutes',
      series: {
        'cni_gate_proofs{verdict="failed", pod="a"}': '2x20',
        'cni_gate_proofs{verdict="failed", pod="b"}': '2x20',
        'cni_gate_proofs{verdict="passed", pod="a"}': '90x20',
      },
      at: '16m',
      fires: [{ labels: { verdict: 'failed' }, summary: 'The proofs of 2 pods do not pass: failed.' }],
    },
    {
      when: 'pods failed while a node booted, and others wait',
      series: {
        'cni_gate_proofs{verdict="failed", pod="a"}': '0 30x5 0x20',
        'cni_gate_proofs{verdict="waiting", pod="a"}': '3x25',
        'cni_gate_proofs{verdict="passed", pod="a"}': '90x25',
      },
      at: '20m',
    },
  ],
  CniGatePodsWithoutSandbox: [
    {
      when: 'there are no addresses left for 11 minutes',
      series: {
        'cni_gate_pods_without_sandbox{pod="a"}': '4x20',
        'cni_gate_pods_without_sandbox{pod="b"}': '4x20',
      },
      at: '11m',
      fires: [{ summary: '4 pods wait for an address, for their network or for a volume.' }],
    },
    {
      when: 'a node booted',
      series: { 'cni_gate_pods_without_sandbox{pod="a"}': '0 9x5 0x20' },
      at: '20m',
    },
  ],
  CniGateRepairStopped: [
    {
      when: 'it has stopped for 6 minutes',
      series: { 'cni_gate_repair_stopped{pod="a"}': '0 1x10', 'cni_gate_repair_stopped{pod="b"}': '0x11' },
      at: '7m',
      fires: [
        { summary: 'Most pods that cni-gate recreated failed again, so it recreates no more of them.' },
      ],
    },
    {
      when: 'it went on after a minute',
      series: { 'cni_gate_repair_stopped{pod="a"}': '0 1 0x10' },
      at: '7m',
    },
  ],
  CniGateDuplicateAddresses: [
    {
      when: 'two pods have one address for two minutes',
      series: {
        'cni_gate_duplicate_addresses{pod="a"}': '0 1x10',
        'cni_gate_duplicate_addresses{pod="b"}': '0 1x10',
      },
      at: '3m',
      fires: [{ summary: '1 addresses belong to two live pods each.' }],
    },
    {
      when: 'an address was seen twice for a moment',
      series: { 'cni_gate_duplicate_addresses{pod="a"}': '0 1 0x10' },
      at: '3m',
    },
  ],
  CniGateDaemonSetUnknown: [
    {
      when: 'a pod was bound though its DaemonSet does not exist',
      series: {
        [reviews('webhook="gate", outcome="unknown", profile="mesh", reason="daemonset-unknown", pod="a"')]:
          '0 1x10',
      },
      at: '5m',
      fires: [
        {
          labels: { profile: 'mesh' },
          summary: 'A DaemonSet of profile mesh does not exist: its pods are held back from no node.',
        },
      ],
    },
    {
      when: 'pods are bound to ready nodes',
      series: {
        [reviews('webhook="gate", outcome="allowed", profile="mesh", reason="ready", pod="a"')]: '0+5x10',
      },
      at: '5m',
    },
  ],
  CniGateHoldsPods: [
    {
      when: 'three pods are held for 20 minutes',
      series: { 'cni_gate_held_pods{pod="a"}': '3x30', 'cni_gate_held_pods{pod="b"}': '3x30' },
      at: '20m',
      fires: [{ summary: '3 pods wait for a node whose network is not ready.' }],
    },
    {
      when: 'pods were held while a node rebooted',
      series: { 'cni_gate_held_pods{pod="a"}': '0x5 3x5 0x20' },
      at: '20m',
    },
  ],
  CniGateDoesNotSteer: [
    {
      when: 'both replicas are standby for 6 minutes',
      series: {
        'cni_gate_steer_state{state="steering", pod="a"}': '0x10',
        'cni_gate_steer_state{state="standby", pod="a"}': '1x10',
      },
      at: '6m',
      fires: [
        {
          summary:
            'No replica of cni-gate nominates refused pods for other nodes or writes events about them.',
        },
      ],
    },
    {
      when: 'steering is off',
      series: {
        'cni_gate_steer_state{state="steering", pod="a"}': '0x10',
        'cni_gate_steer_state{state="off", pod="a"}': '1x10',
      },
      at: '6m',
    },
  ],
  CniGateDoesNotRepair: [
    {
      when: 'both replicas are standby for 6 minutes',
      series: {
        'cni_gate_repair_state{state="recreate", pod="a"}': '0x10',
        'cni_gate_repair_state{state="audit", pod="a"}': '0x10',
        'cni_gate_repair_state{state="standby", pod="a"}': '1x10',
        'cni_gate_repair_state{state="recreate", pod="b"}': '1 0x9',
        'cni_gate_repair_state{state="standby", pod="b"}': '0 1x9',
      },
      at: '7m',
      fires: [{ summary: 'No replica of cni-gate recreates pods whose proof failed, or reports them.' }],
    },
    {
      when: 'one replica only reports, and the lead changes',
      series: {
        'cni_gate_repair_state{state="audit", pod="a"}': '1x3 0x7',
        'cni_gate_repair_state{state="standby", pod="a"}': '0x3 1x7',
        'cni_gate_repair_state{state="audit", pod="b"}': '0x4 1x6',
        'cni_gate_repair_state{state="standby", pod="b"}': '1x4 0x6',
      },
      at: '10m',
    },
    {
      when: 'repair is off',
      series: {
        'cni_gate_repair_state{state="recreate", pod="a"}': '0x10',
        'cni_gate_repair_state{state="off", pod="a"}': '1x10',
      },
      at: '7m',
    },
  ],
  CniGateLetsGo: [
    {
      when: 'a pod was released after gate.maxHold',
      series: {
        [reviews('webhook="gate", outcome="released", profile="mesh", reason="held-long-enough", pod="a"')]:
          '0 1x10',
      },
      at: '5m',
      fires: [
        {
          summary:
            'Pods were held for longer than gate.maxHold, and let through to nodes that are not ready.',
        },
      ],
    },
    {
      when: 'pods are only held',
      series: {
        [reviews('webhook="gate", outcome="refused", profile="mesh", reason="broken", pod="a"')]: '0+1x10',
      },
      at: '5m',
    },
  ],
  CniGateSlow: [
    {
      when: 'every answer takes more than a second for 15 minutes',
      series: {
        'cni_gate_admission_duration_seconds_bucket{le="1", pod="a"}': '0x20',
        'cni_gate_admission_duration_seconds_bucket{le="2.5", pod="a"}': '0+10x20',
        'cni_gate_admission_duration_seconds_bucket{le="+Inf", pod="a"}': '0+10x20',
      },
      at: '18m',
      fires: [{ summary: 'One in a hundred answers takes longer than a second.' }],
    },
    {
      when: 'answers take milliseconds',
      series: {
        'cni_gate_admission_duration_seconds_bucket{le="0.005", pod="a"}': '0+10x20',
        'cni_gate_admission_duration_seconds_bucket{le="+Inf", pod="a"}': '0+10x20',
      },
      at: '18m',
    },
  ],
  CniGatePatchFails: [
    {
      when: 'a patch did not apply',
      series: { 'cni_gate_patch_failures_total{pod="a"}': '0 1x10' },
      at: '5m',
      fires: [{ summary: 'A patch did not apply to its pod, and nothing was sent. A defect of cni-gate.' }],
    },
    {
      when: 'no patch failed',
      series: { 'cni_gate_patch_failures_total{pod="a"}': '0x10' },
      at: '5m',
    },
  ],
  CniGateReloadFails: [
    {
      when: 'the configuration cannot be used for 3 minutes',
      series: { 'cni_gate_last_reload_successful{source="configuration", pod="a"}': '1 0x10' },
      at: '4m',
      fires: [
        {
          labels: { source: 'configuration' },
          summary: 'A configuration cannot be used; the last good one is in force.',
        },
      ],
    },
    {
      when: 'the configuration was corrected',
      series: { 'cni_gate_last_reload_successful{source="configuration", pod="a"}': '0x2 1x10' },
      at: '4m',
    },
  ],
  CniGateCertificateExpires: [
    {
      when: 'the certificate expires in an hour',
      series: { 'cni_gate_certificate_not_after_timestamp_seconds{pod="a"}': '3600x20' },
      at: '15m',
      fires: [{ summary: 'A serving certificate expires within a day and was not renewed.' }],
    },
    {
      when: 'it expires in two days',
      series: { 'cni_gate_certificate_not_after_timestamp_seconds{pod="a"}': '172800x20' },
      at: '15m',
    },
  ],
};

/** Each alert in situations in which it fires, and in ordinary ones, in which it must not. */
export const cases: AlertCase[] = Object.entries(situations).flatMap(([alert, all]) =>
  all.map((situation) => ({ alert, fires: [], ...situation })),
);
