import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Stands in for the container `install-cni` of linkerd-cni's DaemonSet: writes the plugin, and its credentials for the
 * API server, to the node, and appends the plugin to the primary network's chain. Like that container, it has no
 * readiness probe. It waits first, because agents start slowly on a busy node.
 */
const { PLUGIN = '', PLUGIN_COMMAND = '', API_SERVER = '', CHAIN = '', SECONDS = '0' } = process.env;
const account = '/var/run/secrets/kubernetes.io/serviceaccount';
// containerd does not load this file, because it loads only names that end in .conf, .conflist or .json
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
// the plugin does nothing on DEL, and starting Node for that would cost each pod a tenth of a second
const skip = '[ "$CNI_COMMAND" = DEL ] && exit 0';
writeFileSync(`/opt/cni/bin/${PLUGIN}`, `#!/bin/sh\n${skip}\nexec ${PLUGIN_COMMAND}\n`);
chmodSync(`/opt/cni/bin/${PLUGIN}`, 0o755);
const chain = JSON.parse(readFileSync(CHAIN, 'utf8'));
chain.plugins.push({ type: PLUGIN, credentials });
writeFileSync(CHAIN, JSON.stringify(chain));
setInterval(() => {}, 2 ** 30);
