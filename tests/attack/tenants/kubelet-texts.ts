import assert from 'node:assert/strict';
import { texts } from '../../../webhook/lib/limits.ts';
import { Api } from '../../cluster/harness/api.ts';
import { broken, network, only, optedIn, pod, podsOf } from './objects.ts';
import type { Stage } from './stage.ts';

/** Bytes of a reason: with the message as much again, it fits into 1.5 MiB. */
const bytes = 700_000;
/** Texts that turn what follows them around, steer a terminal, and are dear to look for in a long text. */
const reasons = ['\u202e', '\u001b]', '\u001b[31m', 'a'];
/** Characters that may be around what is quoted: names, and what the scheduler writes before it. */
const frame = 1024;

interface Pod {
  status: { conditions?: { type: string; message?: string }[] };
}

/** A kubelet writes endless reasons onto the network's pod on its node; pods are refused there, and quote them. */
export async function writeLongReasons({ api, cluster, agent }: Stage): Promise<void> {
  const kubelet = new Api(await cluster.user(`system:node:${broken}`, ['system:nodes']));
  try {
    for (const [index, text] of reasons.entries()) {
      const reason = text.repeat(Math.floor(bytes / Buffer.byteLength(JSON.stringify(text))));
      await kubelet.patch(`${podsOf(network.namespace)}/${agent}/status`, {
        status: {
          containerStatuses: [
            {
              name: 'cilium-agent',
              image: 'example/cilium',
              imageID: '',
              ready: false,
              restartCount: index,
              state: { waiting: { reason, message: reason.slice(0, bytes / 4) } },
            },
          ],
        },
      });
      const message = await refusal(api, `quoting-${index}`);
      assert.ok(message.length <= texts.quoted + frame, `the condition has ${message.length} characters`);
      assert.doesNotMatch(message, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    }
  } finally {
    kubelet.close();
  }
}

async function refusal(api: Api, name: string): Promise<string> {
  await api.post(podsOf(optedIn), pod(name, { spec: { affinity: only(broken) } }));
  const messageOf = ({ status }: Pod): string =>
    status.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '';
  const path = `${podsOf(optedIn)}?fieldSelector=metadata.name%3D${name}`;
  const found = await api.until<Pod>(path, (one) => messageOf(one).includes('denied the request'));
  await api.delete(`${podsOf(optedIn)}/${name}`);
  return messageOf(found);
}
