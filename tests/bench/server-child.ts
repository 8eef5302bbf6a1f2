/** A server in a process of its own, so that the load does not share its event loop: `bare` or `cni-gate`. */
import { pino } from 'pino';
import { createAuthority, issueServing } from '../../certs/issue.ts';
import { openLog } from '../../webhook/server/log.ts';
import { serve } from '../../webhook/server/serve.ts';
import { bareServer } from './bare.ts';
import type { Usage } from './load.ts';

const now = new Date();
const authority = createAuthority({ commonName: 'bench', days: 1, now });
const pair = issueServing(authority, { names: ['localhost'], days: 1, now });

function bare(): Promise<number> {
  const server = bareServer({ cert: pair.certificate, key: pair.key });
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

const port = await (process.argv[2] === 'bare' ? bare() : cniGate());
process
  .on('message', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
    const usage: Usage = { seconds: (userCPUTime + systemCPUTime) / 1e6, peak: maxRSS / 1024 };
    process.send?.(usage);
  })
  // a normal exit, in which a CPU profile is written
  .on('disconnect', () => process.exit());
process.send?.({ port, ca: authority.certificate });
