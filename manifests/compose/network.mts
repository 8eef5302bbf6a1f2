import { ask, eventually } from './api.mts';

const labels = { app: 'cilium' };

/** The DaemonSet of the network, by the name that profile `cilium` has for it. kwok simulates its pods. */
export const cilium = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'cilium' },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        hostNetwork: true,
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'cilium-agent', image: 'example/cilium' }],
      },
    },
  },
};

const pods = '/api/v1/namespaces/kube-system/pods';

/** Makes Cilium's pod on a node read as Ready or not, and waits until cni-gate knows it. */
export async function setReady(node: string, ready: boolean): Promise<void> {
  const agent = await eventually(async () => {
    const { items } = await ask(
      'GET',
      `${pods}?labelSelector=app%3Dcilium&fieldSelector=spec.nodeName%3D${node}`,
    );
    return items?.find(({ status }) => status.phase === 'Running');
  });
  const lastTransitionTime = new Date().toISOString();
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }];
  await ask('PATCH', `${pods}/${agent.metadata.name}/status`, { status: { conditions } });
  // the watch reports this after a moment
  await eventually(async () => {
    const metrics = await (await fetch('http://cni-gate:8080/metrics')).text();
    const notReady = /^cni_gate_nodes\{profile="cilium",.*,state="(starting|broken)"\} [1-9]/m.test(metrics);
    return notReady !== ready || undefined;
  });
}
