import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dashboardServer } from '../../../webhook/report/dashboard/server.ts';
import { dashboardOfNodes } from '../../support/dashboard-cluster.ts';

const token = 'secret-of-the-test';
const authorization = `Bearer ${token}`;
const host = '127.0.0.1:4000';
let dashboard = dashboardOfNodes(5);
const app = dashboardServer(token, () => dashboard);

test('the Host header must name loopback, as a defence against DNS rebinding', async () => {
  for (const good of ['127.0.0.1:4000', 'localhost:8080', 'LOCALHOST', '[::1]:4000'])
    assert.equal((await app.inject({ url: '/', headers: { host: good } })).statusCode, 200, good);
  const others = ['evil.example', 'localhost.evil.example:80', '192.0.2.1', 'localhost:80:80', 'localhost:'];
  for (const bad of others) {
    const answer = await app.inject({ url: '/data', headers: { host: bad, authorization } });
    assert.deepEqual([answer.statusCode, answer.json().code], [421, 'CNI_GATE_DASHBOARD_HOST'], bad);
  }
});

test('without the token, the data is refused', async () => {
  for (const given of [undefined, 'Bearer secret-of-the-tes', token, 'Bearer ']) {
    const headers = { host, ...(given !== undefined && { authorization: given }) };
    const answer = await app.inject({ url: `/data?token=${token}`, headers });
    assert.deepEqual([answer.statusCode, answer.json().code], [401, 'CNI_GATE_DASHBOARD_TOKEN'], given);
  }
});

test('the page has no data, turns no text into markup or code, and loads nothing', async () => {
  const { body } = await app.inject({ url: '/', headers: { host } });
  const hazards =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|setHTML|DOMParser|srcdoc/;
  assert.doesNotMatch(body, hazards);
  assert.doesNotMatch(body, /eu-west-1|^\s*(?:import|export) /m);
  assert.doesNotMatch(body, /src="|href="(?!data:)|https?:\/\/|\son\w+=|style=/);
});

test('the data is current', async () => {
  dashboard = { ...dashboard, headline: 'another' };
  const answer = await app.inject({ url: '/data', headers: { host, authorization } });
  assert.deepEqual(answer.json(), JSON.parse(JSON.stringify(dashboard)));
});

test('every answer forbids foreign scripts, frames, sniffing and storing', async () => {
  for (const url of ['/', '/data', '/nowhere']) {
    const { headers } = await app.inject({ url, headers: { host } });
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+';/, url);
    assert.match(policy, /require-trusted-types-for 'script'; frame-ancestors 'none'/, url);
    assert.doesNotMatch(policy, /unsafe|https?:/, url);
    assert.equal(headers['x-content-type-options'], 'nosniff', url);
    assert.equal(headers['cache-control'], 'no-store', url);
    assert.equal(headers['access-control-allow-origin'], undefined, url);
  }
});

test('other paths and methods are refused', async () => {
  for (const [method, url] of [
    ['GET', '/../package.json'],
    ['GET', '/main.js'],
    ['POST', '/data'],
  ] as const) {
    const answer = await app.inject({ method, url, headers: { host, authorization } });
    assert.equal(answer.statusCode, 404, url);
  }
});
