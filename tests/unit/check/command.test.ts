import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { suite, type TestContext, test } from 'node:test';
import { type Authority, createAuthority, issueServing } from '../../../certs/issue.ts';
import { checkCommand } from '../../../webhook/commands/check.ts';
import { cniGate, errorOf, startCniGate } from '../../support/command.ts';
import { json, status } from '../../support/fake-api-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

/** A kubeconfig file with one context. */
function writeKubeconfig(name: string, cluster: object, user: object): string {
  const file = join(folder, name);
  const config = {
    clusters: [{ name: 'c', cluster }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user }],
    'current-context': 'c',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** A kubeconfig for a port of this machine on which nothing listens. */
async function nobodyThere(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return writeKubeconfig('kubeconfig', { server: `https://127.0.0.1:${port}` }, {});
}

test('check rejects input that it cannot use, with a code', async (t) => {
  const cases: [string[], RegExp][] = [
    [[], /no cluster to ask: .*\(CNI_GATE_CLUSTER_CONFIG\)$/],
    [['--wait', 'soon'], /'soon' is invalid\. expected a duration .* \(CNI_GATE_USAGE\)/],
    [['--output', 'yaml'], /Allowed choices are text, json, short\. \(CNI_GATE_USAGE\)/],
    [['--config', '/nowhere'], /cannot read \/nowhere: ENOENT \(CNI_GATE_CONFIG_UNREADABLE\)$/],
  ];
  for (const [args, expected] of cases) assert.match(await errorOf(t, checkCommand(), args), expected);
});

test('an API server that is gone: one error with the address, exit code 2, and nothing on standard output', async () => {
  const kubeconfig = await nobodyThere();
  for (const args of [[], ['--pre'], ['--output', 'json']]) {
    const { status: exit, stdout, stderr } = cniGate(['check', '--kubeconfig', kubeconfig, ...args]);
    assert.deepEqual([exit, stdout], [2, '']);
    assert.match(
      stderr,
      /^cni-gate: cannot get .*: no answer of the API server at https:\S+: nothing listens there \(ECONNREFUSED\) \(CNI_GATE_CLUSTER_UNREACHABLE\)\n$/,
    );
  }
});

suite('a way to the API server that is wrong: one sentence that says so, with a code, and not that of Node', () => {
  const ago = (days: number): Date => new Date(Date.now() - days * 24 * 3_600_000);
  const authority = createAuthority({ commonName: 'cluster', days: 90, now: ago(30) });
  const another = createAuthority({ commonName: 'another', days: 90, now: ago(30) });
  const signed = (by: Authority, names: string[], now = ago(0), days = 1) =>
    issueServing(by, { names, days, now });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const shown = ({ certificate, key }: Authority): object => ({
    'client-certificate-data': base64(certificate),
    'client-key-data': base64(key),
  });
  const good = signed(authority, ['127.0.0.1']);

  /** What `check` prints about an API server that accepts no credentials. */
  async function printed(t: TestContext, serving: Authority, ca: string, user: object): Promise<string> {
    const { certificate: cert, key } = serving;
    const options = { cert, key, requestCert: true, rejectUnauthorized: false };
    const server = createTlsServer(options, (_, response) =>
      json(response, 401, status(401, 'Unauthorized', 'Unauthorized')),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const address = `https://127.0.0.1:${port}`;
    const cluster = { server: address, 'certificate-authority-data': base64(ca) };
    const file = writeKubeconfig('tls', cluster, user);
    const child = startCniGate(['check', '--kubeconfig', file]);
    assert.ok(child.stderr && child.stdout);
    const [stderr, stdout, [exit]] = await Promise.all([
      text(child.stderr),
      text(child.stdout),
      once(child, 'close'),
    ]);
    assert.deepEqual([exit, stdout], [2, '']);
    return stderr.replace(address, 'SERVER').replace(file, 'FILE');
  }

  const unanswered = 'cannot get /version: no answer of the API server at SERVER: ';
  const cases: Record<string, [serving: Authority, ca: string, user: object, expected: string | RegExp]> = {
    'the authority of another cluster': [
      good,
      another.certificate,
      {},
      `${unanswered}its certificate is not signed by the certificate-authority that is configured: is that of another cluster, or does a proxy answer? (UNABLE_TO_VERIFY_LEAF_SIGNATURE) (CNI_GATE_CLUSTER_UNTRUSTED)`,
    ],
    'a certificate for another name': [
      signed(authority, ['api.example.com']),
      authority.certificate,
      {},
      `${unanswered}its certificate is for other names: set server or tls-server-name in the kubeconfig to one of them (ERR_TLS_CERT_ALTNAME_INVALID) (CNI_GATE_CLUSTER_UNTRUSTED)`,
    ],
    'a certificate of the API server that has expired': [
      signed(authority, ['127.0.0.1'], ago(10)),
      authority.certificate,
      {},
      `${unanswered}its certificate has expired: renew it, or correct the clock of this machine (CERT_HAS_EXPIRED) (CNI_GATE_CLUSTER_UNTRUSTED)`,
    ],
    'a client certificate that has expired': [
      good,
      authority.certificate,
      shown(signed(authority, ['me'], ago(10))),
      /^cannot get \/version: Unauthorized: the client certificate in FILE expired at 20\S+Z: renew it, or log in again \(CNI_GATE_CLUSTER_UNAUTHORIZED\)$/,
    ],
    'a client certificate of another cluster': [
      good,
      authority.certificate,
      shown(signed(another, ['me'])),
      'cannot get /version: Unauthorized: the client certificate in FILE is signed by no authority that the API server knows: is it of another cluster? (CNI_GATE_CLUSTER_UNAUTHORIZED)',
    ],
    'a token that is not accepted': [
      good,
      authority.certificate,
      { token: 's3cret' },
      'cannot get /version: Unauthorized: the token or password in FILE has expired, or is of another cluster: log in again (CNI_GATE_CLUSTER_UNAUTHORIZED)',
    ],
    'a key of another certificate': [
      good,
      authority.certificate,
      shown({ ...signed(authority, ['me']), key: another.key }),
      /^cannot get \/version: .*: the certificates or the key for it are damaged, or not of one pair \(ERR_OSSL_X509_KEY_VALUES_MISMATCH\) \(CNI_GATE_CLUSTER_CONFIG\)$/,
    ],
  };
  for (const [name, [serving, ca, user, expected]] of Object.entries(cases)) {
    test(name, async (t) => {
      const line = (await printed(t, serving, ca, user)).replace(/^cni-gate: (.*)\n$/, '$1');
      if (typeof expected === 'string') assert.equal(line, expected);
      else assert.match(line, expected);
    });
  }
});

test('--wait says once what it waits for, and gives up', async () => {
  const kubeconfig = await nobodyThere();
  const { status: exit, stderr } = cniGate(['check', '--kubeconfig', kubeconfig, '--wait', '100ms']);
  assert.equal(exit, 2);
  const [waiting, given, ...others] = stderr.trimEnd().split('\n');
  assert.match(waiting ?? '', /^cni-gate: waiting: .*\(CNI_GATE_CLUSTER_UNREACHABLE\)$/);
  assert.match(given ?? '', /^cni-gate: cannot get .*\(CNI_GATE_CLUSTER_UNREACHABLE\)$/);
  assert.deepEqual(others, []);
});

test('the help lists the exit codes', () => {
  const { status: exit, stdout } = cniGate(['check', '--help']);
  assert.equal(exit, 0);
  assert.match(
    stdout.replaceAll(/\s+/g, ' '),
    /Exit code: 0 no check failed; 1 .*2 .*3 cni-gate is not installed/,
  );
});
