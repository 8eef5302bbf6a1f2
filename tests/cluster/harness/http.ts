import type { ClientRequest, IncomingMessage } from 'node:http';

/** Sends a request, and waits for the head of the answer. */
export function answered(sent: ClientRequest, body: string | undefined): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Node announces no length by itself for a DELETE, and the body would be read as the next request
  if (body !== undefined) sent.setHeader('content-length', Buffer.byteLength(body));
  sent.on('response', resolve).on('error', reject).end(body);
  return promise;
}

/** Whole lines as they come. `readline` would not hand on the error of a connection that breaks. */
export async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const text of answer.setEncoding('utf8')) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

export async function readAll(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
