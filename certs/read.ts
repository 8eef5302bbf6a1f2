import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { CniGateError, messageOf } from '../webhook/lib/errors.ts';
import { labelsIn, pemBlocks } from './pem.ts';

/**
 * The certificates of a PEM text, in order; blocks of another kind are passed over.
 *
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE where there is none, or one that is cut off or cannot be decoded
 */
export function readCertificates(pem: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = pemBlocks(pem, 'The certificate');
  const own = blocks.filter((block) => block.label === 'CERTIFICATE');
  const [leaf, ...issuers] = own.map((block, at) =>
    orUnreadable(`Certificate ${at + 1} of ${own.length} is PEM, but cannot be decoded`, () =>
      decode(block.text),
    ),
  );
  if (leaf) return [leaf, ...issuers];
  const seen = labelsIn(blocks);
  throw unreadable(`The certificate must be PEM with a line -----BEGIN CERTIFICATE-----; found was ${seen}.`);
}

/**
 * The private key of a PEM text: PKCS#8, or the older forms for RSA and EC.
 *
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE where there is none, or one that is cut off, encrypted, or cannot be
 *   decoded. No message holds anything of the key.
 */
export function readKey(pem: string): KeyObject {
  const blocks = pemBlocks(pem, 'The key');
  const block = blocks.find(({ label }) => label.endsWith('PRIVATE KEY'));
  if (!block) {
    const seen = labelsIn(blocks);
    throw unreadable(`The key must be PEM with a line -----BEGIN PRIVATE KEY-----; found was ${seen}.`);
  }
  // The second is how PEM was encrypted before PKCS#8 (RFC 1421, 4.6.1.1): the label is that of a plain key.
  if (block.label.startsWith('ENCRYPTED') || /^Proc-Type:.*ENCRYPTED/m.test(block.text)) {
    throw unreadable(
      'The key is encrypted, and cni-gate has no passphrase for it: give it a key in the clear.',
    );
  }
  return orUnreadable('The key is PEM, but cannot be decoded', () => createPrivateKey(block.text));
}

/**
 * What `parse` returns; what it throws becomes an error for the operator.
 *
 * @param what the beginning of the message, without a full stop
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE
 */
export function orUnreadable<Result>(what: string, parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    throw unreadable(`${what} (${messageOf(error)}).`, error);
  }
}

/** Node decodes key and dates when they are asked for: a bad key throws then, a bad date compares as in force. */
function decode(text: string): X509Certificate {
  const certificate = new X509Certificate(text);
  const { publicKey, validFromDate, validToDate } = certificate;
  if (!publicKey || Number.isNaN(validFromDate.getTime() + validToDate.getTime())) {
    throw new Error('its key or its dates have no valid form');
  }
  return certificate;
}

function unreadable(message: string, cause?: unknown): CniGateError {
  return new CniGateError('CNI_GATE_TLS_UNREADABLE', message, { cause });
}
