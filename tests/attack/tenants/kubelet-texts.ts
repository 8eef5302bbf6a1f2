import assert from 'node:assert/strict';
import { texts } from '../../../webhook/lib/limits.ts';
import { Api } from '../../cluster/harness/api.ts';
import { broken, network, only, optedIn, pod, podsOf } from './objects.ts';
import type { Stage } from './stage.ts';

/** Size of the reason in bytes, as JSON: together with the message, the request has to fit into 1.5 MiB. */
const bytes = 700_000;
/** Texts that reverse the text after them or control a terminal, and one that is expensive to search for. */
const reasons = ['\u202e', '\u001b]', '\u001b[31m', 'a'];
/** How many characters may surround a quoted reason: names, and what the scheduler writes before it. */
const frame = 1024;

interface Pod {
  status: { conditions?: { type: string; message?: string }[] };
}

/** The broken node's kubelet writes very long reasons into the status of the network's pod, and refusals quote them. */
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
