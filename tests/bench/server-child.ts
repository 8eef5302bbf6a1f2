/**
 * A server in a process of its own, so that the load does not share its event loop: `cni-gate`; `bare`, which parses the
 * body; `unparsed`, which only receives it.
 */
import { pino } from 'pino';
import { createAuthority, issueServing } from '../../certs/issue.ts';
import { openLog } from '../../webhook/server/log.ts';
import { serve } from '../../webhook/server/serve.ts';
import { bareServer, patchLength } from './bare.ts';
import type { Usage } from './load.ts';

const now = new Date();
const authority = createAuthority({ commonName: 'bench', days: 1, now });
const pair = issueServing(authority, { names: ['localhost'], days: 1, now });

function bare(parses: boolean): Promise<number> {
  const tls = { cert: pair.certificate, key: pair.key };
  // all answer as many bytes
  const server = bareServer(tls, { parses, patch: patchLength });
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
  .on('disconnect', () => process.exit());
process.send?.({ port, ca: authority.certificate });
