import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { layTable, wrap } from '../../../webhook/status/table.ts';

const plain = { sentences: 1, emphasis: (text: string) => text };

suite('a text is broken between words', () => {
  const cases: [text: string, lines: string[]][] = [
    ['short', ['short']],
    ['just fits it', ['just fits it']],
    ['one two three four', ['one two', '  three four']],
    ['  indented from the start', ['  indented', '  from the', '  start']],
    ['a-name-that-is-wider stays', ['a-name-that-is-wider', '  stays']],
  ];
  for (const [text, lines] of cases) test(text, () => assert.deepEqual(wrap(text, 12), lines));
});

suite('a table', () => {
  const head = ['NODE', 'STATE', 'WHY'];
  const rows = [
    ['n1', 'broken', 'its pod is not Ready: install-cni (CrashLoopBackOff), and it was never any better'],
    ['n2', 'absent', null],
  ];
  const lay = (width: number): string[] => layTable(head, rows, { ...plain, width });

  test('has one line per row where that fits', () => {
    assert.deepEqual(lay(100), [
      'NODE  STATE   WHY',
      'n1    broken  its pod is not Ready: install-cni (CrashLoopBackOff), and it was never any better',
      'n2    absent  -',
    ]);
  });

  test('breaks its sentence within the column where that is wide', () => {
    assert.deepEqual(lay(70), [
      'NODE  STATE   WHY',
      'n1    broken  its pod is not Ready: install-cni (CrashLoopBackOff),',
      '              and it was never any better',
      'n2    absent  -',
    ]);
  });

  test('has its sentence below the row where the column would be narrow', () => {
    assert.deepEqual(lay(50), [
      'NODE  STATE',
      'n1    broken',
      '    its pod is not Ready: install-cni',
      '      (CrashLoopBackOff), and it was never any',
      '      better',
      'n2    absent',
    ]);
  });

  test('has one line per row where its names alone do not fit, and cuts nothing', () => {
    const wide = [['ip-10-0-12-34.eu-central-1.compute.internal', 'shop/web-7d4b9c-x2x7k', 'ready', 'yes']];
    assert.deepEqual(layTable(['NODE', 'POD', 'STATE', 'WHY'], wide, { ...plain, width: 50 }), [
      'NODE                                         POD                    STATE',
      'ip-10-0-12-34.eu-central-1.compute.internal  shop/web-7d4b9c-x2x7k  ready',
      '    yes',
    ]);
  });

  test('labels its sentences where there are several, and omits empty ones', () => {
    const two = [
      ['shop/web', 'the network is not ready there', 'no other node is ready for linkerd'],
      ['shop/db', 'the network is not ready there', null],
    ];
    assert.deepEqual(layTable(['POD', 'WHY', 'NOT SENT'], two, { ...plain, sentences: 2, width: 60 }), [
      'POD',
      'shop/web',
      '    why: the network is not ready there',
      '    not sent: no other node is ready for linkerd',
      'shop/db',
      '    why: the network is not ready there',
    ]);
  });

  test('marks cells without moving columns', () => {
    const emphasis = (text: string, column: string): string => (column === 'STATE' ? `<${text}>` : text);
    assert.deepEqual(layTable(head, [['n1', 'ok', 'x']], { width: 100, sentences: 1, emphasis }), [
      'NODE  <STATE>  WHY',
      'n1    <ok>     x',
    ]);
  });
});
