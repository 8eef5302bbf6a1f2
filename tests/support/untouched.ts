import assert from 'node:assert/strict';
import { allContainers, type Pod } from '../../webhook/core/facts/pod.ts';
import {
  foreign,
  podInfoVolume,
  profileLabel,
  statusAnnotation,
  validatorContainer,
} from '../../webhook/lib/names.ts';
import { copyOf } from './answers.ts';

/** Annotations that list ports that a mesh does not redirect. cni-gate adds the port of its readiness probe. */
const excludedPorts = [
  'config.linkerd.io/skip-inbound-ports',
  'traffic.sidecar.istio.io/excludeInboundPorts',
];

/** Asserts that only what belongs to cni-gate changed in a pod, and that additions come after the user's entries. */
export function assertUntouched(before: Pod, after: Pod): void {
  const [then, now] = [usersPart(before), usersPart(after)];
  assertKept(then.metadata.labels, now.metadata.labels, 'label');
  assertKept(then.metadata.annotations, now.metadata.annotations, 'annotation');
  assertPrefix(itemsOf(before, foreign.networks), itemsOf(after, foreign.networks));
  for (const key of excludedPorts) {
    const [old, all] = [itemsOf(before, key), itemsOf(after, key)];
    assertPrefix(old, all);
    // a pod without a list gets a copy of its namespace's list, so any number of ports may be new
    assert.ok(old.length === 0 || all.length <= old.length + 1, key);
  }
  assertPrefix(then.spec.imagePullSecrets ?? [], now.spec.imagePullSecrets ?? []);
  for (const pod of [then, now]) {
    pod.metadata.labels = null;
    pod.metadata.annotations = null;
    pod.spec.imagePullSecrets = null;
    dropEmpty(pod);
  }
  assert.deepEqual(now, then);
}

/** Removes lists and maps that are null or empty, because Kubernetes treats them as absent. */
function dropEmpty(pod: Pod): void {
  const all = [...allContainers(pod), pod.spec];
  for (const object of [pod.metadata, ...all, ...all.map(({ resources }) => resources ?? {})]) {
    for (const [key, value] of Object.entries(object)) {
      const isEmpty = typeof value === 'object' && (value === null || Object.keys(value).length === 0);
      if (isEmpty && !['containers', 'resources', 'securityContext'].includes(key))
        Reflect.deleteProperty(object, key);
    }
  }
}

function usersPart(pod: Pod): Pod {
  const copy = copyOf(pod);
  const { metadata, spec } = copy;
  spec.initContainers = (spec.initContainers ?? []).filter(({ name }) => name !== validatorContainer);
  spec.volumes = (spec.volumes ?? []).filter(({ name }) => name !== podInfoVolume);
  Reflect.deleteProperty(metadata.labels ?? {}, profileLabel);
  for (const key of [statusAnnotation, foreign.networks, ...excludedPorts]) {
    Reflect.deleteProperty(metadata.annotations ?? {}, key);
  }
  return copy;
}

type StringMap = Record<string, string> | null | undefined;

function assertKept(before: StringMap, after: StringMap, what: string): void {
  for (const [key, value] of Object.entries(before ?? {})) {
    assert.ok(after && Object.hasOwn(after, key), `${what} ${key} is gone`);
    assert.equal(after[key], value, `${what} ${key}`);
  }
}

function assertPrefix(before: unknown[], after: unknown[]): void {
  assert.deepEqual(after.slice(0, before.length), before);
}

const itemsOf = ({ metadata }: Pod, key: string): string[] =>
  (metadata.annotations?.[key] ?? '').split(',').flatMap((item) => item.trim() || []);
