import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import { CniGateError, type ErrorCode } from '../../../webhook/lib/errors.ts';

/** For assert.throws and assert.rejects: a CniGateError of this code, with a message that says this. */
export function refusal(code: ErrorCode, message: RegExp): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof CniGateError, `a CniGateError was expected, not ${error}`);
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  };
}

/** What forge reads in an extension, by the extension's name. */
export function extensionsOf(pem: string): Record<string, Record<string, unknown>> {
  const der = forge.asn1.fromDer(new X509Certificate(pem).raw.toString('latin1'));
  const unsigned = (der.value as forge.asn1.Asn1[])[0]?.value as forge.asn1.Asn1[];
  // the last field of a TBSCertificate (RFC 5280, 4.1)
  const extensions = (forge.pki as unknown as Untyped).certificateExtensionsFromAsn1(unsigned.at(-1));
  return Object.fromEntries(extensions.map((extension) => [extension.name, extension]));
}

/** An RSA key with a CA certificate that it signed itself. */
export function rsaAuthority(now: Date, bits = 2048): { certificate: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: bits,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = forge.pki.publicKeyFromPem(publicKey);
  certificate.validity.notBefore = new Date(now.getTime() - 60_000);
  certificate.validity.notAfter = new Date(now.getTime() + 60_000);
  certificate.setExtensions([{ name: 'basicConstraints', cA: true }, { name: 'subjectKeyIdentifier' }]);
  certificate.sign(forge.pki.privateKeyFromPem(privateKey), forge.md.sha256.create());
  return { certificate: forge.pki.certificateToPem(certificate).replaceAll('\r', ''), key: privateKey };
}

/** Exported by node-forge and missing from its types. */
interface Untyped {
  certificateExtensionsFromAsn1(extensions: forge.asn1.Asn1 | undefined): { name: string }[];
}
