import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { quoted } from '../../lib/clean.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import type { Dashboard } from './data.ts';

/**
 * Reads the page as one HTML document, from files beside this one in the sources and in the published `dist/`. The
 * Content-Security-Policy allows only the page's own script and style.
 */
function readPage(): { html: string; policy: string } {
  const read = (name: string): string => readFileSync(new URL(`./page/${name}`, import.meta.url), 'utf8');
  const script = `\n${read('page.js')}`;
  const style = `\n${read('style.css')}`;
  const icon = `data:image/svg+xml;base64,${Buffer.from(read('icon.svg')).toString('base64')}`;
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "frame-ancestors 'none'",
  ].join('; ');
  const head = `<link rel="icon" href="${icon}" />\n    <style>${style}</style>`;
  // functions as replacements, because `$&` in a replacement string has a special meaning
  const html = read('index.html')
    .replace('<!-- head -->', () => head)
    .replace('<!-- script -->', () => `<script type="module">${script}</script>`);
  return { html, policy };
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const headers = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
};

/**
 * The server of the local page; the caller makes it listen.
 *
 * The page itself is public. The data requires a token, which the page reads from the fragment of its URL, because
 * browsers do not send fragments. As a defence against DNS rebinding, the Host header must name loopback.
 *
 * @param token the token that a request for the data must have as `Authorization: Bearer TOKEN`
 */
export function dashboardServer(token: string, latest: () => Dashboard | undefined): FastifyInstance {
  const { html, policy } = readPage();
  const app = fastify({ logger: false });
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...headers, 'content-security-policy': policy });
    if (isLoopbackHost(request.headers.host)) return undefined;
    const message = `expected Host localhost, 127.0.0.1 or [::1], got ${quoted(request.headers.host ?? 'none')}`;
    return refuse(reply, 421, 'CNI_GATE_DASHBOARD_HOST', message);
  });
  app.get('/', async (_request, reply) => reply.type('text/html; charset=utf-8').send(html));
  app.get('/data', async (request, reply) => {
    if (request.headers.authorization === `Bearer ${token}`) return reply.send(latest());
    const message = 'the token is missing or wrong: open the address that cni-gate dashboard printed';
    return refuse(reply, 401, 'CNI_GATE_DASHBOARD_TOKEN', message);
  });
  return app;
}

const refuse = (reply: FastifyReply, status: number, code: ErrorCode, message: string): FastifyReply =>
  reply.code(status).send({ code, message });

/** Whether a Host header names loopback. Any port is allowed, because an SSH tunnel may use a different port. */
const isLoopbackHost = (host: string | undefined): boolean =>
  host !== undefined && /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i.test(host);
