import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Stands for the container `install-cni` of linkerd-cni's DaemonSet: puts the plugin, and what it asks the API server
 * with, onto the node, and appends it to the chain that the primary network wrote. Has no readiness probe, as that has
 * none, and takes its time, as agents do that come up on a busy node.
 */
const { PLUGIN = '', PLUGIN_COMMAND = '', API_SERVER = '', CHAIN = '', SECONDS = '0' } = process.env;
const account = '/var/run/secrets/kubernetes.io/serviceaccount';
// containerd reads what ends with .conf, .conflist and .json
const credentials = '/etc/cni/net.d/ZZZ-mesh-credentials';

process.on('SIGTERM', () => process.exit(0));
await sleep(Number(SECONDS) * 1000);
writeFileSync(
  credentials,
  JSON.stringify({
    server: { url: API_SERVER, authority: readFileSync(`${account}/ca.crt`, 'utf8') },
    credentials: { token: readFileSync(`${account}/token`, 'utf8') },
  }),
  { mode: 0o600 },
);
// the plugin does nothing on DEL, and a Node that only says so costs each pod a tenth of a second
const skip = '[ "$CNI_COMMAND" = DEL ] && exit 0';
writeFileSync(`/opt/cni/bin/${PLUGIN}`, `#!/bin/sh\n${skip}\nexec ${PLUGIN_COMMAND}\n`);
chmodSync(`/opt/cni/bin/${PLUGIN}`, 0o755);
const chain = JSON.parse(readFileSync(CHAIN, 'utf8'));
chain.plugins.push({ type: PLUGIN, credentials });
writeFileSync(CHAIN, JSON.stringify(chain));
setInterval(() => {}, 2 ** 30);
