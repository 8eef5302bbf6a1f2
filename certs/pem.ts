import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { CniGateError, messageOf } from '../webhook/lib/errors.ts';

/** One block of a PEM text. */
export interface PemBlock {
  /** What it says to hold: `CERTIFICATE`, `PRIVATE KEY`. */
  label: string;
  /** The block with its first and last line, and nothing around it. */
  text: string;
}

const marker = /^-----(BEGIN|END) ([A-Z0-9 ]+)-----\s*$/;

/**
 * The blocks of a PEM text, in order; text around them is passed over (RFC 7468, 2). This looks at the frame
 * only. It comes before any parser, because a parser says of a file that is still being written `bad end line`,
 * or reads the part that is there and says nothing.
 *
 * @param text the whole text
 * @param what the text's name in messages: `The certificate`
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE where a block has no beginning, no end, or half a marker
 */
export function pemBlocks(text: string, what: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  const lines = text.split('\n');
  let open: { label: string; from: number } | undefined;
  for (const [at, line] of lines.entries()) {
    const [, side, label = ''] = marker.exec(line) ?? [];
    if (side === undefined && isBrokenMarker(line, at === lines.length - 1)) {
      throw halfWritten(what, `line ${at + 1} is half a marker`);
    }
    if (side === 'BEGIN') {
      if (open) throw halfWritten(what, `${open.label} of line ${open.from + 1} has no end`);
      open = { label, from: at };
    }
    if (side === 'END') {
      if (open?.label !== label)
        throw halfWritten(what, `the end of ${label} in line ${at + 1} has no beginning`);
      blocks.push({ label, text: `${lines.slice(open.from, at + 1).join('\n')}\n` });
      open = undefined;
    }
  }
  if (open) throw halfWritten(what, `${open.label} of line ${open.from + 1} has no end`);
  return blocks;
}

/** What was found in a PEM text that does not hold what it should, in words. */
export function labelsIn(blocks: readonly PemBlock[]): string {
  return blocks.map((block) => block.label).join(', ') || 'no PEM block at all';
}

/** A line that begins a marker and does not end it. Only in the last line can the first dashes be meant so. */
function isBrokenMarker(line: string, isLast: boolean): boolean {
  return /^-----(BEGIN|END)/.test(line) || (isLast && line !== '' && '-----BEGIN'.startsWith(line));
}

function halfWritten(what: string, detail: string): CniGateError {
  return new CniGateError(
    'CNI_GATE_TLS_UNREADABLE',
    `${what} is not whole PEM: ${detail}. Was it cut off while it was copied, or is it still being written?`,
  );
}

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
