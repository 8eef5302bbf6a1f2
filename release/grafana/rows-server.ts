import type { Row } from './model.ts';

export const limits: Row = {
  title: 'Limits that were reached',
  panels: [
    {
      title: 'Calls and connections, by limit',
      description: 'Calls not answered and connections closed because of a limit.',
      form: 'stacked',
      unit: 'cps',
      queries: [
        {
          expr: 'sum by (limit) (rate(cni_gate_overload_total{SELECTOR}[$__rate_interval]))',
          legend: '{{limit}}',
        },
      ],
    },
    {
      title: 'Objects that were left out',
      description: 'Objects of the cluster that are not kept, by resource and reason.',
      form: 'stacked',
      unit: 'cps',
      queries: [
        {
          expr: 'sum by (resource, reason) (rate(cni_gate_cluster_objects_left_out_total{SELECTOR}[$__rate_interval]))',
          legend: '{{resource}}: {{reason}}',
        },
      ],
    },
    {
      title: 'Single objects that were requested',
      description: 'Because the watch had not reported them. limited: not sent, because of too many.',
      form: 'stacked',
      unit: 'cps',
      queries: [
        {
          expr: 'sum by (resource, result) (rate(cni_gate_cluster_lookups_total{SELECTOR}[$__rate_interval]))',
          legend: '{{resource}}: {{result}}',
        },
      ],
    },
    {
      title: 'Bodies in flight',
      description: 'Memory reserved for bodies of admission calls.',
      form: 'lines',
      unit: 'bytes',
      queries: [
        {
          expr: 'max by (form) (cni_gate_bodies_in_flight_bytes{SELECTOR})',
          legend: '{{form}}',
        },
      ],
    },
  ],
};

export const cluster: Row = {
  title: 'The cluster, as the replicas see it',
  panels: [
    {
      title: 'Time since the last contact',
      description:
        'Age of the last data from the API server, normally at most about 20 s. Shows the oldest of the replicas.',
      form: 'lines',
      unit: 's',
      queries: [
        {
          expr: 'time() - min by (resource) (cni_gate_cluster_last_contact_timestamp_seconds{SELECTOR})',
          legend: '{{resource}}',
        },
      ],
    },
    {
      title: 'Known objects',
      description: 'Objects that the replicas keep, by resource.',
      form: 'lines',
      queries: [{ expr: 'max by (resource) (cni_gate_cluster_objects{SELECTOR})', legend: '{{resource}}' }],
    },
    {
      title: 'Watches that ended, failed lists',
      description: 'By reason, without those that the API server ended as requested.',
      form: 'stacked',
      unit: 'cps',
      queries: [
        {
          expr: 'sum by (resource, reason) (rate(cni_gate_cluster_watch_ends_total{SELECTOR,reason!="ended"}[$__rate_interval]))',
          legend: '{{resource}}: {{reason}}',
        },
        {
          expr: 'sum by (resource) (rate(cni_gate_cluster_lists_total{SELECTOR,result="failure"}[$__rate_interval]))',
          legend: '{{resource}}: list failed',
        },
      ],
    },
  ],
};

export const process: Row = {
  title: 'Process',
  panels: [
    {
      title: 'Memory',
      description: 'Resident memory of each replica. The manifests limit it to 512 MiB.',
      form: 'lines',
      unit: 'bytes',
      queries: [
        { expr: 'process_resident_memory_bytes{SELECTOR}', legend: 'resident {{instance}}' },
        { expr: 'nodejs_heap_size_used_bytes{SELECTOR}', legend: 'heap {{instance}}' },
      ],
    },
    {
      title: 'Event loop',
      description:
        'Longest time in which the replica could not answer since it began to serve, and its 99th percentile now.',
      form: 'lines',
      unit: 's',
      queries: [
        { expr: 'cni_gate_event_loop_delay_max_seconds{SELECTOR}', legend: 'longest {{instance}}' },
        { expr: 'nodejs_eventloop_lag_p99_seconds{SELECTOR}', legend: 'p99 {{instance}}' },
      ],
    },
    {
      title: 'Processor',
      description: 'Cores that each replica uses.',
      form: 'lines',
      queries: [
        { expr: 'rate(process_cpu_seconds_total{SELECTOR}[$__rate_interval])', legend: '{{instance}}' },
      ],
    },
    {
      title: 'Changed files',
      description:
        'Attempts to apply a changed configuration or certificate. 0 of "last applied": the last good one is in force.',
      form: 'lines',
      queries: [
        {
          expr: 'sum by (source, result) (increase(cni_gate_reloads_total{SELECTOR}[$__rate_interval]))',
          legend: '{{source}}: {{result}}',
        },
        {
          expr: 'min by (source) (cni_gate_last_reload_successful{SELECTOR})',
          legend: '{{source}}: last applied',
        },
      ],
    },
  ],
};
