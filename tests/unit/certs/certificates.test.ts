import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { type Authority, createAuthority, issueServing } from '../../../certs/issue.ts';
import { checkPair, verifyChain } from '../../../certs/verify.ts';
import { CniGateError, type ErrorCode } from '../../../webhook/lib/errors.ts';
import { certify } from '../../support/openssl.ts';

/** For `assert.throws`: expects a CniGateError with this code and with a message that matches. */
function refusal(code: ErrorCode, message: RegExp): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof CniGateError, `a CniGateError was expected, not ${error}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  };
}

const now = new Date(Math.floor(Date.now() / 1000) * 1000);
const later = (days: number): Date => new Date(now.getTime() + days * 86_400_000);
const host = 'cni-gate.cni-gate.svc';
const names = [host, '192.0.2.1', '2001:db8::1'];
const authority = createAuthority({ days: 365 * 30, now });
// `stranger` has the same name as `authority`, and only its key differs
const stranger = createAuthority({ days: 10, now });
const serving = issueServing(authority, { names, days: 90, now });

suite('what is issued', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-verify-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  /** The output of openssl when it verifies a certificate by the rules of RFC 5280. */
  function opensslSays(chain: string, bundle: string, ...args: string[]): string {
    const files = ['-CAfile', file('ca', bundle), '-untrusted', file('chain', chain), file('leaf', chain)];
    const { stdout, stderr } = spawnSync('openssl', ['verify', '-x509_strict', ...args, ...files], {
      encoding: 'utf8',
    });
    return `${stdout}${stderr}`;
  }

  test('openssl accepts it with the authority, for a server, under each name, and refuses it otherwise', () => {
    const { certificate } = serving;
    const trusted = stranger.certificate + authority.certificate;
    const forServers = ['-purpose', 'sslserver'];
    for (const args of [['-verify_hostname', host], ...names.slice(1).map((ip) => ['-verify_ip', ip])])
      assert.match(opensslSays(certificate, trusted, ...forServers, ...args), /: OK\n$/);
    const below = certify({ subject: '/CN=below', signer: authority });
    const extensions = ['basicConstraints=CA:false'];
    const deep = certify({ subject: '/CN=deep', signer: below, extensions });
    const byServer = certify({ subject: '/CN=x', signer: serving, extensions });
    for (const [chain, bundle, args, error] of [
      [certificate, trusted, ['-verify_hostname', 'other.svc'], /hostname mismatch/],
      [certificate, trusted, ['-purpose', 'sslclient'], /unsuitable certificate purpose/],
      [certificate, stranger.certificate, forServers, /unable to get local issuer|signature failure/],
      [deep.certificate + below.certificate, trusted, [], /path length constraint exceeded/],
      [byServer.certificate + certificate, trusted, [], /invalid CA certificate/],
    ] as const)
      assert.match(opensslSays(chain, bundle, ...args), error);
  });

  test('an authority lasts beyond 2049; what it signs lasts the given days, but not longer than the authority', () => {
    const { validFromDate, validToDate } = new X509Certificate(authority.certificate);
    // X.509 certificates encode dates from 2050 on differently
    assert.deepEqual([validFromDate, validToDate], [later(-5 / 1440), later(365 * 30)]);
    const leaf = new X509Certificate(serving.certificate);
    assert.deepEqual([leaf.validFromDate, leaf.validToDate], [serving.notBefore, serving.notAfter]);
    assert.deepEqual([serving.notAfter, leaf.ca], [later(90), false]);
    assert.deepEqual(issueServing(stranger, { names, days: 90, now }).notAfter, later(10));
  });

  test('an authority signs only while it is valid, as a CA, with an EC key', () => {
    const issue = (signer: Authority, at = now) => issueServing(signer, { names, days: 1, now: at });
    assert.throws(() => issue(authority, later(-1)), refusal('CNI_GATE_TLS_PAIR', /in force from/));
    const rsa = certify({ subject: '/CN=rsa', key: ['rsa:2048'] });
    for (const signer of [serving, rsa])
      assert.throws(
        () => issue(signer, later(0.01)),
        refusal('CNI_GATE_TLS_PAIR', /^The authority cannot sign: /),
      );
    // the authority's name is not ASCII, so its encoding differs from that of our own authorities
    const own = certify({ subject: '/C=DE/CN=Größe' });
    const { certificate } = issue(own, new Date());
    assert.match(opensslSays(certificate, own.certificate), /: OK\n$/);
  });
});

suite('a pair of certificate and key', () => {
  const { certificate, key, notBefore, notAfter } = serving;
  const rsa = certify({ subject: '/CN=rsa', key: ['rsa:2048'] });
  const sec1 = createPrivateKey(key).export({ type: 'sec1', format: 'pem' }) as string;
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';

  test('is accepted in each form that openssl writes; the first certificate of a chain counts', () => {
    for (const form of [key, sec1, parameters + sec1]) {
      assert.deepEqual(checkPair(certificate + authority.certificate, form, now), { notBefore, notAfter });
    }
    const both = `Bag Attributes\n${key}issuer=x\n${certificate}`;
    checkPair(both, both, now);
  });

  function refused(certificate: string, key: string, code: 'UNREADABLE' | 'PAIR', message: RegExp, at = now) {
    assert.throws(() => checkPair(certificate, key, at), refusal(`CNI_GATE_TLS_${code}`, message));
  }

  test('is refused if they do not belong together, although a TLS server accepts them', () => {
    refused(authority.certificate + certificate, key, 'PAIR', /own certificate must come first/);
    refused(certificate, rsa.key, 'PAIR', /kind rsa, does not belong .* a key of kind ec/);
    refused(rsa.certificate, key, 'PAIR', /kind ec, does not belong .* a key of kind rsa/);
  });

  test('is refused a moment before and after its period', () => {
    for (const at of [notBefore, notAfter]) checkPair(certificate, key, at);
    const dates = `in force from ${notBefore.toISOString()} to ${notAfter.toISOString()}, and the clock says`;
    for (const at of [notBefore.getTime() - 1, notAfter.getTime() + 1])
      refused(certificate, key, 'PAIR', new RegExp(dates), new Date(at));
  });

  test('is refused if a part is cut off, damaged, encrypted, missing or too weak', () => {
    for (let length = 0; length < certificate.length - 1; length += 7)
      refused(certificate.slice(0, length), key, 'UNREADABLE', /^The certificate must be/);
    for (let length = 0; length < key.length - 1; length += 7)
      refused(certificate, key.slice(0, length), 'UNREADABLE', /^The key must be/);
    refused(certificate + authority.certificate.slice(0, 300), key, 'UNREADABLE', /found were 1/);
    const without = (pem: string) => pem.split('\n').toSpliced(2, 1).join('\n');
    refused(certificate + without(authority.certificate), key, 'UNREADABLE', /cannot be decoded/);
    refused(key, key, 'UNREADABLE', /^The certificate must be/);
    const encrypted = createPrivateKey(key).export({
      ...({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const),
    });
    for (const wrong of [certificate, without(key), String(encrypted)])
      refused(certificate, wrong, 'UNREADABLE', /^The key must be .* without a passphrase/);
    const weak = certify({ subject: '/CN=weak', key: ['rsa:1024'] });
    refused(weak.certificate, weak.key, 'UNREADABLE', /OpenSSL refuses to serve.*key too small/, later(0.01));
  });

  test('is refused with a code wherever a bit is wrong, or accepted with a date', () => {
    const codes = new Set<string>();
    for (const pair of [serving, rsa]) {
      const der = new X509Certificate(pair.certificate).raw;
      for (const [at, byte] of der.entries()) {
        const damaged = Buffer.from(der);
        damaged.writeUInt8(byte ^ 0x80, at);
        const pem = `-----BEGIN CERTIFICATE-----\n${damaged.toString('base64')}\n-----END CERTIFICATE-----\n`;
        try {
          assert.ok(checkPair(pem, pair.key, later(0.01)).notAfter.getTime() > 0);
        } catch (error) {
          assert.ok(error instanceof CniGateError, `byte ${at}: ${error}`);
          codes.add(error.code);
        }
      }
    }
    assert.deepEqual([...codes].sort(), ['CNI_GATE_TLS_PAIR', 'CNI_GATE_TLS_UNREADABLE']);
  });
});

suite('a certificate by a caBundle', () => {
  const upper = certify({ subject: '/CN=upper', signer: authority, days: 9 });
  const lower = certify({ subject: '/CN=lower', signer: upper, days: 9 });
  const extensions = [`subjectAltName=DNS:${host}`];
  const { certificate: deep } = certify({ subject: '/CN=deep', signer: lower, days: 5, extensions });
  const old = createAuthority({ days: 3, now });
  const { certificate: outliving } = certify({ subject: '/CN=x', signer: old, days: 5, extensions });
  const [leaf, own] = [serving.certificate, authority.certificate];
  const chain = deep + lower.certificate + upper.certificate;
  const none = /signed by no authority of the caBundle/;
  const soon = later(0.01);
  const leafOnly = ['basicConstraints=CA:false'];
  const nameless = certify({ subject: `/CN=${host}`, signer: authority, extensions: leafOnly });
  type Case = [
    what: string,
    chain: string,
    bundle?: string | undefined,
    why?: RegExp | undefined,
    at?: Date,
    host?: string,
  ];
  const cases: Case[] = [
    ['is accepted by the authority that signed it', leaf, own],
    ['is accepted by that authority in a bundle with another', leaf, stranger.certificate + own],
    ['is accepted by itself in the bundle', leaf, leaf],
    ['is accepted over intermediates', chain, own],
    ['is accepted over intermediates in any order', deep + upper.certificate + lower.certificate, own],
    ['is accepted over an intermediate in the bundle', deep, lower.certificate],
    ['is accepted while its authority is valid', outliving, old.certificate, undefined, later(2)],
    ['is refused after its authority', outliving, old.certificate, /no authority .*force/, later(4)],
    ['is refused without its intermediates', deep, own, none],
    ['is refused by a stranger of the same name', leaf, stranger.certificate, none],
    ['is refused without a caBundle', leaf, undefined, /^there is no caBundle$/],
    ['is refused by an empty caBundle', leaf, ' \n', /^there is no caBundle$/],
    ['is refused by a caBundle that is not PEM', leaf, 'hello', /^the caBundle cannot be read: /],
    ['is refused if there is none', '', own, /^the certificate cannot be read: /],
    ['is refused after its period', leaf, own, /in force from .* only$/, later(91)],
    ['is refused before its period', leaf, own, /in force from .* only$/, later(-1)],
    ['is refused if only its common name fits', nameless.certificate, own, /is for no name, not for/],
    ['is refused for another name', leaf, own, /is for DNS:cni-gate.* not for other.svc$/, soon, 'other.svc'],
  ];
  for (const [what, chain, bundle, why, at = soon, name = host] of cases)
    test(what, () => {
      const fault = verifyChain(chain, bundle, name, at);
      if (why) assert.match(fault ?? 'accepted', why);
      else assert.equal(fault, undefined);
    });

  test('is accepted for any name if no name is given', () => {
    assert.equal(verifyChain(own, own, undefined, soon), undefined);
  });
});
