import type { Row } from './model.ts';

export const proofs: Row = {
  title: 'Proofs',
  panels: [
    {
      title: 'Pods by verdict',
      description: 'Pods that have not ended, by the verdict of their init container.',
      form: 'stacked',
      queries: [{ expr: 'max by (verdict) (cni_gate_proofs{SELECTOR})', legend: '{{verdict}}' }],
    },
    {
      title: 'Pods without a sandbox, duplicate addresses',
      description:
        'Pods that have waited for their sandbox for a minute or more, and addresses that two live pods have.',
      form: 'lines',
      queries: [
        { expr: 'max(cni_gate_pods_without_sandbox{SELECTOR})', legend: 'pods without a sandbox' },
        { expr: 'max(cni_gate_duplicate_addresses{SELECTOR})', legend: 'duplicate addresses' },
      ],
    },
  ],
};

export const steering: Row = {
  title: 'Steering',
  panels: [
    {
      title: 'Nominations',
      description: 'Nodes that cni-gate nominated for refused pods, by result of the write.',
      form: 'stacked',
      unit: 'cps',
      queries: [
        {
          expr: 'sum by (result) (rate(cni_gate_nominations_total{SELECTOR}[$__rate_interval]))',
          legend: '{{result}}',
        },
      ],
    },
    {
      title: 'Outcomes of nominations',
      description: 'left: the pod was bound or deleted. expired: its scheduler ignores nominations.',
      form: 'stacked',
      unit: 'cps',
      queries: [
        {
          expr: 'sum by (outcome) (rate(cni_gate_nomination_outcomes_total{SELECTOR}[$__rate_interval]))',
          legend: '{{outcome}}',
        },
      ],
    },
    {
      title: 'Replicas by state',
      description:
        'One replica steers, and the others are standby. Rounds that used up their work budget leave pods to the next.',
      form: 'lines',
      queries: [
        { expr: 'sum by (state) (cni_gate_steer_state{SELECTOR})', legend: '{{state}}' },
        {
          expr: 'sum(increase(cni_gate_steer_rounds_cut_total{SELECTOR}[$__rate_interval]))',
          legend: 'rounds cut',
        },
      ],
    },
    {
      title: 'Events',
      description: 'Kubernetes events, by reason and result of the write.',
      form: 'stacked',
      unit: 'cps',
      queries: [
        {
          expr: 'sum by (reason, result) (rate(cni_gate_events_total{SELECTOR}[$__rate_interval]))',
          legend: '{{reason}} {{result}}',
        },
      ],
    },
  ],
};

export const repair: Row = {
  title: 'Repair',
  panels: [
    {
      title: 'Recreations',
      description: 'Pods chosen for recreation, by result. would: not made, by repair.mode: audit.',
      form: 'stacked',
      unit: 'cps',
      queries: [
        {
          expr: 'sum by (result) (rate(cni_gate_repair_recreations_total{SELECTOR}[$__rate_interval]))',
          legend: '{{result}}',
        },
      ],
    },
    {
      title: 'Outcomes of recreations',
      description: 'Recreated pods, by the verdict of the pod that replaced them.',
      form: 'stacked',
      unit: 'cps',
      queries: [
        {
          expr: 'sum by (outcome) (rate(cni_gate_repair_outcomes_total{SELECTOR}[$__rate_interval]))',
          legend: '{{outcome}}',
        },
      ],
    },
    {
      title: 'Failed pods that are left alone, by reason',
      description:
        'budget: a budget per minute is used up. breaker, node-pause and owner-pause: recreated pods failed again, and the next attempt follows after a pause.',
      form: 'stacked',
      queries: [{ expr: 'max by (reason) (cni_gate_repair_left_alone{SELECTOR}) > 0', legend: '{{reason}}' }],
    },
    {
      title: 'Stopped namespaces, replicas by state',
      description:
        'Namespaces in which repair has stopped because most recreated pods failed again. One replica repairs, and the others are standby.',
      form: 'lines',
      queries: [
        { expr: 'max(cni_gate_repair_stopped{SELECTOR})', legend: 'namespaces in which repair has stopped' },
        { expr: 'sum by (state) (cni_gate_repair_state{SELECTOR})', legend: 'replicas: {{state}}' },
      ],
    },
  ],
};

export const certificates: Row = {
  title: 'Certificates',
  panels: [
    {
      title: 'Remaining validity',
      description: 'Of the serving certificates, and of the authority that signs them.',
      form: 'lines',
      unit: 's',
      queries: [
        {
          expr: 'cni_gate_certificate_not_after_timestamp_seconds{SELECTOR} - time()',
          legend: 'serving {{instance}}',
        },
        {
          expr: 'min(cni_gate_authority_not_after_timestamp_seconds{SELECTOR}) - time()',
          legend: 'authority',
        },
      ],
    },
    {
      title: 'Trust',
      description:
        'caBundle: 1 if the webhook configuration has the right one. More than one authority: a rotation is under way.',
      form: 'lines',
      queries: [
        {
          expr: 'min by (configuration) (cni_gate_ca_bundle_complete{SELECTOR})',
          legend: 'caBundle of {{configuration}}',
        },
        { expr: 'max(cni_gate_authorities{SELECTOR})', legend: 'authorities' },
      ],
    },
    {
      title: 'Rotation and repairs',
      description:
        'Steps written into the Secret, faults that were repaired, and failed attempts by error code.',
      form: 'stacked',
      unit: 'cps',
      queries: [
        {
          expr: 'sum by (step) (rate(cni_gate_certificate_steps_total{SELECTOR}[$__rate_interval]))',
          legend: 'step {{step}}',
        },
        {
          expr: 'sum by (object, reason) (rate(cni_gate_certificate_repairs_total{SELECTOR}[$__rate_interval]))',
          legend: 'repaired {{object}}: {{reason}}',
        },
        {
          expr: 'sum by (code) (rate(cni_gate_certificate_failures_total{SELECTOR}[$__rate_interval]))',
          legend: 'failed: {{code}}',
        },
      ],
    },
    {
      title: 'Clock skew to the API server',
      description: "API server's clock minus the replica's, to about a second.",
      form: 'lines',
      unit: 's',
      queries: [{ expr: 'cni_gate_api_server_clock_skew_seconds{SELECTOR}', legend: '{{instance}}' }],
    },
  ],
};
