import { requiredProfiles } from '../core/facts/status-annotation.ts';
import { isMirrorPod } from '../core/proof/selection.ts';
import { quoted } from '../lib/clean.ts';
import { isObject } from '../lib/json.ts';
import { isObjectName, isUid } from '../lib/object-names.ts';
import {
  describe,
  invalid,
  namespaceName,
  openEnvelope,
  podOf,
  type RequestHead,
  wrongName,
} from './review.ts';

/** A pod that a request puts on a node: by a Binding, or by `spec.nodeName` of a new pod. */
export interface Placement extends RequestHead {
  /** UID of the pod that the Binding names; empty if it names none, as in a hand-written Binding. */
  podUid: string;
  node: string;
  /** The profiles that apply to the pod; undefined for a Binding, because the request does not contain the pod. */
  profiles: string[] | undefined;
}

/**
 * Decodes a request to `/gate`. Its names become parts of requests to the API server, so they must be valid. A new pod
 * with `generateName` may have no name yet.
 * @throws CniGateError CNI_GATE_REVIEW_INVALID, CNI_GATE_REVIEW_NAME or CNI_GATE_REVIEW_KIND
 */
export function decodePlacement(body: unknown): Placement {
  const { object, kind, ...request } = openEnvelope(body, 'Binding', 'Pod');
  namespaceName(request.namespace);
  if (kind === 'Binding') return { ...request, ...bindingOf(object), profiles: undefined };
  const pod = podOf(object);
  const { metadata, spec } = pod;
  const node = typeof spec.nodeName === 'string' ? spec.nodeName : '';
  if (node !== '') objectName('request.object.spec.nodeName', 'a node', node);
  const given = request.name || metadata.name || '';
  const name =
    given === ''
      ? quoted(`${metadata.generateName ?? ''}*`)
      : objectName('request.object.metadata.name', 'a pod', given);
  // a static pod already runs, so no profile applies, even if its manifest has a copied status annotation
  const profiles = isMirrorPod(pod) ? [] : requiredProfiles(pod);
  return { ...request, name, podUid: '', node, profiles };
}

function bindingOf({ metadata, target }: Record<string, unknown>): {
  name: string;
  podUid: string;
  node: string;
} {
  const { name, uid } = isObject(metadata) ? metadata : {};
  if (typeof name !== 'string' || name === '')
    throw invalid("request.object has no metadata.name: the pod's");
  if (!isObject(target) || typeof target.name !== 'string' || target.name === '') {
    throw invalid("request.object has no target.name: the node's");
  }
  // as in Kubernetes' `ValidatePodBinding`, which runs before admission
  if (target.kind && target.kind !== 'Node') {
    throw invalid(`request.object.target.kind should be Node or left out, is ${describe(target.kind)}`);
  }
  const podUid = typeof uid === 'string' ? uid : '';
  if (podUid !== '' && !isUid(podUid))
    throw wrongName('request.object.metadata.uid', 'the UID of a pod', podUid);
  return {
    name: objectName('request.object.metadata.name', 'a pod', name),
    podUid,
    node: objectName('request.object.target.name', 'a node', target.name),
  };
}

function objectName(field: string, whose: string, name: string): string {
  if (isObjectName(name)) return name;
  throw wrongName(field, `the name of ${whose} (an RFC 1123 subdomain)`, name);
}
