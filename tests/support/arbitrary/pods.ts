import fc, { type Arbitrary } from 'fast-check';
import type { Container, Pod, PodSpec, SecurityContext, Volume } from '../../../webhook/core/facts/pod.ts';
import { copyOf } from '../answers.ts';
import { annotations, labels } from './maps.ts';
import { anyResources, styles } from './resources.ts';

/** Names of containers, some of which occur in the `when` of a profile. */
const names = [
  ...['linkerd-proxy', 'linkerd-init', 'istio-proxy', 'istio-validation', 'istio-init'],
  ...['linkerd-network-validator', 'app', 'cache', 'log', 'wait'],
];

const image = fc.constantFrom(
  'registry.example/app:1',
  'app',
  'registry.example:5000/app@sha256:00',
  'a:latest',
);

const securityContext: Arbitrary<SecurityContext | null> = fc.option(
  fc.record(
    {
      runAsUser: fc.constantFrom(null, 0, 1000, 1337, 2102, 64_532, 65_534),
      runAsGroup: fc.constantFrom(null, 0, 1337, 2102, 64_532),
      runAsNonRoot: fc.constantFrom(null, false),
    },
    { requiredKeys: [] },
  ),
);

const volumes = fc.subarray<Volume>([
  { name: 'data', emptyDir: {} },
  { name: 'conf', configMap: { name: 'conf' } },
  { name: 'kube-api-access-abcde', projected: { sources: [] } },
]);

type Nameless = Omit<Container, 'name'>;

const container = (resources: Arbitrary<Container['resources']>): Arbitrary<Nameless> =>
  fc.record(
    {
      image,
      args: fc.constantFrom(null, [], ['--port', '8080']),
      env: fc.constantFrom(null, [], [{ name: 'A', value: '1' }], [{ name: 'CNI_GATE_EXTRA', value: 'x' }]),
      resources,
      securityContext,
    },
    { requiredKeys: ['image', 'resources'] },
  );

/** Containers and init containers, including sidecars, with names that are unique over both lists. */
const containers: Arbitrary<Pick<PodSpec, 'containers' | 'initContainers'>> = styles.chain((resources) =>
  fc
    .record({
      main: fc.array(container(resources), { minLength: 1, maxLength: 3 }),
      init: fc.option(fc.array(fc.tuple(container(resources), fc.boolean()), { maxLength: 3 }), { freq: 3 }),
      order: fc.shuffledSubarray(names, { minLength: names.length }),
    })
    .map(({ main, init, order }) => {
      const pool = [...order];
      const name = (): string => pool.shift() ?? 'last';
      return {
        containers: main.map((parts) => ({ name: name(), ...parts })),
        initContainers:
          init?.map(([parts, sidecar]) => ({
            name: name(),
            ...parts,
            ...(sidecar && { restartPolicy: 'Always' }),
          })) ?? null,
      };
    }),
);

const rarely = <T>(rare: T, ...usual: T[]): Arbitrary<T> =>
  fc.oneof({ weight: 15, arbitrary: fc.constantFrom(...usual) }, fc.constant(rare));

const rest: Arbitrary<Partial<PodSpec>> = fc.record(
  {
    volumes: fc.option(volumes),
    imagePullSecrets: fc.option(fc.subarray([{ name: 'mirror' }, { name: 'own' }])),
    securityContext,
    resources: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(null, {}) }, anyResources),
    hostNetwork: rarely(true, null, false),
    nodeSelector: fc.constantFrom(null, {}, { 'kubernetes.io/os': 'linux' }),
    os: rarely({ name: 'windows' }, { name: 'linux' }),
    serviceAccountName: fc.constant('builder'),
  },
  { requiredKeys: [] },
);

const metadata = fc.record(
  { name: fc.constant('a'), generateName: fc.constant('a-'), labels, annotations },
  { requiredKeys: ['generateName'] },
);

/** Pods of every kind that admission distinguishes; Kubernetes would accept about half of them. */
export const pods: Arbitrary<Pod> = fc
  .record({ metadata, lists: containers, rest, nulls: fc.boolean() })
  .map(({ metadata: meta, lists, rest: more, nulls }) => {
    const { initContainers, ...main } = lists;
    // Kubernetes treats an absent list and a null list alike
    const init = initContainers === null && !nulls ? {} : { initContainers };
    return copyOf({ metadata: meta, spec: { ...main, ...init, ...more } }) as Pod;
  });
