import assert from 'node:assert/strict';
import { env } from '../../validator/shared/contract.ts';
import { FixedNamespaces } from '../../webhook/core/facts/namespace.ts';
import type { Container, Pod } from '../../webhook/core/facts/pod.ts';
import { podInfoVolume, profileLabel, statusAnnotation } from '../../webhook/lib/names.ts';
import { answerTo, copyOf, patched } from './answers.ts';
import { policyOf } from './configurations.ts';

/* Changes that another webhook, or the author of a pod, may make to an injected pod. */

type Validator = Container & Record<string, unknown>;

export type Change = (pod: Pod, validator: Validator) => unknown;

const profiles = [
  { name: 'seen', proof: { witness: 'kubelet' } },
  { name: 'watched', proof: { witness: 'kubelet', continuous: { interval: '2m' } } },
  { name: 'logged', proof: { witness: 'kubelet', continuous: { onFailure: 'log', policy: true } } },
];

export const contextFor = (profile: string, proof: object = {}, more: object[] = []) => ({
  policy: policyOf({ profiles: [...profiles, ...more], proof }),
  namespaces: new FixedNamespaces(
    new Map([['shop', { 'kubernetes.io/metadata.name': 'shop', [profileLabel]: profile }]]),
  ),
});

/** A pod that requests a network, after the proof of a profile was injected. @param more further profiles */
export function injected(profile: string, proof: object = {}, more: object[] = []): Pod {
  const bare: Pod & { apiVersion: string; kind: string } = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', annotations: { 'k8s.v1.cni.cncf.io/networks': 'storage' } },
    spec: {
      initContainers: [{ name: 'migrate', image: 'example/web' }],
      containers: [{ name: 'web', image: 'example/web' }],
    },
  };
  return patched(bare, answerTo(bare, contextFor(profile, proof, more)).patch);
}

/** A copy of a pod with a change. The copy has two additional volumes, which changes can mount. */
export function changed(from: Pod, change: Change): Pod {
  const copy = copyOf(from);
  copy.spec.volumes = [
    ...(copy.spec.volumes ?? []),
    { name: 'x', emptyDir: {} },
    { name: 'disk', persistentVolumeClaim: { claimName: 'x' } },
  ];
  const [validator] = copy.spec.initContainers ?? [];
  assert.ok(validator);
  change(copy, validator);
  return copy;
}

const status = (change: (text: string) => string): Change => {
  return ({ metadata: { annotations } }) => {
    assert.ok(annotations);
    annotations[statusAnnotation] = change(annotations[statusAnnotation] ?? '');
  };
};

/** Replaces the status annotation's text from the field `profiles` to the end. */
const endOfStatus = (text: string): Change => status((old) => old.replace(/"profiles":.*/, `${text}}`));

const checks = (change: (text: string) => string): Change => variableChange(env.checks, change);

const variableChange = (of: string, change: (text: string) => string): Change => {
  return (_, { env: variables }) => {
    const variable = variables?.find(({ name }) => name === of);
    assert.ok(variable?.value);
    const value = change(variable.value);
    assert.notEqual(value, variable.value);
    variable.value = value;
  };
};

const sets = (fields: object): Change => {
  return (_, validator) => Object.assign(validator, fields);
};

const rights = (fields: object): Change => {
  return (_, validator) => Object.assign(validator.securityContext ?? {}, fields);
};

const adds = (name: string, value = 'x'): Change => {
  return (_, { env: variables }) => variables?.push({ name, value });
};

/** Makes a variable take its value from another field of the pod. */
const takesFrom = (name: string, fieldPath: string): Change => {
  return (_, { env: variables }) =>
    Object.assign(variables?.find((variable) => variable.name === name) ?? {}, {
      valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } },
    });
};

const mounts = (mountPath: string, more: object = {}): Change => {
  return (_, it) => {
    it.volumeMounts = [...(it.volumeMounts ?? []), { name: 'x', mountPath, ...more }];
  };
};

/** Replaces image and command of the init container, as a profile with `proof.container` does. */
function ownValidator(image: string): Change {
  return (own, it) => {
    status((text) => text.replace(/"checks":.*/, '"checks":["container"]}'))(own, it);
    it.volumeMounts = [];
    delete it.args;
    const terminationMessagePolicy = 'FallbackToLogsOnError';
    Object.assign(it, {
      image,
      terminationMessagePolicy,
      command: ['check'],
      env: [{ name: env.checks, value: '[]' }],
    });
  };
}

const volume = (more: object): Change => {
  return ({ spec: { volumes } }) =>
    Object.assign(volumes?.find(({ name }) => name === podInfoVolume) ?? {}, more);
};

const otherImage = (change: (image: string) => string): Change => {
  return (_, it) => Object.assign(it, { image: change(it.image ?? '') });
};

/** Variables that change what the container runs or proves. */
const variables = [
  ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_V8_COVERAGE', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT'],
  ...['LD_BIND_NOW', 'GLIBC_TUNABLES', 'GCONV_PATH', 'OPENSSL_CONF', 'OPENSSL_MODULES', 'CNI_GATE_OTHER'],
  ...[env.podIPs, env.networks, env.podNamespace, env.networkStatusFile],
];

/** Paths where a volume could replace the program or its inputs, also in unusual spellings. */
const paths = [
  ...['/', '/app', '/app/', '/app/dist', '//app', '/./app', '/x/../app', '/x/..', '/app/.'],
  ...['app', '/usr/lib'],
  ...['/run/cni-gate/', '/run/cni-gate/network-status', '/run', '/sys', '/sys/class/net'],
  ...['/dev', '/proc/net', '/etc/ssl', '/var/run/secrets/../../../sys', '/var/run/secrets'],
];

type Refused = readonly [what: string, change: Change, message: RegExp];

const because = (message: RegExp, changes: Record<string, Change>): Refused[] =>
  Object.entries(changes).map(([what, change]) => [what, change, message]);

const without = (key: string): Change => {
  return (_, it) => Reflect.deleteProperty(it, key);
};

const [otherWay, otherVariables] = [/started in another way/, /has other variables/];

/** Changes that the policy refuses with these messages. A later call of the webhook undoes the changes. */
export const refused: readonly Refused[] = [
  ...because(/has no annotation cni-gate\.io\/status/, {
    'the annotation is gone': ({ metadata }) =>
      Reflect.deleteProperty(metadata.annotations ?? {}, statusAnnotation),
  }),
  ...because(/is not as cni-gate writes it/, {
    'the annotation is not JSON': status(() => 'yes'),
    'the annotation continues after the checks': status((text) => text.replace(/}$/, ',"a":1}')),
    'the annotation also has empty checks': status((text) => text.replace(/}$/, ',"checks":[]}')),
    'a text that ends in empty checks': status(() => 'x"checks":[]}'),
    'the annotation has another profile than the label': endOfStatus(
      '"profiles":["aws-vpc-cni"],"checks":["address","gateway","roundTrip","interfaces"]',
    ),
    'the label is gone': ({ metadata }) => Reflect.deleteProperty(metadata.labels ?? {}, profileLabel),
  }),
  ...because(/names no checks/, { 'no checks are named': endOfStatus('"profiles":[],"checks":[]') }),
  ...because(/is "migrate", not/, {
    'the init container is gone': ({ spec }) => spec.initContainers?.shift(),
    'another init container is before it': ({ spec }) => spec.initContainers?.reverse(),
  }),
  ...because(/is missing, not/, {
    'all init containers are gone': ({ spec }) => delete spec.initContainers,
  }),
  ...because(/has the image "example\/true"/, { 'another image': otherImage(() => 'example/true') }),
  ...because(/has the image/, {
    'an image with a similar name': otherImage((image) => image.replace('-validator:', '-validator-2:')),
    "the server's image": otherImage((image) => image.replace('-validator:', ':')),
    'a registry with a port': otherImage(() => 'ghcr.io:5000/cni-gate/cni-gate-validator:1'),
  }),
  ...because(otherWay, {
    'another command': sets({ command: ['true'] }),
    'other arguments': sets({ args: ['--version'] }),
    'no arguments': without('args'),
    'another folder': sets({ workingDir: '/tmp' }),
    'it becomes a sidecar': sets({ restartPolicy: 'Always' }),
    'variables from elsewhere': sets({ envFrom: [{ secretRef: { name: 'x' } }] }),
    'a port of the node': sets({ ports: [{ containerPort: 80, hostPort: 80 }] }),
    'a disk of the node': sets({ volumeDevices: [{ name: 'disk', devicePath: '/dev/disk' }] }),
    'another file for its message': sets({ terminationMessagePath: '/tmp/x' }),
    'its log as its message': sets({ terminationMessagePolicy: 'FallbackToLogsOnError' }),
  }),
  ...because(/has other checks/, {
    'no checks': (_, { env: all }) => all?.splice(0, 1),
    'fewer checks': checks(() => '[{"profile":"cilium","address":{"timeout":"10s"}}]'),
    'an empty list of checks': checks(() => '[]'),
    'checks given twice': adds(env.checks),
    'a check that the annotation does not name': checks((text) =>
      text.replace(']', ',{"profile":"cilium","reach":{"host":"a","port":1,"timeout":"10s"}}]'),
    ),
    'checks of a profile that does not exist': checks((text) => text.replaceAll('cilium', 'nope')),
    'checks as nested keys': checks((text) => `[{"profile":"cilium","x":{"timeout":"10s","of":${text}}}]`),
    'checks in a text': checks(
      (text) => `[{"profile":"cilium","address":{"timeout":"10s","x":${JSON.stringify(text)}}}]`,
    ),
    'a time-out of 1 ms': checks((text) => text.replace('10s', '1ms')),
    'no time-out': checks((text) => text.replace('"timeout":"10s"', '')),
  }),
  ...because(otherVariables, {
    'a mode that the annotation does not record': adds(env.mode, 'warn'),
    'addresses of another field': takesFrom(env.podIPs, 'status.hostIPs'),
    'addresses of the node from another field': takesFrom(env.nodeIPs, 'status.podIPs'),
    'networks of another annotation': takesFrom(env.networks, "metadata.annotations['x']"),
    'one of its own variables is missing': (_, { env: all }) => all?.splice(1, 1),
    ...Object.fromEntries(variables.map((name) => [`variable ${name}`, adds(name)])),
  }),
  ...because(/has other volumes/, {
    ...Object.fromEntries(paths.map((path) => [`a volume at ${path}`, mounts(path)])),
    'its volume is not mounted': sets({ volumeMounts: [] }),
    'its volume is another': (_, { volumeMounts }) => Object.assign(volumeMounts?.[0] ?? {}, { name: 'x' }),
    'its volume has another file': volume({ downwardAPI: { items: [], defaultMode: 420 } }),
  }),
  ...because(/has more rights/, {
    'no seccomp profile': rights({ seccompProfile: { type: 'Unconfined' } }),
    root: rights({ runAsNonRoot: false, runAsUser: 0 }),
    'a writable root file system': rights({ readOnlyRootFilesystem: false }),
    privileges: rights({ privileged: true, allowPrivilegeEscalation: true }),
    'privilege escalation is allowed': rights({ allowPrivilegeEscalation: true }),
    'a capability': rights({ capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } }),
    'no capability dropped': rights({ capabilities: null }),
    'a mask of /proc is removed': (pod, it) => {
      Object.assign(pod.spec, { hostUsers: false });
      rights({ procMount: 'Unmasked' })(pod, it);
    },
    'no AppArmor profile': rights({ appArmorProfile: { type: 'Unconfined' } }),
    'a privileged SELinux type': rights({ seLinuxOptions: { type: 'spc_t' } }),
    'no security context': without('securityContext'),
  }),
  ...because(/no other container of this pod has/, {
    "an image of its own that is not in the list, as a network's own validator": ownValidator('example/true'),
  }),
];

const probe = (fields: object): Change => {
  return (_, it) => Object.assign(it, { startupProbe: { ...(it.startupProbe as object), ...fields } });
};

/** Changes that the policy refuses in a pod whose witness is the kubelet. */
export const refusedWithWitness: readonly Refused[] = [
  ...because(otherWay, {
    'it is no longer a sidecar': (_, it) =>
      ['restartPolicy', 'startupProbe'].map((key) => Reflect.deleteProperty(it, key)),
    'a readiness probe': sets({ readinessProbe: { tcpSocket: { port: 80 } } }),
  }),
  ...because(/has another probe/, {
    'no probe': without('startupProbe'),
    'a probe of another port': probe({ tcpSocket: { port: 15_006 } }),
    'a probe of another host': probe({ tcpSocket: { port: 14_040, host: '127.0.0.1' } }),
    "a probe by Istio's agent": probe({ tcpSocket: null, httpGet: { port: 15_020 } }),
    'a probe that runs a command': probe({ tcpSocket: null, exec: { command: ['true'] } }),
    'a probe that ends before the checks': probe({ failureThreshold: 1 }),
    'a probe once an hour': probe({ periodSeconds: 3600 }),
  }),
  ...because(otherVariables, {
    rechecks: (_, it) =>
      it.env?.splice(1, 0, { name: env.continuous, value: '{"interval":"60s","failures":3}' }),
  }),
];

const settings = (change: (text: string) => string): Change => variableChange(env.continuous, change);

const readiness = (fields: object): Change => {
  return (_, it) => Object.assign(it, { readinessProbe: { ...(it.readinessProbe as object), ...fields } });
};

/** Changes that the policy refuses in a pod with rechecks. */
export const refusedWithRechecks: readonly Refused[] = [
  ...because(/has another readiness probe or interval/, {
    'no readiness probe': without('readinessProbe'),
    'readiness at another port': readiness({ tcpSocket: { port: 14_040 } }),
    'readiness at a port with more digits': readiness({ tcpSocket: { port: 1404 } }),
    'readiness of another host': readiness({ tcpSocket: { port: 14_041, host: '127.0.0.1' } }),
    "readiness by Istio's agent": readiness({ tcpSocket: null, httpGet: { port: 15_020, scheme: 'HTTP' } }),
    'readiness with a delay': readiness({ initialDelaySeconds: 60 }),
    'readiness once an hour': readiness({ periodSeconds: 3600 }),
    'readiness that waits longer': readiness({ timeoutSeconds: 2 }),
    'readiness only after a second success': readiness({ successThreshold: 2 }),
    'unready only after a fourth failure': readiness({ failureThreshold: 4 }),
    'another interval': settings((text) => text.replace('2m', '1m')),
    'a setting that rechecks do not have': settings((text) => text.replace('}', ',"x":1}')),
    'two ports': settings((text) => text.replace('41,', '41,"port":1,')),
    'settings given twice': settings((text) => `${text}${text}`),
    'a second variable': adds(env.continuous),
    'settings without a port': settings((text) => text.replace('"port":14041,', '')),
    'no settings': (_, it) =>
      Object.assign(it, { env: it.env?.filter(({ name }) => name !== env.continuous) }),
    'rechecks without a witness': (pod, it) => {
      status((text) => text.replace('"witness",', ''))(pod, it);
      checks((text) => text.replace(/,[{]"profile":"watched".*/, ']'))(pod, it);
      settings((text) => text.replace('"port":14041,', ''))(pod, it);
      for (const key of ['restartPolicy', 'startupProbe', 'readinessProbe']) Reflect.deleteProperty(it, key);
    },
  }),
  ...because(otherVariables, {
    'settings after the addresses': (_, { env: all }) => all?.push(...all.splice(1, 1)),
  }),
  ...because(otherWay, {
    'rechecks that the annotation does not name': status((text) => text.replace(',"continuous"', '')),
  }),
];

/** Changes that the policy accepts. `restored` is set if a later call of the webhook undoes the change. */
export const taken: readonly [what: string, change: Change, restored?: 'restored'][] = [
  ['nothing changed', () => {}],
  ...[
    '/var/run/secrets/eks.amazonaws.com/serviceaccount',
    '/var/run/secrets/x/',
    '/var/run/secrets/..data/.x',
  ].map((path): [string, Change] => [`a mount at ${path}`, mounts(path)]),
  ...['HTTP_PROXY', 'NODE_NAME', 'NODE_ENV', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'AWS_ROLE_ARN'].map(
    (name): [string, Change] => [`variable ${name}`, adds(name)],
  ),
  ['an image that is always pulled', sets({ imagePullPolicy: 'Always' })],
  ['a user id', rights({ runAsUser: 1000 })],
  ['labels of SELinux, as OpenShift gives them', rights({ seLinuxOptions: { level: 's0:c1,c2' } })],
  ['an AppArmor profile', rights({ appArmorProfile: { type: 'RuntimeDefault' } })],
  ['no privileges, explicitly', rights({ privileged: false })],
  ['an init container after it', ({ spec }) => spec.initContainers?.push({ name: 'last', image: 'x' })],
  ['another release', otherImage(() => 'ghcr.io/cni-gate/cni-gate-validator:0.0.1'), 'restored'],
  ['a digest', otherImage((image) => `${image}@sha256:${'0'.repeat(64)}`), 'restored'],
  [
    'a capability dropped by name as well',
    rights({ capabilities: { drop: ['NET_RAW', 'ALL'] } }),
    'restored',
  ],
  ["a network's own validator, in an image of the pod", ownValidator('example/web'), 'restored'],
  [
    "a network's own validator, in an image that is named",
    ownValidator('mirror.example:5000/check:2'),
    'restored',
  ],
];
