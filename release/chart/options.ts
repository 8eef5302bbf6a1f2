import type { Kustomization } from '../kustomize.ts';

/** A choice in the chart's values, and the kustomization that makes the same choice. */
export interface Option {
  /** Go template expression that is true when the choice is made. */
  condition: string;
  kustomization: Kustomization;
}

/** What the chart renders when no option is chosen. */
export const defaults: Kustomization = { overlay: 'strict' };

const component = (name: string, condition: string): Option => ({
  condition,
  kustomization: { overlay: 'strict', components: [name] },
});

/**
 * Every option of the chart. Each is rendered on its own; the chart combines them. Two options that change the same
 * lines in different ways are an error of the build.
 */
export const options: Option[] = [
  { condition: 'eq .Values.mode "permissive"', kustomization: { overlay: 'permissive' } },
  component('files', 'ne .Values.certificates "secret"'),
  component('cert-manager', 'eq .Values.certificates "cert-manager"'),
  component('client-certificates', '.Values.clientCertificates'),
  component('host-network', '.Values.hostNetwork'),
  component('monitoring', '.Values.monitoring.enabled'),
  component('grafana-dashboard', '.Values.grafanaDashboard.enabled'),
  component('network-policy', '.Values.networkPolicy.enabled'),
  component('no-opt-out', 'not (dig "proof" "allowOptOut" true .Values.configuration)'),
];
