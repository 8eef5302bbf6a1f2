import fc, { type Arbitrary } from 'fast-check';
import type { Container, Pod } from '../../../webhook/admission/pod.ts';
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
  command: onOurs((ours) => {
    ours.command = ['/bin/true'];
  }),
  args: onOurs((ours) => {
    ours.args = null;
  }),
  image: onOurs((ours) => {
    ours.image = 'registry.example/true:1';
  }),
  pullPolicy: onOurs((ours) => {
    ours.imagePullPolicy = 'Never';
  }),
  checks: onOurs((ours) => {
    ours.env = [...(ours.env ?? []), { name: 'CNI_GATE_CHECKS', value: '[]' }];
  }),
  variables: onOurs((ours) => {
    ours.env = ours.env?.slice(0, 1) ?? null;
  }),
  envFrom: onOurs((ours) => {
    ours.envFrom = [{ configMapRef: { name: 'settings' } }];
  }),
  sidecar: onOurs((ours) => {
    ours.restartPolicy = 'Always';
  }),
  rights: onOurs((ours) => {
    ours.securityContext = { privileged: true };
  }),
  root: onOurs((ours) => {
    ours.securityContext = { ...ours.securityContext, runAsUser: 0 };
  }),
  // beside resources of the pod's own, those of a container are left as they were set
  resources: (pod: Pod) => {
    if (!pod.spec.resources)
      onOurs((ours) => Object.assign(ours, { resources: { limits: { cpu: '7' } } }))(pod);
  },
  noResources: onOurs((ours) => {
    ours.resources = null;
  }),
  noMounts: onOurs((ours) => {
    ours.volumeMounts = null;
  }),
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
