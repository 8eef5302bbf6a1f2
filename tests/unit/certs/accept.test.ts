import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { suite, test } from 'node:test';
import { whyNotAccepted } from '../../../certs/accept.ts';
import { type Authority, createAuthority, issueServing } from '../../../certs/issue.ts';
import { encodeCommonName, generateKey, issuerFields, signCertificate } from '../../../certs/x509.ts';

const now = new Date('2026-11-21T12:00:00Z');
const day = 86_400_000;
const host = 'cni-gate.cni-gate.svc';
const later = (days: number): Date => new Date(now.getTime() + days * day);

const authority = createAuthority({ commonName: 'cni-gate', days: 10, now });
// of the same name: only the key tells them apart
const stranger = createAuthority({ commonName: 'cni-gate', days: 10, now });
const { certificate: leaf } = issueServing(authority, { names: [host], days: 5, now });

/** An authority that another one signed. */
function intermediate(above: Authority, commonName: string): Authority {
  const { publicKey, privateKey } = generateKey();
  const certificate = signCertificate(
    {
      subject: encodeCommonName(commonName),
      publicKey,
      period: { notBefore: now, notAfter: later(9) },
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true },
      ],
      issuer: issuerFields(new X509Certificate(above.certificate).raw).name,
    },
    above.key,
  );
  return { certificate, key: privateKey };
}

suite('a certificate is accepted', () => {
  const accepted = (chain: string, bundle: string): void =>
    assert.equal(whyNotAccepted(chain, bundle, host, now), undefined);

  test('by the authority that signed it, also among others', () => {
    accepted(leaf, authority.certificate);
    accepted(leaf, stranger.certificate + authority.certificate);
  });

  test('where it is itself in the bundle', () => accepted(leaf, leaf));

  test('where it is an authority of the bundle, whatever its name', () => {
    const why = (bundle: string) => whyNotAccepted(authority.certificate, bundle, undefined, now);
    assert.equal(why(stranger.certificate + authority.certificate), undefined);
    assert.equal(why(stranger.certificate), 'it is signed by no authority of the caBundle');
  });

  test('over intermediate authorities that are sent along, in any order, or that are in the bundle', () => {
    const upper = intermediate(authority, 'upper');
    const lower = intermediate(upper, 'lower');
    const { certificate } = issueServing(lower, { names: [host], days: 5, now });
    accepted(certificate + lower.certificate + upper.certificate, authority.certificate);
    accepted(certificate + upper.certificate + lower.certificate, authority.certificate);
    accepted(certificate, lower.certificate);
    assert.match(
      whyNotAccepted(certificate, authority.certificate, host, now) ?? '',
      /signed by no authority of the caBundle/,
    );
  });
});

suite('it is not accepted, and why', () => {
  const cases: Record<string, [chain: string, bundle: string | undefined, at: Date, RegExp]> = {
    'no caBundle': [leaf, undefined, now, /^there is no caBundle$/],
    'an empty one': [leaf, ' \n', now, /^there is no caBundle$/],
    'one that is no PEM': [leaf, 'hello', now, /^the caBundle cannot be read: /],
    'a stranger of the same name': [leaf, stranger.certificate, now, /signed by no authority/],
    'no certificate': ['', authority.certificate, now, /^the certificate cannot be read: /],
    'a certificate that has expired': [leaf, authority.certificate, later(6), /in force from .* only$/],
    'one that is not yet in force': [leaf, authority.certificate, later(-1), /in force from .* only$/],
  };
  for (const [name, [chain, bundle, at, why]] of Object.entries(cases)) {
    test(name, () => assert.match(whyNotAccepted(chain, bundle, host, at) ?? '', why));
  }

  test('another name', () => {
    const why = whyNotAccepted(leaf, authority.certificate, 'other.cni-gate.svc', now);
    assert.equal(why, `the certificate is for ${host}, not for other.cni-gate.svc`);
  });

  test('an authority that has expired while what it signed has not', () => {
    const old = createAuthority({ commonName: 'cni-gate', days: 3, now });
    const { publicKey } = generateKey();
    const certificate = signCertificate(
      {
        subject: encodeCommonName(host),
        publicKey,
        period: { notBefore: now, notAfter: later(5) },
        extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
        issuer: issuerFields(new X509Certificate(old.certificate).raw).name,
      },
      old.key,
    );
    assert.equal(whyNotAccepted(certificate, old.certificate, host, later(2)), undefined);
    assert.equal(
      whyNotAccepted(certificate, old.certificate, host, later(4)),
      'no authority of the caBundle is in force',
    );
  });
});
