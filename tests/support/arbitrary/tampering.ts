import fc, { type Arbitrary } from 'fast-check';
import type { Container, Pod } from '../../../webhook/core/facts/pod.ts';
import {
  podInfoVolume,
  profileLabel,
  statusAnnotation,
  validatorContainer,
} from '../../../webhook/lib/names.ts';
import type { Change } from '../between-calls.ts';

const onOurs =
  (change: (container: Container) => void): Change =>
  (pod) => {
    const ours = pod.spec.initContainers?.find(({ name }) => name === validatorContainer);
    if (ours !== undefined) change(ours);
  };

const sets = (fields: Partial<Container>): Change => onOurs((ours) => void Object.assign(ours, fields));

const without = (map: Record<string, string> | null | undefined, key: string): void => {
  Reflect.deleteProperty(map ?? {}, key);
};

const chooses =
  (value: string): Change =>
  ({ metadata }) => {
    metadata.labels = { ...metadata.labels, [profileLabel]: value };
  };

/** What a careless or hostile hand can do to an injection. In place, and nothing where there is none. */
const tamperings: Record<string, Change> = {
  command: sets({ command: ['/bin/true'] }),
  args: sets({ args: null }),
  image: sets({ image: 'registry.example/true:1' }),
  pullPolicy: sets({ imagePullPolicy: 'Never' }),
  checks: onOurs((ours) => {
    ours.env = [...(ours.env ?? []), { name: 'CNI_GATE_CHECKS', value: '[]' }];
  }),
  variables: onOurs((ours) => {
    ours.env = ours.env?.slice(0, 1) ?? null;
  }),
  envFrom: sets({ envFrom: [{ configMapRef: { name: 'settings' } }] }),
  sidecar: sets({ restartPolicy: 'Always' }),
  rights: sets({ securityContext: { privileged: true } }),
  root: onOurs((ours) => {
    ours.securityContext = { ...ours.securityContext, runAsUser: 0 };
  }),
  // beside resources of the pod's own, those of a container are left as they were set
  resources: (pod: Pod) => {
    if (!pod.spec.resources) sets({ resources: { limits: { cpu: '7' } } })(pod);
  },
  noResources: sets({ resources: null }),
  noMounts: sets({ volumeMounts: null }),
  gone: (pod: Pod) => {
    pod.spec.initContainers =
      pod.spec.initContainers?.filter(({ name }) => name !== validatorContainer) ?? null;
  },
  last: ({ spec }: Pod) => {
    spec.initContainers?.push(...spec.initContainers.splice(0, 1));
  },
  volume: ({ spec }: Pod) => {
    const ours = spec.volumes?.find(({ name }) => name === podInfoVolume);
    if (ours !== undefined) ours.downwardAPI = { items: [] };
  },
  noStatus: ({ metadata }: Pod) => without(metadata.annotations, statusAnnotation),
  badStatus: ({ metadata }: Pod) => {
    metadata.annotations = { ...metadata.annotations, [statusAnnotation]: '{' };
  },
  noLabel: ({ metadata }: Pod) => without(metadata.labels, profileLabel),
  optOut: chooses('none'),
  otherProfile: chooses('aws-vpc-cni'),
  unknownProfile: chooses('nope'),
};

export const tampering: Arbitrary<Change> = fc.constantFrom(...Object.values(tamperings));
