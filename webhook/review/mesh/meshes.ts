import { allContainers, type Pod } from '../../core/facts/pod.ts';
import { own } from '../../lib/maps.ts';

/** What a mesh's injector reads besides the pod. Both are empty if the namespace is not in the input. */
export interface MeshNamespace {
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

/** A mesh whose injector runs in the cluster, and not on a manifest. */
export interface Mesh {
  name: string;
  /** The container of its proxy. */
  proxy: string;
  /** The prefix of the names of all containers that it injects. */
  containerPrefix: string;
  /** The domain of the annotations that it writes. */
  domain: string;
  /** The command that injects into manifests, from standard input to standard output. */
  injector: string;
  /** Whether its injector would act on the pod. */
  asks(pod: Pod, namespace: MeshNamespace): boolean;
}

const injects = (value: string | undefined): boolean => value === 'enabled' || value === 'ingress';

/**
 * linkerd's injector: the annotation of the pod, else of the namespace; `ingress` is a mode
 * (https://linkerd.io/2/features/proxy-injection/). A namespace label excludes its webhook.
 */
const linkerd: Mesh = {
  name: 'linkerd',
  proxy: 'linkerd-proxy',
  containerPrefix: 'linkerd-',
  domain: 'linkerd.io',
  injector: 'linkerd inject --manual -',
  asks(pod, { labels, annotations }) {
    if (own(labels, 'config.linkerd.io/admission-webhooks') === 'disabled') return false;
    const key = 'linkerd.io/inject';
    return injects(own(pod.metadata.annotations, key) ?? own(annotations, key));
  },
};

/**
 * These values as Istio's injector reads them (istio/istio, `pkg/kube/inject`, `injectRequired`). Its CNI plugin reads
 * them differently.
 */
const isTrue = (value: string): boolean => /^(?:y|yes|true|on)$/i.test(value);

/**
 * Istio's injector
 * (https://istio.io/latest/docs/setup/additional-setup/sidecar-injection/#controlling-the-injection-policy). A pod of a
 * template without a sidecar (a gateway, proxyless gRPC) gets no redirect and does not count. Neither does a pod of the
 * ambient mesh that does not request a sidecar itself.
 */
const istio: Mesh = {
  name: 'istio',
  proxy: 'istio-proxy',
  containerPrefix: 'istio-',
  domain: 'istio.io',
  injector: 'istioctl kube-inject -f -',
  asks(pod, namespace) {
    const { labels, annotations } = pod.metadata;
    const injection = own(namespace.labels, 'istio-injection');
    const templates = own(annotations, 'inject.istio.io/templates');
    if (injection === 'disabled') return false;
    if (templates !== undefined && !templates.split(',').some((name) => name.trim() === 'sidecar'))
      return false;
    const key = 'sidecar.istio.io/inject';
    const asked = own(labels, key) ?? own(annotations, key);
    if (asked !== undefined && asked !== '') return isTrue(asked);
    if (injection === 'enabled') return true;
    if (isAmbient(pod, namespace)) return false;
    return [labels, namespace.labels].some((map) => (own(map, 'istio.io/rev') ?? '') !== '');
  },
};

function isAmbient(pod: Pod, namespace: MeshNamespace): boolean {
  const key = 'istio.io/dataplane-mode';
  return (own(pod.metadata.labels, key) ?? own(namespace.labels, key)) === 'ambient';
}

/** The meshes whose injection `review` knows. */
export const meshes: readonly Mesh[] = [linkerd, istio];

/** Whether the injector has run. A proxy with image `auto` is a user's template that Istio completes. */
export const carriesProxy = (pod: Pod, mesh: Mesh): boolean =>
  allContainers(pod).some(({ name, image }) => name === mesh.proxy && image !== 'auto');
