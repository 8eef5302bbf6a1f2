import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { readCertificates } from '../../../certs/verify.ts';
import type { AdmissionReview } from '../../admission/review.ts';
import { CniGateError, type ErrorCode, messageOf } from '../../lib/errors.ts';
import { readText } from '../../lib/live-files.ts';
import { fieldsOf } from '../values.ts';
import type { Admission } from './judge.ts';

/** Options of {@link remote}. */
export interface RemoteOptions {
  url: string;
  /** File with the certificate of the authority that signed the server's certificate. */
  ca?: string | undefined;
  /** Milliseconds to wait for an answer. */
  timeout: number;
}

/** Error codes that a server returns because of the body. */
const aboutTheBody: ReadonlySet<string> = new Set<ErrorCode>([
  'CNI_GATE_REVIEW_INVALID',
  'CNI_GATE_REVIEW_NAME',
  'CNI_GATE_REVIEW_KIND',
  'CNI_GATE_REVIEW_SYNTAX',
  'CNI_GATE_REVIEW_TOO_LARGE',
]);

/**
 * A running server, called as an API server would: POST over HTTPS, with the time-out in the URL.
 *
 * @throws CniGateError CNI_GATE_USAGE if the URL is invalid, CNI_GATE_TLS_UNREADABLE for the authority
 */
export function remote(options: RemoteOptions): Admission {
  const url = mutateUrl(options.url, options.timeout);
  const ca = options.ca === undefined ? undefined : authority(options.ca);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ...(ca !== undefined && { ca }) });
  return {
    answer: async (body) => parseAnswer(url, await post(url, agent, JSON.stringify(body), options.timeout)),
    // the server knows its namespaces
    uncalled: () => undefined,
  };
}

function authority(file: string): string {
  const pem = readText(file, 'CNI_GATE_TLS_UNREADABLE');
  // TLS accepts a text without certificates, and then trusts no certificate
  readCertificates(pem);
  return pem;
}

function mutateUrl(given: string, timeout: number): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol !== 'https:') {
    throw new CniGateError(
      'CNI_GATE_USAGE',
      `--server: expected a URL such as https://localhost:8443, got ${given}`,
    );
  }
  if (url.pathname === '/') url.pathname = '/mutate';
  url.searchParams.set('timeout', timeout % 1000 === 0 ? `${timeout / 1000}s` : `${timeout}ms`);
  return url;
}

interface Reply {
  status: number;
  body: string;
}

async function post(url: URL, agent: Agent, body: string, timeout: number): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const signal = AbortSignal.timeout(timeout);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const call = request(url, { method: 'POST', agent, headers, signal }, (response) => {
    text(response).then((reply) => resolve({ status: response.statusCode ?? 0, body: reply }), reject);
  });
  call.on('error', reject);
  call.end(body);
  try {
    return await promise;
  } catch (error) {
    const why = signal.aborted ? `no answer within ${timeout} ms` : messageOf(error);
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const advice = /CERT|SIGNATURE|ISSUER/.test(code)
      ? ': pass the authority of its certificate with --ca'
      : '';
    throw wrong(`${url.origin} cannot be reached: ${why}${advice}`, error);
  }
}

function parseAnswer(url: URL, { status, body }: Reply): AdmissionReview {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw wrong(`${url.href} answered ${status} with something that is not JSON`);
  }
  const { code, message, response } = fieldsOf(value);
  if (typeof code === 'string' && typeof message === 'string' && aboutTheBody.has(code)) {
    throw new CniGateError(code as ErrorCode, message);
  }
  if (status !== 200 || response === undefined) {
    const reported = typeof message === 'string' ? `: ${message}` : '';
    throw wrong(`${url.href} answered ${status}, not an AdmissionReview with a response${reported}`);
  }
  return value as AdmissionReview;
}

const wrong = (message: string, cause?: unknown): CniGateError =>
  new CniGateError('CNI_GATE_SERVER', message, { cause });
