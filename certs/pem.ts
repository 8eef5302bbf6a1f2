import { CniGateError } from '../webhook/lib/errors.ts';

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
