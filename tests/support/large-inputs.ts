import { recorded } from './reviews.ts';

const { metadata, spec } = recorded('pod-meshed').request.object;
const env = Array.from({ length: 44 }, (_, index) => ({
  name: `SETTING_${index}`,
  value: `value of setting ${index}`,
}));

/** A Deployment that is about as large as one from an API server. NAME is a placeholder for its name. */
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'NAME', namespace: 'shop' },
  spec: {
    template: {
      metadata: { labels: metadata.labels },
      spec: { ...spec, containers: spec.containers.map((container) => ({ ...container, env })) },
    },
  },
};

/** A List of Deployments as `kubectl get --all-namespaces --output json` prints it. */
export function jsonListOfDeployments(count: number): string {
  const text = JSON.stringify(deployment, null, 4).replace(/^/gm, '        ');
  const items = Array.from({ length: count }, (_, index) => text.replaceAll('NAME', `web-${index}`));
  return `{\n    "apiVersion": "v1",\n    "items": [\n${items.join(',\n')}\n    ],\n    "kind": "List"\n}\n`;
}
