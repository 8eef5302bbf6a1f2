import { createHash, timingSafeEqual } from 'node:crypto';
import fastify, { type FastifyInstance } from 'fastify';
import { quoted } from '../lib/clean.ts';
import { CniGateError, type ErrorCode } from '../lib/errors.ts';
import { dashboardLimits } from '../lib/limits.ts';
import { isLoopbackHost } from './host.ts';
import type { Dashboard } from './model.ts';
import type { PageFiles } from './page-files.ts';

/** What the page's server needs. */
export interface DashboardServerOptions {
  page: PageFiles;
  /** What a call for the data has to bring, `Authorization: Bearer TOKEN`. */
  token: string;
  /** The dashboard of now. */
  latest: () => Dashboard;
}

/** The page loads nothing from elsewhere, runs no inline script, and is in no frame. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

const headers = {
  'content-security-policy': contentSecurityPolicy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
};

/**
 * The server of the local page. It listens on nothing yet.
 *
 * The page itself is public. The data takes a token, which the page has from the fragment of its address: the browser
 * sends that to nobody. A name that an attacker has point to this machine (DNS rebinding) is refused by the Host header.
 */
export function dashboardServer({ page, token, latest }: DashboardServerOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: 1024,
    http: { headersTimeout: dashboardLimits.headersTimeout, requestTimeout: dashboardLimits.headersTimeout },
  });
  app.server.maxConnections = dashboardLimits.connections;
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    if (isLoopbackHost(request.headers.host)) return undefined;
    const host = quoted(request.headers.host ?? 'none');
    return refuse(421, 'CNI_GATE_DASHBOARD_HOST', `expected Host localhost, 127.0.0.1 or [::1], got ${host}`);
  });
  const serve = (path: string, type: string, text: string): void =>
    void app.get(path, async (_request, reply) => reply.type(`${type}; charset=utf-8`).send(text));
  serve('/', 'text/html', page.html);
  serve('/style.css', 'text/css', page.css);
  serve('/icon.svg', 'image/svg+xml', page.icon);
  for (const { name, text } of page.modules) serve(`/${name}`, 'text/javascript', text);
  app.get('/data', async (request, reply) => {
    if (!isSame(request.headers.authorization, `Bearer ${token}`)) {
      const message =
        'the token is missing or is another one: open the address that cni-gate dashboard printed';
      return refuse(401, 'CNI_GATE_DASHBOARD_TOKEN', message);
    }
    const { time, ...content } = latest();
    const text = JSON.stringify(content);
    const tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
    reply.header('etag', tag).header('x-data-time', time);
    if (request.headers['if-none-match'] === tag) return reply.code(304).send();
    // the time first, and the text that is made already
    return reply
      .type('application/json; charset=utf-8')
      .send(`{"time":${JSON.stringify(time)},${text.slice(1)}`);
  });
  app.setNotFoundHandler(({ method, url }) =>
    refuse(404, 'CNI_GATE_NOT_FOUND', `no ${quoted(method)} ${quoted(url)} here; there are GET / and /data`),
  );
  app.setErrorHandler((error, _request, reply) => {
    const known = error instanceof Refusal ? error : undefined;
    const code = known?.code ?? 'CNI_GATE_INTERNAL';
    const message = known?.message ?? 'a defect in cni-gate';
    return reply.code(known?.status ?? 500).send({ code, message });
  });
  return app;
}

/** A call that is refused. */
class Refusal extends CniGateError {
  readonly status: number;

  constructor(status: number, code: ErrorCode, message: string) {
    super(code, message);
    this.status = status;
  }
}

function refuse(status: number, code: ErrorCode, message: string): never {
  throw new Refusal(status, code, message);
}

/** Whether two texts are the same, in a time that does not say where they differ. */
function isSame(one: string | undefined, other: string): boolean {
  const [first, second] = [one ?? '', other].map((text) => createHash('sha256').update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
