import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { serveCommand } from '../../webhook/commands/serve.ts';
import { cniGate, errorOf } from '../support/command.ts';
import { startProgram } from '../support/program.ts';
import { recorded } from '../support/reviews.ts';

test('serve writes its authority, answers, and ends with 0 when it is told to stop', async (t) => {
  const { child, call } = await startProgram(t);
  assert.equal((await call(recorded('pod-ad-hoc'))).status, 200);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

/** Arguments with which `serve` cannot start, and the error that it reports. */
const wrong: [args: string[], error: RegExp][] = [
  [[], /no cluster to ask: .*config does not exist\. Give --kubeconfig.*\(CNI_GATE_CLUSTER_CONFIG\)/],
  [
    ['--kubeconfig', '/nowhere'],
    /cannot use kubeconfig \/nowhere: no such file or directory \(CNI_GATE_CLUSTER_CONFIG\)/,
  ],
  [['--kubeconfig', 'x', '--profile', 'cilium'], /--kubeconfig names a cluster, but --cluster-state/],
  [['--kubeconfig', 'x', '--cluster-state', 'y'], /--kubeconfig names a cluster, but --cluster-state/],
  [['--context', 'x', '--profile', 'cilium'], /--context names a cluster, but --cluster-state/],
  [['--context', ''], /'' is invalid\. expected the name of a context/],
  [
    ['--profile', 'linkred'],
    /profile "linkred" does not exist \(did you mean "linkerd"\?\); the configuration has: .*CNI_GATE_PROFILE_UNKNOWN/,
  ],
  [['--profile', 'linkerd', '--tls-cert', 'a'], /--tls-cert and --tls-key go together/],
  [
    ['--profile', 'linkerd', '--tls-cert', '/nowhere', '--tls-key', '/nowhere'],
    /cannot read \/nowhere: no such file or directory \(CNI_GATE_TLS_UNREADABLE\)/,
  ],
  [['--profile', 'a', '--tls-secret', 'x'], /where is the Secret\? --tls-secret needs --own-namespace/],
  [
    ['--profile', 'a', '--tls-secret', 'x', '--tls-cert', 'a', '--tls-key', 'b'],
    /'--tls-secret <name>' cannot be used with option '--tls-cert <file>'/,
  ],
  [['--profile', 'linkerd', '--port', 'x'], /expected a port, 0 to 65535/],
  [['--profile', 'linkerd', '--port', '65536'], /expected a port, 0 to 65535/],
  [['--profile', 'linkerd', '--drain-delay', '10'], /expected a duration such as 500ms/],
  [['--profile', 'linkerd', '--drain-delay', '1m'], /--drain-timeout is shorter than --drain-delay/],
  [
    ['--cluster-state', '/nowhere'],
    /cannot read \/nowhere: no such file or directory \(CNI_GATE_STATE_INVALID\)/,
  ],
  [['--profile', 'linkerd', '--config', '/dev/zero'], /cannot read \/dev\/zero: it has more than 64 MiB/],
  [['--profle', 'linkerd'], /unknown option '--profle'/],
  [['--image', ''], /'' is invalid\. expected an image/],
  [['--own-namespace', ''], /'' is invalid\. expected the name of a namespace/],
];

test('serve rejects arguments that it cannot start with', async (t) => {
  for (const [args, text] of wrong) assert.match(await errorOf(t, serveCommand(), args), text);
});

test('an empty POD_NAMESPACE is rejected by name', () => {
  const env = { ...process.env, POD_NAMESPACE: '' };
  for (const command of [['serve'], ['status']]) {
    const { status, stderr } = cniGate(command, { env });
    assert.equal(status, 2, stderr);
    assert.match(
      stderr,
      /^cni-gate: .*POD_NAMESPACE.* expected the name of a namespace\. \(CNI_GATE_USAGE\)$/m,
    );
  }
});

test('help and version are not errors', () => {
  const help = cniGate(['--help']);
  assert.equal(help.status, 0);
  assert.match(help.stdout, /serve .*\n.*review /s);
  assert.match(cniGate(['--version']).stdout, /^\d+\.\d+\.\d+\n$/);
});

test('a misspelled command is wrong usage, and the error names the command that was meant', () => {
  const { status, stderr } = cniGate(['reviw']);
  assert.equal(status, 2);
  assert.match(stderr, /^cni-gate: unknown command 'reviw' \(CNI_GATE_USAGE\)\n\(Did you mean review\?\)$/m);
});
