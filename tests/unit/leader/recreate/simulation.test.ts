import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Simulation } from './simulation.ts';
import { controllerOf } from './support.ts';

const minute = 60_000;
const web = controllerOf('web');

for (const evidence of ['ready', 'proof'] as const) {
  test(`${evidence}: a node whose plugin comes 5 s late, 30 pods: all run soon, and few are recreated in vain`, () => {
    const sim = new Simulation({
      nodes: [{ name: 'n1', startedAt: 4000, readyAt: 5000, worksAt: 5000 }],
      evidence,
    });
    sim.create(web, 30, 'n1');
    sim.run(5000);
    assert.equal(sim.deleted.length, 0, 'nothing is deleted before the DaemonSet is ready');
    const took = sim.runUntilAllPass(minute);
    assert.ok(took <= 20_000, `${took} ms, of which the first failures take 6 s`);
    assert.equal(sim.deleted.length, 30);
  });
}

/** Two nodes that read Ready. The plugin of n1 never comes. */
const withOther = {
  nodes: [
    { name: 'n1', readyAt: 0 },
    { name: 'n2', readyAt: 0, worksAt: 0 },
  ],
};

test('a node that reads Ready and whose plugin never comes, another node ready, new Deployment of 20, proof: all 20 run on the other node within 60 s, at most 3 deletions in 10 minutes', () => {
  const sim = new Simulation({ ...withOther, evidence: 'proof' });
  sim.create(web, 20);
  sim.run(minute);
  assert.equal(sim.passedOn('n2'), 20);
  sim.run(9 * minute);
  assert.ok(sim.deleted.length <= 3, `${sim.deleted.length} deletions`);
});

test('the same with ready, which lets pods fail on the node: at most 8 deletions in any 10 minutes without a success', () => {
  const sim = new Simulation({ ...withOther, evidence: 'ready' });
  sim.create(web, 20);
  sim.run(60 * minute);
  const inVain = sim.ended.filter(({ outcome }) => outcome === 'failed').length;
  assert.ok(inVain > 0 && sim.longestInVain(10 * minute) <= 8, `${sim.longestInVain(10 * minute)}`);
});

test('the same where the DaemonSet says that it is not ready: nothing is recreated in vain', () => {
  const nodes = [{ name: 'n1' }, { name: 'n2', readyAt: 0, worksAt: 0 }];
  for (const evidence of ['ready', 'proof'] as const) {
    const sim = new Simulation({ nodes, evidence });
    sim.create(controllerOf('other'), 1, 'n2');
    sim.create(web, 20, 'n1');
    sim.run(12_000);
    const took = sim.runUntilAllPass(minute);
    assert.ok(took < minute, `${took} ms`);
    assert.equal(sim.passedOn('n2'), 21);
    assert.equal(sim.deleted.length, 20);
  }
});

for (const evidence of ['ready', 'proof'] as const) {
  for (const fault of [13, 14, 15, 16, 17, 18, 19, 20]) {
    test(`${evidence}: ${fault} s without the plugin, no boot, 10 pods replaced meanwhile: all run within 18 s after it is back`, () => {
      const sim = new Simulation({ nodes: [{ name: 'n1', readyAt: 0, worksAt: 0 }], evidence });
      sim.create(web, 10, 'n1');
      sim.run(minute);
      sim.node('n1', { worksAt: sim.now + fault * 1000 });
      sim.replaceAll('n1');
      sim.run(fault * 1000);
      const took = sim.runUntilAllPass(minute);
      assert.ok(took <= 18_000, `${took} ms`);
    });
  }

  test(`${evidence}: a node that reads Ready and whose plugin never comes, no other node ready, 20 pods: at most 10 deletions in any 30 minutes`, () => {
    const sim = new Simulation({ nodes: [{ name: 'n1', readyAt: 0 }], evidence });
    sim.create(web, 20, 'n1');
    sim.run(3 * 60 * minute);
    assert.ok(sim.deleted.length >= 12, `${sim.deleted.length} deletions: it goes on trying`);
    assert.ok(sim.most(30 * minute) <= 10, `${sim.most(30 * minute)} deletions`);
  });
}

test('a full node of 110 pods comes back at the speed of its budget, oldest first', () => {
  const perNodePerMinute = 30;
  const sim = new Simulation({
    nodes: [{ name: 'n1', readyAt: 0, worksAt: 20_000 }],
    evidence: 'proof',
    budgets: { perNodePerMinute },
  });
  for (let owner = 0; owner < 11; owner += 1) {
    sim.create(controllerOf(`web${owner}`), 10, 'n1');
    sim.run(1000);
  }
  sim.run(20_000);
  const took = sim.runUntilAllPass(10 * minute);
  assert.ok(took <= 4 * minute, `${took} ms`);
  assert.ok(sim.most(minute) <= 1.5 * perNodePerMinute);
  assert.ok(sim.deleted.length <= 113, `${sim.deleted.length} deletions`);
  const oldest = new Set(Array.from({ length: 40 }, (_, index) => `uid-${index}`));
  const first = sim.deleted.slice(0, 30);
  assert.ok(first.filter(({ uid }) => oldest.has(uid)).length >= 27, 'the first ones are the oldest');
});

test('a StatefulSet comes back one by one, by ordinal', () => {
  const sim = new Simulation({ nodes: [{ name: 'n1', readyAt: 0, worksAt: 1000 }], evidence: 'proof' });
  sim.create(controllerOf('db', 'StatefulSet'), 12, 'n1');
  sim.run(11_000);
  sim.runUntilAllPass(5 * minute);
  assert.ok(sim.allPass());
  const ordinals = sim.ended.map(({ recreation }) => Number(recreation.pod.name.slice(3)));
  assert.deepEqual(
    ordinals,
    Array.from({ length: 12 }, (_, index) => index),
  );
  assert.equal(sim.most(5000), 2, 'the next one follows when the one before has passed');
});

test('the owner of pods that fail everywhere does not stop the repair of others', () => {
  const nodes = [
    { name: 'n1', readyAt: 0, worksAt: 0 },
    { name: 'n2', readyAt: 60_000, worksAt: 60_000 },
  ];
  const sim = new Simulation({ nodes, evidence: 'proof' });
  for (let index = 0; index < 20; index += 1) {
    sim.create({ ...controllerOf(`broken${index}`), uid: `never-${index}` }, 1, 'n1', 'broken');
  }
  sim.run(30_000);
  sim.create(web, 20, 'n2');
  sim.run(30_000);
  const began = sim.now;
  while (sim.now < began + 5 * minute && !sim.allPass(({ namespace }) => namespace === 'shop')) sim.run(1000);
  assert.ok(sim.now - began <= minute, `${sim.now - began} ms`);
});

for (const evidence of ['ready', 'proof'] as const) {
  test(`${evidence}: pods of ten namespaces that fail everywhere do not take every turn, while repair has stopped too`, () => {
    const nodes = [
      { name: 'n1', readyAt: 0, worksAt: 0 },
      { name: 'n2', readyAt: 0, worksAt: 0 },
    ];
    const sim = new Simulation({ nodes, evidence });
    for (let index = 0; index < 60; index += 1) {
      const broken = { ...controllerOf(`broken${index}`), uid: `never-${index}` };
      sim.create(broken, 1, index % 2 === 0 ? 'n1' : 'n2', `broken${index % 10}`);
    }
    sim.run(30 * minute);
    sim.create(web, 20, 'n2');
    const comes = sim.now + 5000;
    sim.reboot('n2', { startedAt: comes - 1000, readyAt: comes, worksAt: comes });
    const began = sim.now;
    while (sim.now < began + 60 * minute && !sim.allPass(({ namespace }) => namespace === 'shop'))
      sim.run(1000);
    // at most the pause that has begun
    assert.ok(sim.now - began <= 12 * minute, `${(sim.now - began) / 1000} s`);
  });
}

test('a new leader in the middle of a repair: all run, and none is deleted twice', () => {
  const sim = new Simulation({
    nodes: [{ name: 'n1', readyAt: 0, worksAt: 11_000 }],
    evidence: 'proof',
    budgets: { perNodePerMinute: 20, perOwnerPerMinute: 20, perMinute: 20 },
  });
  sim.create(web, 50, 'n1');
  sim.run(25_000);
  const before = sim.deleted.length;
  assert.ok(before > 5 && before < 50, `${before}`);
  sim.repairs = false;
  sim.run(15_000);
  sim.newLeader();
  sim.repairs = true;
  sim.runUntilAllPass(10 * minute);
  assert.ok(sim.allPass());
  assert.equal(new Set(sim.deleted.map(({ uid }) => uid)).size, sim.deleted.length);
});
