import fc, { type Arbitrary } from 'fast-check';
import type { MutateContext } from '../../../webhook/admission/mutate.ts';
import { allContainers, type EnvVar, type Pod } from '../../../webhook/core/facts/pod.ts';
import { answerTo, copyOf, patched } from '../answers.ts';
import { changes } from '../between-calls.ts';
import { contextIn, policies } from './contexts.ts';
import { pods } from './pods.ts';

/* Pods to create, with valid keys, and with fields that the mutating policy reads but {@link pods} never sets. */

/** Values of the namespace's label, chosen so that the mutating policy handles most pods without the webhook. */
const profiles = [
  ...['cilium', 'linkerd', 'istio', 'istio-ambient', 'multus', 'cilium.linkerd', 'cilium.linkerd.multus'],
  ...['aws-vpc-cni.istio', 'istio-ambient.multus', 'homemade.linkerd', 'database.cilium', 'istio.multus'],
  ...['cilium.shaped', 'storage.multus', 'nope', 'cilium.cilium', 'istio.linkerd', 'homemade.istio'],
  ...['alone', 'alone.cilium', 'alone.linkerd.multus'],
];

const contexts = policies.flatMap((policy) =>
  profiles.map((profile) => contextIn(policy, profile, profile === 'istio-ambient.multus')),
);

const validKey = /^([a-z]+([.-][a-z]+)*\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const validLabel = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

const valid = (map: Pod['metadata']['labels'], value = /^/): Record<string, string> =>
  Object.fromEntries(
    Object.entries(map ?? {}).filter(
      ([key, text]) => validKey.test(key) && text !== null && value.test(text),
    ),
  );

const listeners = [
  '0.0.0.0:4143',
  '[::]:4143',
  '127.0.0.1:1,[::1]:1',
  '127.0.0.1:1,10.0.0.1:1',
  'localhost:1',
  '',
];

/** Values of two environment variables of a mesh's proxy; null if the proxy does not have the variable. */
const variables = fc.tuple(
  fc.option(fc.constantFrom(...listeners)),
  fc.option(fc.constantFrom('true', '1', 'yes')),
);

const annotations: [string, string][] = [
  ['config.linkerd.io/skip-outbound-ports', '25,80-90, smtp,4000-'],
  ['config.linkerd.io/skip-outbound-ports', ' 1400-1500 ,25'],
  ['config.linkerd.io/proxy-uid', '+064532'],
  ['config.linkerd.io/proxy-gid', '64532'],
  ['config.linkerd.io/proxy-gid', '2102 x'],
  ['sidecar.istio.io/status', '{}'],
  ['sidecar.istio.io/status', '{}'],
];

const fresh: Arbitrary<Pod> = fc
  .record({
    pod: pods,
    variables,
    more: fc.option(fc.constantFrom(...annotations)),
    mesh: fc.constantFrom(undefined, 'linkerd-proxy', 'istio-validation'),
    device: fc.integer({ max: 9, min: 0 }),
  })
  .map(({ pod, variables: [listener, dualStack], more, mesh, device }) => {
    const copy = copyOf(pod);
    const { metadata, spec } = copy;
    const env: EnvVar[] = [
      ...(listener === null ? [] : [{ name: 'LINKERD2_PROXY_INBOUND_LISTEN_ADDR', value: listener }]),
      ...(dualStack === null ? [] : [{ name: 'ISTIO_DUAL_STACK', value: dualStack }]),
    ];
    metadata.labels = valid(metadata.labels, validLabel);
    metadata.annotations = { ...valid(metadata.annotations), ...(more && Object.fromEntries([more])) };
    const [first] = spec.containers;
    const names = allContainers(copy).map(({ name }) => name);
    if (first && mesh && !names.includes(mesh)) first.name = mesh;
    if (first && device === 0) first.resources = { limits: { 'example.com/nic': 1 } };
    for (const container of allContainers(copy)) container.env = [...(container.env ?? []), ...env];
    return copy;
  });

/** Changes that other components may make between two calls of the webhook. */
const later: ((pod: Pod) => void)[] = [
  ...Object.values(changes),
  ({ metadata }) => delete metadata.annotations?.['k8s.v1.cni.cncf.io/networks'],
  ({ metadata }) => Object.assign(metadata.annotations ?? {}, { 'sidecar.istio.io/status': '{}' }),
  ({ spec }) => Object.assign(spec.initContainers?.[0] ?? {}, { image: 'example/forged' }),
];

export interface Creation {
  pod: Pod;
  context: MutateContext;
}

/** Pods as users create them, and pods that others changed after an earlier call had injected the proof. */
export const creations: Arbitrary<Creation> = fc
  .record({
    pod: fresh,
    context: fc.constantFrom(...contexts),
    again: fc.boolean(),
    some: fc.subarray(later, { maxLength: 2 }),
  })
  .map(({ pod, context, again, some }) => {
    if (!again) return { pod, context };
    const injected = patched(pod, answerTo(pod, context).patch);
    for (const change of some) change(injected);
    return { pod: injected, context };
  });
