import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import forge from 'node-forge';
import { CniGateError, type ErrorCode } from '../../../webhook/lib/errors.ts';

const { asn1 } = forge;
type Node = forge.asn1.Asn1;

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
  const { extensions } = forge.pki.certificateFromPem(pem) as unknown as { extensions: { name: string }[] };
  return Object.fromEntries(extensions.map((extension) => [extension.name, extension]));
}

/** A CA certificate with an EC key, signed by itself: written by hand, because forge knows no EC keys. */
export function ecAuthority(now: Date): { certificate: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const constraints = sequence(bool, octets(sequence(bool)));
  (constraints.value as Node[]).unshift(oid('2.5.29.19'));
  const unsigned = sequence(
    tagged(0, integer('\x02')),
    integer('\x01'),
    sequence(oid(ecdsaWithSha256)),
    sequence(),
    sequence(time(new Date(now.getTime() - 60_000)), time(new Date(now.getTime() + 60_000))),
    sequence(),
    asn1.fromDer(publicKey.export({ type: 'spki', format: 'der' }).toString('latin1')),
    tagged(3, sequence(constraints)),
  );
  const signature = sign('sha256', Buffer.from(der(unsigned), 'latin1'), privateKey).toString('latin1');
  const whole = sequence(unsigned, sequence(oid(ecdsaWithSha256)), primitive(3, `\x00${signature}`));
  return {
    certificate: forge.pem.encode({ type: 'CERTIFICATE', body: der(whole) }).replaceAll('\r', ''),
    key: privateKey.export({ type: 'sec1', format: 'pem' }) as string,
  };
}

const ecdsaWithSha256 = '1.2.840.10045.4.3.2';
const bool = primitive(1, '\xff');

function primitive(type: number, value: string): Node {
  return asn1.create(asn1.Class.UNIVERSAL, type, false, value);
}

function integer(bytes: string): Node {
  return primitive(2, bytes);
}

function octets(content: Node): Node {
  return primitive(4, der(content));
}

function oid(text: string): Node {
  return primitive(6, asn1.oidToDer(text).getBytes());
}

function time(date: Date): Node {
  return primitive(23, asn1.dateToUtcTime(date));
}

function sequence(...parts: Node[]): Node {
  return asn1.create(asn1.Class.UNIVERSAL, 16, true, parts);
}

function tagged(tag: number, content: Node): Node {
  return asn1.create(asn1.Class.CONTEXT_SPECIFIC, tag, true, [content]);
}

function der(node: Node): string {
  return asn1.toDer(node).getBytes();
}
