import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { endingServices, readServices } from './compose/file.ts';
import { down, type RunningService, up } from './compose/run.ts';

const services = readServices();
let running = new Map<string, RunningService>();
after(() => down(running));

test('docker-compose.yml comes up by its own commands, and the story is told', async () => {
  running = await up(services);
  const story = running.get('story')?.output ?? '';
  assert.match(story, /plain\/web: init containers of its pod: none$/m);
  assert.match(story, /shop\/web: {2}init containers of its pod: cni-gate-validator$/m);
  assert.match(story, /shop\/alone: init containers: cni-gate-validator$/m);
  assert.match(story, /left alone\.\n {2}shop\/alone: init containers: none$/m);
  assert.match(
    story,
    /holds it:\n {2}shop\/(held-\w+): .*"bindings\.cni-gate\.io" denied the request: node node-1 is not ready for profile cilium: .* \(CNI_GATE_NODE_NOT_READY\)\n.*\n {2}shop\/\1: bound to node-1$/m,
  );
});

test('what does not end goes on running', () => {
  const ending = endingServices(services);
  for (const [name, { child, output }] of running) {
    if (!ending.has(name)) assert.equal(child.exitCode, null, `${name} ended:\n${output}`);
  }
});
