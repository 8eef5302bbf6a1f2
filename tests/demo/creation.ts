import { readFileSync } from 'node:fs';
import { styleText } from 'node:util';
import jsonpatch from 'fast-json-patch';
import type { AdmissionReview } from '../../webhook/admission/review.ts';
import { validatorContainer } from '../../webhook/lib/names.ts';

/** Sends an AdmissionReview to the server, as an API server does. */
export type Ask = (review: object) => Promise<AdmissionReview>;

/** The parts of a pod that the demo shows. */
interface Pod {
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    initContainers: { name: string; env?: { name: string; value?: string }[] }[];
    containers: { name: string }[];
  };
}

/** Prints a pod with linkerd's proxy before and after `/mutate`, as a list with `+` for additions. */
export async function showCreation(mutate: Ask): Promise<boolean> {
  const review = JSON.parse(readFileSync(new URL('../reviews/pod-meshed.json', import.meta.url), 'utf8'));
  const before: Pod = review.request.object;
  const after = structuredClone(before);
  const { response } = await mutate(review);
  if (response?.patch === undefined) return false;
  jsonpatch.applyPatch(after, JSON.parse(Buffer.from(response.patch, 'base64').toString()));

  const was = new Set(excerpt(before));
  console.log(
    `\n${styleText('bold', 'A pod is created. cni-gate adds its proof (+) before all other containers:')}`,
  );
  for (const line of excerpt(after)) {
    console.log(was.has(line) ? `  ${line}` : styleText('green', `+ ${line}`));
  }
  return after.spec.initContainers[0]?.name === validatorContainer;
}

/** Labels and containers of a pod, as lines of YAML. */
function excerpt({ metadata, spec }: Pod): string[] {
  return [
    `metadata: # of pod ${metadata.name}`,
    '  labels:',
    ...Object.entries(metadata.labels).map(([key, value]) => `    ${key}: ${value}`),
    'spec:',
    '  initContainers:',
    ...spec.initContainers.map((container) => `  - name: ${container.name}${proves(container.env)}`),
    '  containers:',
    ...spec.containers.map(({ name }) => `  - name: ${name}`),
  ];
}

/** The validator's checks as a YAML comment; empty for another container. */
function proves(env: Pod['spec']['initContainers'][0]['env'] = []): string {
  const value = env.find(({ name }) => name === 'CNI_GATE_CHECKS')?.value;
  if (value === undefined) return '';
  const checks: Record<string, unknown>[] = JSON.parse(value);
  return ` # proves ${checks.flatMap(({ profile, ...check }) => Object.keys(check)).join(', ')}`;
}
