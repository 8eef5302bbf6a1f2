import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { invalid, refusal } from '../../support/configurations.ts';

suite('a wrong profile is refused with its file, line, path and what is allowed', () => {
  test('a check with no name, two names or an unknown one', () => {
    const words = 'exactly one of redirect, captured, interfaces, address, gateway, reach';
    const check = (text: string): string =>
      refusal(`profiles:\n  - name: a\n    proof: {checks: [${text}]}\n`);
    const at = 'cni-gate.yaml:5: profiles[0].proof.checks[0]';
    assert.equal(check('{}'), invalid(`${at}: must be ${words}, has nothing`));
    assert.equal(
      check('{address: {}, gateway: {}}'),
      invalid(`${at}: must be ${words}, has address, gateway`),
    );
    assert.equal(
      check('{ping: {}}'),
      invalid(
        `${at}.ping: unknown field; allowed here: redirect, captured, interfaces, address, gateway, reach`,
      ),
    );
    assert.equal(check('{reach: {host: db}}'), invalid(`${at}.reach: "port" is missing`));
    assert.equal(
      check('{redirect: {listen: 70000, connect: [localhost:80], asUser: 0}}'),
      invalid(
        `${at}.redirect.listen: must be <= 65535, is 70000`,
        `${at}.redirect.connect[0]: "localhost:80" is not allowed (an IPv4 address and port such as 192.0.2.2:1404, or an IPv6 one such as [2001:db8::2]:1404)`,
        `${at}.redirect.asUser: must be >= 1, is 0 (never 0, which is root; or where the pod shows it: {annotation, containers, default})`,
      ),
    );
    assert.equal(
      check(
        '{redirect: {listen: 1, connect: ["192.0.2.999:1", "[::g]:1", "[::1]:99999"], asUser: 2147483648}}',
      ),
      invalid(
        `${at}.redirect.connect[1]: "[::g]:1" is not allowed (an IPv4 address and port such as 192.0.2.2:1404, or an IPv6 one such as [2001:db8::2]:1404)`,
        `${at}.redirect.asUser: must be <= 2147483647, is 2147483648 (never 0, which is root; or where the pod shows it: {annotation, containers, default})`,
      ),
    );
    assert.equal(
      check('{redirect: {listen: 1, connect: ["192.0.2.999:1", "[::1]:99999"]}}'),
      invalid(
        `${at}.redirect.connect[0]: "192.0.2.999:1" is no address and port`,
        `${at}.redirect.connect[1]: "[::1]:99999" is no address and port`,
      ),
    );
  });

  test('a target that is reachable without the rule', () => {
    const at = 'cni-gate.yaml:5: profiles[0].proof.checks[0]';
    const check = (text: string): string =>
      refusal(`profiles:\n  - name: a\n    proof: {checks: [${text}]}\n`);
    const listened = 'has a port that is listened on: it may be reached without the rule';
    const stays = 'never leaves the pod: an outbound rule has nothing to do with it';
    assert.equal(
      check('{redirect: {listen: 4140, connect: ["192.0.2.2:4140", "127.9.0.1:80", "192.0.2.2:1404"]}}'),
      invalid(
        `${at}.redirect.connect[0]: "192.0.2.2:4140" ${listened}`,
        `${at}.redirect.connect[1]: "127.9.0.1:80" ${stays}`,
      ),
    );
    assert.equal(
      check(
        '{redirect: {listen: 4140, connect: ["0.0.0.0:80", "[::]:80", "[::1]:80", "[::ffff:127.0.0.1]:80"]}}',
      ),
      invalid(
        ...['0.0.0.0:80', '[::]:80', '[::1]:80', '[::ffff:127.0.0.1]:80'].map(
          (target, place) => `${at}.redirect.connect[${place}]: "${target}" ${stays}`,
        ),
      ),
    );
    assert.equal(
      check(
        '{redirect: {direction: inbound, listen: 15006, connect: ["127.0.0.6:15006", "127.0.0.6:15002"]}}',
      ),
      invalid(`${at}.redirect.connect[0]: "127.0.0.6:15006" ${listened}`),
    );
    assert.equal(
      check(
        '{captured: {listeners: [15008], outbound: 15001, connect: ["192.0.2.2:15008", "192.0.2.2:15001", "127.0.0.1:1"]}}',
      ),
      invalid(
        `${at}.captured.connect[0]: "192.0.2.2:15008" ${listened}`,
        `${at}.captured.connect[1]: "192.0.2.2:15001" ${listened}`,
        `${at}.captured.connect[2]: "127.0.0.1:1" ${stays}`,
      ),
    );
    assert.equal(
      check('{captured: {listeners: [15008], connect: ["192.0.2.2:1404"]}}'),
      invalid(`${at}.captured: "outbound" is missing`),
    );
  });

  test('annotations that a profile must not set, and unreadable lists of networks', () => {
    const set = (key: string, value: string): string =>
      refusal(`profiles:\n  - name: a\n    annotations:\n      ${key}: ${value}\n`);
    const at = (key: string): string => `cni-gate.yaml:6: profiles[0].annotations["${key}"]`;
    const owned: [string, string][] = [
      ['k8s.v1.cni.cncf.io/network-status', 'Multus writes it when it creates the sandbox'],
      ['k8s.v1.cni.cncf.io/networks-status', 'Multus writes it when it creates the sandbox'],
      ['vpc.amazonaws.com/pod-eni', "it is written by AWS's VPC resource controller"],
      ['ambient.istio.io/redirection', "it is written by Istio's node agent"],
      ['sidecar.istio.io/status', "it is written by Istio's injector"],
      ['kubernetes.io/config.mirror', 'the kubelet writes it on static pods'],
      ['cni-gate.io/status', 'cni-gate writes it itself'],
    ];
    for (const [key, reason] of owned) {
      assert.equal(set(key, 'x'), invalid(`${at(key)}: must not be set: ${reason}`));
    }
    const networks = 'k8s.v1.cni.cncf.io/networks';
    assert.equal(
      set(networks, "'[{'"),
      invalid(`${at(networks)}: is neither a comma-separated list nor a JSON list of networks`),
    );
    assert.equal(
      set('a/b/c', 'x'),
      invalid(
        `${at('a/b/c')}: is not a label or annotation key: at most 63 characters, after an optional DNS prefix and a slash`,
      ),
    );
    assert.equal(
      set('plain', '7'),
      invalid('cni-gate.yaml:6: profiles[0].annotations.plain: must be string, is 7'),
    );
  });

  test('ids and families without a source, or with two', () => {
    const at = 'cni-gate.yaml:5: profiles[0].proof';
    const proof = (text: string): string => refusal(`profiles:\n  - name: a\n    proof: {${text}}\n`);
    const redirect = (rest: string): string =>
      proof(`checks: [{redirect: {listen: 1, connect: ["192.0.2.2:2"], ${rest}}}]`);
    const id = 'never 0, which is root; or where the pod shows it: {annotation, containers, default}';
    assert.equal(
      redirect('asUser: {containers: [mesh-proxy]}'),
      invalid(`${at}.checks[0].redirect.asUser: "default" is missing`),
    );
    assert.equal(
      redirect('notAsUser: {}, notAsGroup: {container: a, default: 0}'),
      invalid(
        `${at}.checks[0].redirect.notAsUser: must be ${id}, has nothing`,
        `${at}.checks[0].redirect.notAsGroup.container: unknown field; allowed here: annotation, containers, default`,
        `${at}.checks[0].redirect.notAsGroup.default: must be >= 1, is 0 (never 0, which is root)`,
      ),
    );
    assert.equal(redirect('asUser: {containers: [a], default: 5}, notAsUser: {annotation: a/b}'), 'accepted');
    const families =
      'a container and one of env (a variable with the addresses that the proxy listens on, address:port separated by commas) and dualStackEnv (a variable that is true if the mesh serves both families)';
    assert.equal(
      proof('families: {container: a, env: A, dualStackEnv: B}'),
      invalid(`${at}.families: must be ${families}, has container, env, dualStackEnv`),
    );
    assert.equal(
      proof('families: {container: a}'),
      invalid(`${at}.families: must be ${families}, has container`),
    );
  });

  test('args and env without a container', () => {
    const text = 'needs container: it applies to the container of that name';
    assert.equal(
      refusal(
        'profiles:\n  - name: a\n    when:\n      - {container: a, args: [b]}\n      - {args: [b], env: {A: b}}\n',
      ),
      invalid(
        `cni-gate.yaml:7: profiles[0].when[1].args: ${text}`,
        `cni-gate.yaml:7: profiles[0].when[1].env: ${text}`,
      ),
    );
  });

  test('a profile whose own checks conflict', () => {
    const redirect = (rest: string): string => `{redirect: {listen: 1, connect: ["192.0.2.2:2"], ${rest}}}`;
    assert.equal(
      refusal(
        `profiles:\n  - name: a\n    proof: {checks: [${redirect('asUser: 5')}, ${redirect('notAsUser: 5')}]}\n`,
      ),
      invalid(
        'cni-gate.yaml:4: profiles[0]: user 5 of profile "a" is required by asUser and excluded by notAsUser of profile "a"',
        'cni-gate.yaml:4: profiles[0]: two redirect checks bind port 1 (profile "a")',
      ),
    );
    assert.equal(
      refusal(
        'profiles:\n  - name: a\n    when: {annotations: {x: {exists: false}}}\n    annotations: {x: z}\n',
      ),
      invalid(
        'cni-gate.yaml:4: profiles[0]: profile "a" excludes pods with the annotation x, which profile "a" sets',
      ),
    );
  });

  test('a condition on what the injection itself sets', () => {
    const at = 'cni-gate.yaml:5: profiles[0]';
    const text = 'is not allowed: cni-gate sets it itself';
    assert.equal(
      refusal('profiles:\n  - name: a\n    when: {labels: {cni-gate.io/profile: a}}\n'),
      invalid(`${at}.when.labels["cni-gate.io/profile"]: ${text}`),
    );
    assert.equal(
      refusal('profiles:\n  - name: a\n    when: [{annotations: {cni-gate.io/status: {exists: false}}}]\n'),
      invalid(`${at}.when[0].annotations["cni-gate.io/status"]: ${text}`),
    );
  });

  test("a network's own validator beside checks, without an image, with two, or of a container that may be absent", () => {
    const profile = (proof: string, when = ''): string =>
      refusal(`profiles:\n  - name: a\n    proof: {${proof}}\n    ${when}\n`);
    const at = 'cni-gate.yaml:5: profiles[0].proof.container';
    assert.equal(
      profile('checks: [{address: {}}], container: {image: a}'),
      invalid(`${at}: replaces the validator that proof.checks needs: set one of the two`),
    );
    assert.equal(profile('container: {args: [a]}'), invalid(`${at}: needs either image or imageOf`));
    assert.equal(
      profile('container: {image: a, imageOf: proxy}', 'when: {container: proxy}'),
      invalid(`${at}: needs either image or imageOf`),
    );
    const asked = `${at}.imageOf: "proxy" must be required by each condition of when (container: proxy), because its image is used`;
    assert.equal(profile('container: {imageOf: proxy}'), invalid(asked));
    assert.equal(
      profile('container: {imageOf: proxy}', 'when: [{container: proxy}, {labels: {a: b}}]'),
      invalid(asked),
    );
    assert.equal(
      profile('container: {image: "", asUser: 0, env: []}'),
      invalid(
        `${at}.env: unknown field; allowed here: image, imageOf, command, args, asUser, notAsUser, notAsGroup`,
        `${at}.image: must NOT have fewer than 1 characters, is "" (Its image. Use this or imageOf.)`,
        `${at}.asUser: must be >= 1, is 0 (never 0, which is root; or where the pod shows it: {annotation, containers, default})`,
      ),
    );
  });
});
