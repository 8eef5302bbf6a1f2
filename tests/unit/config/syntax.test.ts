import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { refusal } from '../../support/configurations.ts';

suite('a configuration that is not YAML', () => {
  test('a syntax error has its position', () => {
    assert.equal(
      refusal('proof: {mode: warn\n'),
      'CNI_GATE_CONFIG_SYNTAX\ncni-gate.yaml:4:1: not YAML: Flow map in block collection must be sufficiently indented and end with a }',
    );
    assert.match(
      refusal('proof:\n\tmode: warn\n'),
      /^CNI_GATE_CONFIG_SYNTAX\ncni-gate\.yaml:4:1: not YAML: a tab is not allowed here/,
    );
    assert.match(
      refusal('kind: Twice\n'),
      /^CNI_GATE_CONFIG_SYNTAX\ncni-gate\.yaml:3:1: not YAML: Map keys must be unique/,
    );
  });

  test('a small text with aliases that expand too much is refused', () => {
    const levels = Array.from({ length: 12 }, (_, index) => {
      const inner = index === 0 ? 'x' : `*l${index - 1}`;
      return `l${index}: &l${index} [${`${inner}, `.repeat(10)}]`;
    });
    assert.match(
      refusal(levels.join('\n')),
      /^CNI_GATE_CONFIG_SYNTAX\ncni-gate\.yaml:1:1: not YAML: Excessive alias count/,
    );
  });
});
