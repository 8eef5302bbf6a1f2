/** A server in a separate process: `cni-gate`, or `bare`, which only parses the body. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createAuthority, issueServing } from '../../certs/issue.ts';
import { openLog } from '../../webhook/server/log.ts';
import { serve } from '../../webhook/server/serve.ts';

const now = new Date();
const authority = createAuthority({ days: 1, now });
const pair = issueServing(authority, { names: ['localhost'], days: 1, now });

/** A text as long as cni-gate's patch in base64, so that both servers answer with the same number of bytes. */
const patch = 'x'.repeat(1600);

/** A server that does only what every admission server must do: it reads and parses the body, and answers. */
function bare(): Promise<number> {
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { uid } = JSON.parse(text).request;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          response: { uid, allowed: true, patchType: 'JSONPatch', patch },
        }),
      );
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function cniGate(): Promise<number> {
  const server = await serve({
    // decisions are logged as in production, but the log is discarded
    log: openLog('info', pino.destination('/dev/null')),
    profile: 'cilium.linkerd',
    host: '127.0.0.1',
    port: 0,
    opsPort: 0,
    drainDelay: 0,
    drainTimeout: 0,
    certificate: async () => ({ current: pair, close: () => {} }),
  });
  return server.port;
}

const kind = process.argv[2];
const port = await (kind === 'cni-gate' ? cniGate() : bare());
process.on('disconnect', () => process.exit());
process.send?.({ port, ca: authority.certificate });
