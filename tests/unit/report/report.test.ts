import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import schema from '../../../schemas/report.json' with { type: 'json' };
import { toNodeFacts } from '../../../webhook/core/facts/node.ts';
import { states } from '../../../webhook/core/networks/daemon-set-status.ts';
import { dashboardOf } from '../../../webhook/report/dashboard/data.ts';
import { catalogue } from '../../../webhook/report/judge/catalogue.ts';
import { urgency } from '../../../webhook/report/judge/nodes.ts';
import type { Facts } from '../../../webhook/report/observe/observe.ts';
import { briefOf, type Report, reportOf } from '../../../webhook/report/show/report.ts';
import { ageText } from '../../../webhook/report/show/table.ts';
import { reportText } from '../../../webhook/report/show/text.ts';
import { schemaFaults } from '../../support/schemas.ts';
import { clusterWith } from '../admission/gate/support.ts';
import { apiNode, now } from '../core/networks/objects.ts';
import { compareGolden } from './golden.ts';
import {
  configured,
  factsOf,
  forbidden,
  found,
  kubernetes,
  nothingInstalled,
  podOf,
  profiles,
  provedPod,
} from './objects.ts';
import { troubled } from './troubled.ts';

const paint = (style: string, text: string): string => `<${style}>${text}</>`;
const status = (more: Parameters<typeof factsOf>[0] = {}): Report => reportOf(factsOf(more), 'status');

suite('golden files', () => {
  const reports = {
    status: briefOf(reportOf(troubled(), 'status')),
    'check-pre': reportOf(factsOf({ version: kubernetes(29, 9) }), 'pre'),
  };
  for (const [name, report] of Object.entries(reports))
    test(`${name}: text of 100 columns, and JSON that matches its schema`, () => {
      const text = reportText(report);
      compareGolden(`${name}.txt`, text);
      // the first line is never broken, because scripts read it
      const [, ...lines] = text.split('\n');
      assert.deepEqual(
        lines.filter((line) => line.length > 100),
        [],
      );
      assert.deepEqual(schemaFaults('report')(report), []);
    });
});

test('the schema has the names of the catalogue, and every field and state that the code knows', () => {
  const report = status();
  const { properties } = schema.properties.rows.items;
  assert.deepEqual(
    properties.check.enum,
    catalogue.map(({ id }) => id),
  );
  assert.deepEqual(Object.keys(properties).toSorted(), Object.keys(report.rows[0] ?? {}).toSorted());
  assert.deepEqual(Object.keys(schema.properties), Object.keys(report));
  assert.deepEqual(urgency.toSorted(), states.toSorted());
  assert.equal(schemaFaults('report')({ ...report, result: 'perfect' }).length, 1);
});

suite('the result', () => {
  const cases: [
    name: string,
    more: Parameters<typeof factsOf>[0],
    result: Report['result'],
    headline: RegExp,
  ][] = [
    ['all is well', {}, 'passed', /^All 17 checks passed\.$/],
    [
      'a warning',
      { version: kubernetes(34, 1) },
      'passed',
      /^No check failed\. Warnings: kubernetes-version: v1\.34\.1: refused pods are not steered, which needs 1\.35\.$/,
    ],
    [
      'what may not be read',
      { installation: { lease: forbidden('Lease') } },
      'not-known',
      /^It is not known whether all is well: 16 checks passed\. Not known: leader\.$/,
    ],
    [
      'a certificate that may not be read, as with the ClusterRole cni-gate-status',
      { installation: { secret: forbidden('Secret') } },
      'passed',
      /^All 16 checks passed\. Not known: certificate\.$/,
    ],
    [
      'a failure, whatever else is not known',
      { installation: { slices: found([]), lease: forbidden('Lease') } },
      'failed',
      /^1 of 16 checks failed\. service: Service cni-gate.* \(CNI_GATE_NO_ENDPOINTS\)$/,
    ],
    [
      'nothing is installed',
      { installation: nothingInstalled, version: kubernetes(29) },
      'not-installed',
      /^2 of 2 checks failed\. installed: cni-gate is not installed: .* \(CNI_GATE_NOT_INSTALLED\)$/,
    ],
    [
      'a node, and how many more',
      { readiness: found(clusterWith({ n1: undefined, n2: undefined })) },
      'failed',
      /^1 of 17 checks failed\. nodes: mesh on n1 \(absent\): DaemonSet net\/agent: .*, and 1 more \(CNI_GATE_NODE_NOT_READY\)$/,
    ],
  ];
  for (const [name, more, result, headline] of cases)
    test(name, () => {
      const report = status(more);
      assert.equal(report.result, result);
      assert.match(report.headline, headline);
    });

  test('the first line has a colour, and only a command that paints has colours', () => {
    const first = (more: Parameters<typeof factsOf>[0]): string => reportText(status(more), false, paint);
    assert.match(first({}), /^<green>All .*\n.*\n.*\n\n<green>✓<\/> kubernetes-version /);
    assert.match(first({ version: kubernetes(34) }), /^<yellow>No check/);
    assert.match(first({ installation: { slices: found([]) } }), /^<red>1 of/);
    assert.ok(!reportText(status()).includes('<'));
    const dashboardResult = (more: Parameters<typeof factsOf>[0]) => dashboardOf(factsOf(more)).result;
    assert.deepEqual(
      [dashboardResult({}), dashboardResult({ version: kubernetes(34) })],
      ['passed', 'warning'],
    );
  });
});

suite('the text', () => {
  test('equal reasons are one row with a count and the greatest age; --all has a row for each', () => {
    const why = 'DaemonSet net/agent is broken there (pod agent-n3): its pod is not Ready';
    const pods = Array.from({ length: 30 }, (_, at) => {
      const name = `web-${at + 10}`;
      const held = {
        refused: 'n3',
        since: now - (at + 1) * 60_000,
        nominated: at < 5 ? '' : 'n1',
        why,
      };
      return podOf(name, 'waiting', { held });
    });
    const report = status({ pods: found(pods) });
    const text = reportText(report);
    assert.match(text, /^ {4}OBJECT .*\n {4}shop\/web-10 and 4 more +n3 +held +5m\n +DaemonSet/m);
    assert.match(text, /^ {4}shop\/web-15 and 24 more +n3 +nominated +30m\n +DaemonSet/m);
    assert.equal(reportText(report, true).match(/^ +shop\/web-/gm)?.length, 30);
  });

  test('control characters of the cluster are removed', () => {
    const name = 'shop\u001b[2J';
    const namespaces = found([{ name, profile: 'mesh' }]);
    assert.ok(!reportText(status({ namespaces, pods: found([]) })).includes('\u001b'));
  });

  test('of 5,000 nodes stays short, and JSON and --all have all of them', () => {
    const readiness = clusterWith({ n0: {} });
    // n0 has a pod of the DaemonSet; these nodes have none
    for (let at = 1; at < 5000; at++) {
      readiness.setNode(toNodeFacts(apiNode(`n${at}`, `b${at}`, 1)), now);
    }
    const report = status({ readiness: found(readiness) });
    assert.equal(report.rows.filter(({ state }) => state === 'absent').length, 4999);
    assert.ok(reportText(briefOf(report)).split('\n').length < 20);
    assert.ok(reportText(report, true).split('\n').length > 4999);
  });

  test('at most 50 different rows of a check', () => {
    const names = Array.from({ length: 80 }, (_, at) => ({ name: `n${at}`, profile: 'mesh' }));
    const text = reportText(status({ namespaces: found(names) }));
    assert.match(text, /^ {4}and 30 more: --all shows them$/m);
  });
});

test('without --all, a status has only rows that did not pass, counts, and the probe', () => {
  const ids = (facts: Facts): string[] => briefOf(reportOf(facts, 'status')).rows.map(({ check }) => check);
  assert.deepEqual(ids(factsOf()), ['namespaces', 'nodes']);
  const leaderless = factsOf({ installation: { lease: {} } });
  assert.deepEqual(ids(leaderless), ['leader', 'namespaces', 'nodes']);
  const answer = {
    metadata: { name: 'x', annotations: { 'cni-gate.io/status': '{}' } },
    spec: { containers: [] },
  };
  const probe = [{ namespace: 'shop', required: [], needsServer: false, answer }];
  assert.deepEqual(ids(factsOf({ probe })), ['namespaces', 'probe', 'nodes']);
});

test('the picture: a ready network that no pod shows to work is marked, also in groups of nodes', () => {
  const configuration = configured({ profiles, gate: { evidence: 'proof' } });
  const pods = found([provedPod('web', 'passed', { at: now - 1000, startedAt: now - 2000 })]);
  const cells = (count: number) => {
    const nodes = Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at + 1}`, {}]));
    const { grid } = dashboardOf(factsOf({ configuration, pods, readiness: found(clusterWith(nodes)) }));
    return grid.bands.flatMap((band) => band.cells.map((cell) => `${cell.count} ${cell.isUnsure}`));
  };
  assert.deepEqual(cells(2), ['1 false', '1 true']);
  assert.deepEqual(cells(201), ['200 true', '1 false']);
});

test('ages look like those of kubectl', () => {
  const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000];
  const ages: [number, string][] = [
    [-second, '0s'],
    [119 * second, '119s'],
    [10 * minute, '10m'],
    [5 * hour + 10 * minute, '5h'],
    [47 * hour, '47h'],
    [3 * day + 2 * hour, '3d'],
    [800 * day, '2y'],
  ];
  for (const [age, text] of ages) assert.equal(ageText(age), text);
});
