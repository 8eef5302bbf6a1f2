/** Parts of hostile input that several files use. */
import { foreign, validatorContainer } from '../../../webhook/lib/names.ts';
import { policyOf } from '../../support/configurations.ts';

/** A profile with the DaemonSet of `clusterWith`. */
export const profiles = [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }];

/** Profiles that add a network, and that need a DaemonSet. */
export const policy = policyOf({
  profiles: [
    {
      name: 'nets',
      annotations: { [foreign.networks]: '[{"name":"storage","cni-args":{"mtu":1},"mac":"a"}]' },
      proof: { checks: [{ interfaces: {} }] },
    },
    ...profiles,
  ],
});

/** All built-in profiles. */
export const everything = policyOf();

/** Of an ordinary pod. */
export const containers = [{ name: 'app' }];

/** The init container that admission adds. */
export const ours = { name: validatorContainer, env: [{ name: 'CNI_GATE_CHECKS', value: '[]' }] };

/** JSON of objects in objects. */
export const nested = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

/** How the API server begins to quote a refusal of the gate. */
export const denied = '"bindings.cni-gate.io" denied the request: node ';

/** A status in which the scheduler quotes a message. */
export const condition = (message: string) => ({
  conditions: [{ type: 'PodScheduled', status: 'False', message }],
});

/** Of an ordinary pod. */
export const metadata = { uid: 'u', resourceVersion: '1', namespace: 'shop', name: 'web-0' };

export const taint = (index: number) => ({ key: `key-${index}`, value: 'v', effect: 'NoSchedule' });

export const toleration = (index: number) => ({
  key: `key-${index}`,
  operator: 'Equal',
  value: 'w',
  effect: 'NoSchedule',
});

export const requests = (index: number) => ({ resources: { requests: { [`example.com/r${index}`]: '1' } } });
