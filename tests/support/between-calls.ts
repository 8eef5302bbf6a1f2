import type { Pod } from '../../webhook/admission/pod.ts';
import { fillDefaults } from './between-calls/defaults.ts';
import {
  alwaysPullImages,
  limitRange,
  mountServiceAccount,
  scheduleDefaults,
} from './between-calls/plugins.ts';
import {
  addVariable,
  appendSidecar,
  assignOpenShiftIds,
  initContainerFirst,
  mountCertificates,
} from './between-calls/webhooks.ts';

/** A change that the API server, its plugins or other webhooks make to a pod between two calls. In place. */
export type Change = (pod: Pod) => void;

/** What the API server does to every pod between two calls. */
export function asTheApiServerLeavesIt(pod: Pod): void {
  fillDefaults(pod);
  mountServiceAccount(pod);
  scheduleDefaults(pod);
}

/** Changes that are made in some clusters, by name. Each makes no difference the second time. */
export const changes: Readonly<Record<string, Change>> = {
  fillDefaults,
  mountServiceAccount,
  scheduleDefaults,
  alwaysPullImages,
  limitRange: limitRange({
    limits: { cpu: '1', memory: '512Mi' },
    requests: { cpu: '100m', memory: '128Mi' },
  }),
  limitRangeOfMemory: limitRange({ limits: { memory: '1Gi' }, requests: { memory: '1Gi' } }),
  initContainerFirst: initContainerFirst('vault-agent-init'),
  appendSidecar,
  addVariable,
  mountCertificates,
  assignOpenShiftIds,
};

export { fillDefaults, initContainerFirst };
