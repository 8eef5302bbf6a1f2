import { podOf } from '../admission/decode.ts';
import {
  describe,
  describeKind,
  invalid,
  isCoreKind,
  isObject,
  openEnvelope,
} from '../admission/envelope.ts';
import { isMirrorPod } from '../admission/exempt.ts';
import { CniGateError } from '../errors.ts';
import { promisedTo } from './promised.ts';

/** A pod that is to be put on a node: by a Binding, or because it was made with `spec.nodeName`. */
export interface Placement {
  /** Of the request. */
  uid: string;
  namespace: string;
  /** The pod's. */
  name: string;
  operation: string;
  subResource: string;
  dryRun: boolean;
  /** The pod's UID as the Binding tells it; empty where it does not, as with one made by hand. */
  podUid: string;
  node: string;
  /** The profiles of a pod that the request holds itself; undefined for a Binding, which shows nothing of its pod. */
  profiles: string[] | undefined;
}

/**
 * What an admission call of `/gate` is about.
 *
 * @throws CniGateError CNI_GATE_REVIEW_INVALID, or CNI_GATE_REVIEW_KIND where it is neither a Binding nor a Pod
 */
export function decodePlacement(body: unknown): Placement {
  const envelope = openEnvelope(body);
  const { object, kind, ...request } = envelope;
  if (isCoreKind(envelope, 'Binding')) return { ...request, ...bindingOf(object), profiles: undefined };
  if (!isCoreKind(envelope, 'Pod')) {
    throw new CniGateError(
      'CNI_GATE_REVIEW_KIND',
      `expected request.kind Binding or Pod of v1, got ${describeKind(kind)}: look at the rules of the webhook configuration`,
    );
  }
  const pod = podOf(object);
  const { metadata, spec } = pod;
  const node = typeof spec.nodeName === 'string' ? spec.nodeName : '';
  const name = request.name || metadata.name || `${metadata.generateName ?? ''}*`;
  // what it stands for runs already, and its manifest may be a copy of a pod that was promised something
  const profiles = isMirrorPod(pod) ? [] : promisedTo(pod);
  return { ...request, name, podUid: '', node, profiles };
}

function bindingOf(object: unknown): { name: string; podUid: string; node: string } {
  if (!isObject(object)) throw invalid(`request.object should be the Binding, is ${describe(object)}`);
  const { metadata, target } = object;
  const { name, uid } = isObject(metadata) ? metadata : {};
  if (typeof name !== 'string' || name === '')
    throw invalid("request.object has no metadata.name: the pod's");
  if (!isObject(target) || typeof target.name !== 'string' || target.name === '') {
    throw invalid("request.object has no target.name: the node's");
  }
  // the name of something else is no node's. Source: Kubernetes, `ValidatePodBinding`, which is before admission
  if (target.kind && target.kind !== 'Node') {
    throw invalid(`request.object.target.kind should be Node or left out, is ${describe(target.kind)}`);
  }
  return { name, podUid: typeof uid === 'string' ? uid : '', node: target.name };
}
