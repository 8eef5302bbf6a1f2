import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { Cluster } from './harness/cluster.ts';
import { addNode } from './harness/nodes.ts';
import { install } from './installed/installation.ts';

/**
 * Starts the tests' control plane with two simulated nodes, for interactive use.
 *
 * usage: interactive.ts [--installed] [COMMAND [ARGUMENT ...]]   inside the runner: see `npm run cluster`
 *
 * With --installed, the overlay `strict` installs cni-gate, and its two replicas run as processes. With a COMMAND,
 * the cluster lasts until the command ends, otherwise until Ctrl-C.
 */
const given = process.argv.slice(2);
const installed = given[0] === '--installed';
const [command, ...args] = installed ? given.slice(1) : given;
const cluster = await Cluster.start({ nodeLifecycle: true });
if (installed) {
  const { replicas } = await install(cluster, 'strict');
  // updates the pods' files, as kubelets do; while the API server or the ConfigMap is missing, the files stay
  setInterval(() => replicas.map((replica) => replica.refresh().catch(() => {})), 5000).unref();
  console.error(
    'The two replicas of cni-gate are processes that start once: after an uninstall, a rollout or a scaling, start the cluster again.',
  );
} else await Promise.all(['n1', 'n2'].map((name) => addNode(cluster, name)));
const { kubeconfig } = cluster.admin;

if (command === undefined) {
  const { CNI_GATE_UNSHARE: pid, CNI_GATE_PROGRAMS: folders } = process.env;
  console.log(`A control plane with nodes n1 and n2, until Ctrl-C.
Enter it from another terminal, as root:

  nsenter --net --mount --target ${pid} --pid=/proc/${pid}/ns/pid_for_children \\
    env --chdir=${process.cwd()} KUBECONFIG=${kubeconfig} PATH=${folders}:${dirname(process.execPath)}:"$PATH" bash

Addresses to listen on for webhooks: 10.254.0.0/16. Logs: ${cluster.folder}/log`);
  // the runner ends the cluster with this process
  await new Promise(() => setInterval(() => {}, 2 ** 30));
} else {
  // started by bash, whose message explains why a command cannot run
  const child = spawn('bash', ['-c', 'exec "$@"', 'bash', command, ...args], {
    stdio: 'inherit',
    env: { ...process.env, KUBECONFIG: kubeconfig },
  });
  const [code] = await once(child, 'close');
  await cluster.stop();
  process.exit(code ?? 1);
}
