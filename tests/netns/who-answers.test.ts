import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type NetworkName, specimens } from './harness/pods.ts';
import { istio } from './rules/istio.ts';
import { linkerd } from './rules/linkerd.ts';
import { runCommand, type Step } from './table/plan.ts';
import { answerOutside, leadBack, listenInPod, write } from './table/steps.ts';

/** A connection that another program answers, and the text that the log has to contain about it. */
interface Answered {
  what: string;
  network: NetworkName;
  before: Step[];
  says: RegExp;
}

const cases: Answered[] = [
  {
    what: 'a program of the pod, at the address that is connected to',
    network: 'istio',
    before: [listenInPod(15_002, 'banner')],
    says: /to 127\.0\.0\.6:15002 that ended at port 15002 of this pod, whose other end sent something else\./,
  },
  {
    what: 'a program of the pod, which closes at once',
    network: 'istio',
    before: [listenInPod(15_002, 'close')],
    says: /to 127\.0\.0\.6:15002 that ended at port 15002 of this pod, whose other end said nothing\./,
  },
  {
    what: 'a program of the pod that hands it on to the proof',
    network: 'istio',
    before: [listenInPod(15_002, 15_006)],
    says: /that ended at port 15002 of this pod, whose other end relayed the token/,
  },
  {
    what: 'a program of the pod, at the wrong port of a redirect',
    network: 'linkerd',
    before: [write(linkerd({ outbound: 4141 })), listenInPod(4141)],
    says: /to 192\.0\.2\.2:1404 that ended at port 4141 of this pod, whose other end said nothing\./,
  },
  {
    what: 'a program of the pod, at the wrong port of an inbound redirect',
    network: 'istio',
    before: [write(istio({ inbound: 15_007 })), listenInPod(15_007)],
    says: /to 127\.0\.0\.6:15002 that ended at port 15007 of this pod, whose other end said nothing\./,
  },
  {
    what: 'a host outside of the pod',
    network: 'linkerd',
    before: [answerOutside('banner')],
    says: /to 192\.0\.2\.2:1404 that left the pod, whose other end sent something else\./,
  },
  {
    what: 'the node, which leads it back to the proof',
    network: 'linkerd',
    before: [leadBack(4140)],
    says: /to 192\.0\.2\.2:1404 that left the pod, whose other end relayed the token/,
  },
];

describe('who answered the connection', { concurrency: 4 }, () => {
  for (const { what, network, before: steps, says } of cases) {
    test(`${network}: ${what}`, async () => {
      const { code, log } = await runCommand({ before: steps }, specimens[network]);
      assert.equal(code, 95, log);
      assert.match(log, says);
    });
  }
});
