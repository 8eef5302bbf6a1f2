import type { Row } from './model.ts';

/* Every replica counts all nodes and pods: `max` over the replicas, not `sum`. Each counts only its own reviews: `sum`. */

export const overview: Row = {
  title: 'Overview',
  panels: [
    {
      title: 'Replicas',
      description:
        'Replicas that Prometheus reaches, by version. Two versions for long mean a rollout that is stuck.',
      form: 'number',
      queries: [{ expr: 'count by (version) (cni_gate_build_info{SELECTOR})', legend: '{{version}}' }],
    },
    {
      title: 'Nodes not ready',
      description:
        'Nodes on which the DaemonSet of some profile is not ready or proofs fail, for the profile with most of them.',
      form: 'number',
      alarm: 1,
      queries: [
        {
          expr: 'max(sum by (profile, daemonset, instance) (cni_gate_nodes{SELECTOR,state!~"ready|exempt|unproved"}))',
          legend: 'nodes',
        },
      ],
    },
    {
      title: 'Held pods',
      description: 'Pods that wait because the gate refused their node.',
      form: 'number',
      alarm: 1,
      queries: [{ expr: 'max(cni_gate_held_pods{SELECTOR})', legend: 'pods' }],
    },
    {
      title: 'Proofs that did not pass',
      description: 'Pods that have not ended and whose proof failed or could not be made.',
      form: 'number',
      alarm: 1,
      queries: [
        {
          expr: 'max(sum by (instance) (cni_gate_proofs{SELECTOR,verdict!~"passed|waiting"}))',
          legend: 'pods',
        },
      ],
    },
    {
      title: 'Duplicate addresses',
      description: 'Addresses that two live pods of one network have.',
      form: 'number',
      alarm: 1,
      queries: [{ expr: 'max(cni_gate_duplicate_addresses{SELECTOR})', legend: 'addresses' }],
    },
    {
      title: 'Certificate expires in',
      description:
        'Shortest remaining validity of a serving certificate. It is renewed at two thirds of its life.',
      form: 'number',
      unit: 's',
      queries: [
        {
          expr: 'min(cni_gate_certificate_not_after_timestamp_seconds{SELECTOR}) - time()',
          legend: 'serving certificate',
        },
      ],
    },
  ],
};

export const admissions: Row = {
  title: 'Admissions',
  panels: [
    {
      title: 'Reviews',
      description: 'Answered reviews, by webhook and outcome.',
      form: 'stacked',
      unit: 'reqps',
      queries: [
        {
          expr: 'sum by (webhook, outcome) (rate(cni_gate_admission_reviews_total{SELECTOR}[$__rate_interval]))',
          legend: '{{webhook}} {{outcome}}',
        },
      ],
    },
    {
      title: 'Time to answer',
      description:
        'From the parsed request to the answer, at the median and for the slowest review in a hundred.',
      form: 'lines',
      unit: 's',
      queries: [0.5, 0.99].map((quantile) => ({
        expr: `histogram_quantile(${quantile}, sum by (le, webhook) (rate(cni_gate_admission_duration_seconds_bucket{SELECTOR}[$__rate_interval])))`,
        legend: `p${quantile * 100} {{webhook}}`,
      })),
    },
    {
      title: 'Refused pods, by reason',
      description: 'Pods that /mutate refused, or warned about. The reason is an error code.',
      form: 'lines',
      unit: 'reqps',
      queries: [
        {
          expr: 'sum by (profile, reason) (rate(cni_gate_admission_reviews_total{SELECTOR,webhook="mutate",outcome=~"refused|warned"}[$__rate_interval]))',
          legend: '{{reason}} ({{profile}})',
        },
      ],
    },
    {
      title: 'Errors',
      description:
        'Calls that are not a valid review, by error code; and patches that did not apply, which are a defect.',
      form: 'lines',
      unit: 'reqps',
      queries: [
        {
          expr: 'sum by (code) (rate(cni_gate_bad_requests_total{SELECTOR}[$__rate_interval]))',
          legend: '{{code}}',
        },
        {
          expr: 'sum(rate(cni_gate_patch_failures_total{SELECTOR}[$__rate_interval]))',
          legend: 'patch did not apply',
        },
      ],
    },
  ],
};

export const gate: Row = {
  title: 'Gate',
  panels: [
    {
      title: 'Refused bindings, by reason',
      description: 'Bindings to nodes that are not ready. The reason is the state of the node.',
      form: 'stacked',
      unit: 'reqps',
      queries: [
        {
          expr: 'sum by (profile, reason) (rate(cni_gate_admission_reviews_total{SELECTOR,webhook="gate",outcome="refused"}[$__rate_interval]))',
          legend: '{{reason}} ({{profile}})',
        },
      ],
    },
    {
      title: 'Allowed without a ready node, by reason',
      description:
        'Bindings that were allowed although the node is not ready (audited, released) or its state is not known.',
      form: 'stacked',
      unit: 'reqps',
      queries: [
        {
          expr: 'sum by (outcome, reason) (rate(cni_gate_admission_reviews_total{SELECTOR,webhook="gate",outcome=~"audited|released|unknown"}[$__rate_interval]))',
          legend: '{{outcome}}: {{reason}}',
        },
      ],
    },
    {
      title: 'Held pods',
      description: 'Pods that wait because the gate refused their node.',
      form: 'lines',
      queries: [{ expr: 'max(cni_gate_held_pods{SELECTOR})', legend: 'held' }],
    },
  ],
};

export const networks: Row = {
  title: 'Nodes and networks',
  panels: [
    {
      title: 'Nodes by network and state',
      description:
        'Nodes by state of the DaemonSet and by the proofs there. States without a node are left out.',
      form: 'table',
      queries: [{ expr: 'max by (profile, daemonset, state) (cni_gate_nodes{SELECTOR}) > 0', legend: '' }],
    },
    {
      title: 'Nodes that are not ready',
      description: 'Nodes to which the gate lets no pod, or one at a time. `npx cni-gate status` names them.',
      form: 'stacked',
      queries: [
        {
          expr: 'max by (profile, daemonset, state) (cni_gate_nodes{SELECTOR,state!~"ready|exempt"})',
          legend: '{{profile}}: {{daemonset}} {{state}}',
        },
      ],
    },
  ],
};
