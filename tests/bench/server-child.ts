/**
 * A server in a process of its own, so that the load does not share its event loop: `cni-gate`; `bare`, which parses the
 * body; `unparsed`, which only receives it.
 */
import { createServer } from 'node:https';
import { pino } from 'pino';
import { createAuthority, issueServing } from '../../certs/issue.ts';
import { openLog } from '../../webhook/server/log.ts';
import { serve } from '../../webhook/server/serve.ts';

/** What this process has taken since its start. */
export interface Usage {
  /** Of processor time. */
  seconds: number;
  /** The most resident memory, in MiB. */
  peak: number;
}

const now = new Date();
const authority = createAuthority({ commonName: 'bench', days: 1, now });
const pair = issueServing(authority, { names: ['localhost'], days: 1, now });

/** As long as the patch of the review that is sent, so that all servers answer as many bytes. */
const patch = 'x'.repeat(1396);

/** The least that any admission server has to do: read the body, parse it, answer. */
function bare(parses: boolean): Promise<number> {
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const uid: string = parses ? JSON.parse(text).request.uid : 'a7d6e32a-6857-44b0-b6c3-0390c061b051';
      const review = {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid, allowed: true, patchType: 'JSONPatch', patch },
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(review));
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

async function cniGate(): Promise<number> {
  const server = await serve({
    // decisions are logged as in production, to nowhere
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
const port = await (kind === 'cni-gate' ? cniGate() : bare(kind === 'bare'));
process
  .on('message', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const usage: Usage = { seconds: (userCPUTime + systemCPUTime) / 1e6, peak: maxRSS / 1024 };
    process.send?.(usage);
  })
  // a normal exit, in which a CPU profile is written
  .on('disconnect', () => process.exit());
process.send?.({ port, ca: authority.certificate });
