import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { canonical, nanos } from '../../support/kubernetes/quantity.ts';

suite('quantities of Kubernetes', () => {
  test('are read exactly, and rounded up to billionths', () => {
    const cases: [string | number, bigint][] = [
      ['1', 1_000_000_000n],
      [0.5, 500_000_000n],
      ['.5', 500_000_000n],
      ['5.', 5_000_000_000n],
      ['100m', 100_000_000n],
      ['1e3', 1_000_000_000_000n],
      ['1E', 10n ** 27n],
      ['1Ki', 1_024_000_000_000n],
      ['1.1Gi', 1_181_116_006_400_000_000n],
      ['0.1n', 1n],
      ['-2k', -2_000_000_000_000n],
    ];
    for (const [text, expected] of cases) assert.equal(nanos(text), expected, String(text));
    for (const text of ['', 'x', '1 Gi', '1gi', '1KiB', '1e', '--1', '1.2.3', '1mi'])
      assert.equal(nanos(text), undefined, text);
  });

  test('are written as the API server writes them', () => {
    const cases: [string | number, string][] = [
      ['1000m', '1'],
      ['0.5', '500m'],
      ['1500', '1500'],
      ['2000', '2k'],
      ['1024Mi', '1Gi'],
      ['1536Mi', '1536Mi'],
      ['0.5Gi', '512Mi'],
      ['1.1Gi', '1181116006400m'],
      ['100u', '1m'],
      ['0m', '0'],
      [1_000_000_000, '1G'],
      ['nonsense', 'nonsense'],
    ];
    for (const [text, expected] of cases) assert.equal(canonical(text), expected, String(text));
  });
});
