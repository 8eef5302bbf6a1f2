/**
 * `npm run demo`: starts the real server on loopback with a certificate made for the occasion, sends reviews that
 * a real API server once sent, over TLS as it would, shows each pod before and after, and stops.
 */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { styleText } from 'node:util';
import jsonpatch from 'fast-json-patch';
import { pino } from 'pino';
import { stringify } from 'yaml';
import type { Pod } from '../../webhook/admission/pod.ts';
import type { AdmissionResponse } from '../../webhook/admission/review.ts';
import { unifiedDiff } from '../../webhook/review/diff.ts';
import { type RunningServer, serve } from '../../webhook/server/serve.ts';
import { selfMadeCertificate } from '../../webhook/server/tls.ts';
import { patchOf } from '../support/reviews.ts';

/** What is shown, and what to look at in it. */
const acts: [file: string, text: string][] = [
  [
    'pod-deployment-web',
    "a Deployment's pod that is not meshed: linkerd promises it nothing, Cilium an address and a gateway",
  ],
  ['pod-meshed', 'a pod that linkerd injected: the proof goes before its validator and its native sidecar'],
  ['pod-multi-homed', 'a pod with a Multus network: its interfaces are proved as well'],
  ['pod-host-networked', "a pod on the host's network: left alone"],
];

const profile = 'cilium.linkerd.multus';

async function main(): Promise<void> {
  const server = await serve({
    log: pino({ level: 'silent' }),
    profile,
    host: '127.0.0.1',
    port: 0,
    opsPort: 0,
    drainDelay: 0,
    drainTimeout: 1000,
    certificate: (events) => selfMadeCertificate(['localhost'], 1, events),
  });
  console.log(
    `serving on https://localhost:${server.port}, namespaces labelled cni-gate.io/profile=${profile}`,
  );
  try {
    for (const [file, text] of acts) await show(server, file, text);
  } finally {
    await server.drain();
  }
  console.log('stopped');
}

async function show(server: RunningServer, file: string, text: string): Promise<void> {
  const body = readFileSync(new URL(`../reviews/${file}.json`, import.meta.url), 'utf8');
  const pod: Pod = JSON.parse(body).request.object;
  const response = await ask(server, body);
  console.log(`\n${styleText('bold', `${file}.json`)}: ${text}`);
  console.log(`allowed: ${response.allowed}, ${JSON.stringify(response.auditAnnotations)}`);
  for (const warning of response.warnings ?? []) console.log(`warning: ${warning}`);
  const before = stringify(readable(pod));
  const after = stringify(readable(jsonpatch.applyPatch(pod, patchOf(response)).newDocument));
  if (before !== after) console.log(unifiedDiff('before', 'after', before, after));
}

/** The pod without what the API server writes for itself. */
function readable(pod: Pod): object {
  const { managedFields: _, ...metadata } = pod.metadata;
  return { metadata, spec: pod.spec };
}

function ask(server: RunningServer, body: string): Promise<AdmissionResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<AdmissionResponse>();
  request(
    {
      host: '127.0.0.1',
      servername: 'localhost',
      port: server.port,
      path: '/mutate?timeout=10s',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      ca: server.certificate.authority,
    },
    (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(JSON.parse(text).response));
    },
  )
    .on('error', reject)
    .end(body);
  return promise;
}

await main();
