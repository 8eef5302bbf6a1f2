import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { cniGate } from '../../support/command.ts';

let folder: string;
const scripts: Record<string, string> = {};

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'cni-gate-completion-'));
  mkdirSync(join(folder, 'deploy'));
  writeFileSync(join(folder, 'deploy/web.yaml'), '');
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { status, stdout, stderr } = cniGate(['completion', shell]);
    assert.deepEqual([status, stderr], [0, '']);
    scripts[shell] = join(folder, `completion.${shell}`);
    writeFileSync(scripts[shell], stdout);
  }
});
after(() => rmSync(folder, { recursive: true }));

/** Why the tests that need a program do not run; undefined if it is installed. */
const missing = (program: string): string | undefined =>
  spawnSync(program, ['--version']).error === undefined ? undefined : `${program} is not installed`;

/**
 * What a person gets who types each of these lines on a terminal, with a tab where it says so: the arguments with which
 * the shell calls cni-gate.
 */
function typed(shell: 'bash' | 'zsh', lines: readonly string[]): string[] {
  const start =
    shell === 'bash'
      ? 'bash --norc --noprofile -i'
      : // asks nothing about folders of other users
        'zsh -f -i';
  const setup = [
    ...(shell === 'zsh'
      ? ['autoload -U compinit && compinit -u -d compdump']
      : ['bind "set bell-style none"']),
    `source ${scripts[shell]}`,
    `cni-gate() { printf 'called'; printf ' <%s>' "$@"; echo; }`,
  ];
  const { stdout } = spawnSync('script', ['--quiet', '--return', '--command', start, '/dev/null'], {
    cwd: folder,
    input: [...setup, ...lines, 'exit'].map((line) => `${line}\n`).join(''),
    encoding: 'utf8',
    timeout: 60_000,
    env: { PATH: process.env.PATH, HOME: folder, TERM: 'dumb', PS1: '$ ' },
  });
  return [...stdout.matchAll(/^called (.*?)\r?$/gm)].map((match) => match[1] ?? '');
}

const lines: [line: string, called: string][] = [
  ['cni-gate rev\t', '<review>'],
  ['cni-gate certs ro\t', '<certs> <rotate>'],
  ['cni-gate review --assu\t', '<review> <--assume-meshed>'],
  ['cni-gate review --output js\t', '<review> <--output> <json>'],
  ['cni-gate review -o sa\t', '<review> <-o> <sarif>'],
  ['cni-gate review -f dep\tw\t', '<review> <-f> <deploy/web.yaml>'],
  ['cni-gate review -f a dep\tw\t', '<review> <-f> <a> <deploy/web.yaml>'],
  ['cni-gate status --outp\tj\t', '<status> <--output> <json>'],
  ['cni-gate chec\t--outp\ts\t', '<check> <--output> <short>'],
  ['cni-gate completion f\t', '<completion> <fish>'],
];

for (const shell of ['bash', 'zsh'] as const) {
  test(`${shell}: commands, flags, their values and files, on a terminal`, {
    skip: missing(shell) ?? missing('script'),
  }, () => {
    assert.deepEqual(
      typed(
        shell,
        lines.map(([line]) => line),
      ),
      lines.map(([, called]) => called),
    );
  });
}

suite('bash: all that it offers', () => {
  /** The candidates for the last of some words. */
  function offered(...words: string[]): string[] {
    const quoted = words.map((word) => `'${word}'`).join(' ');
    const script = `source ${scripts.bash}\nCOMP_WORDS=(${quoted}) COMP_CWORD=${words.length - 1}\n_cni_gate\nprintf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { cwd: folder, encoding: 'utf8' });
    assert.equal(stderr, '');
    return stdout.split('\n').filter((line) => line !== '');
  }

  test('every command, also below another', () => {
    assert.deepEqual(
      offered('cni-gate', '').filter((word) => !word.startsWith('-')),
      ['validate', 'serve', 'review', 'check', 'status', 'dashboard', 'certs', 'completion'],
    );
    assert.deepEqual(
      offered('cni-gate', 'certs', '').filter((word) => !word.startsWith('-')),
      ['show', 'rotate', 'issue'],
    );
  });

  test('every flag of a command, and none of another', () => {
    const flags = offered('cni-gate', 'review', '-');
    for (const flag of ['-f', '--filename', '--changed-since', '--no-color', '--help'])
      assert.ok(flags.includes(flag));
    assert.ok(!flags.includes('--watch'));
  });

  test('the values of a flag, also after =', () => {
    const forms = ['text', 'json', 'yaml', 'junit', 'sarif', 'github', 'gitlab'];
    assert.deepEqual(offered('cni-gate', 'review', '--output', ''), forms);
    assert.deepEqual(offered('cni-gate', 'review', '--output', '='), forms);
    assert.deepEqual(offered('cni-gate', 'review', '--output', '=', 'j'), ['json', 'junit']);
  });

  test('nothing for text that nobody can guess', () => {
    assert.deepEqual(offered('cni-gate', 'review', '--namespace', ''), []);
  });

  test('a word that is a command elsewhere is none as a value', () => {
    assert.ok(offered('cni-gate', 'review', '-n', 'serve', '--').includes('--changed-since'));
  });
});

test('fish: commands, flags, their values and files', { skip: missing('fish') }, () => {
  const offered = (line: string): string[] => {
    const { stdout, stderr } = spawnSync(
      'fish',
      ['--no-config', '-c', `source ${scripts.fish}; complete -C '${line}'`],
      { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH, HOME: folder } },
    );
    assert.equal(stderr, '');
    return stdout.split('\n').flatMap((one) => (one === '' ? [] : [one.split('\t')[0] ?? '']));
  };
  assert.deepEqual(offered('cni-gate re'), ['review']);
  assert.deepEqual(offered('cni-gate certs ').toSorted(), ['issue', 'rotate', 'show']);
  assert.deepEqual(offered('cni-gate review --assu'), ['--assume-meshed']);
  assert.deepEqual(offered('cni-gate review --output j'), ['json', 'junit']);
  assert.deepEqual(offered('cni-gate review -f deploy/w'), ['deploy/web.yaml']);
  assert.deepEqual(offered('cni-gate completion f'), ['fish']);
});

test('another shell: wrong usage', () => {
  const { status, stderr } = cniGate(['completion', 'tcsh']);
  assert.equal(status, 2);
  assert.match(stderr, /Allowed choices are bash, zsh, fish/);
});
