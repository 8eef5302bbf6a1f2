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

/** Replaces the end of the status annotation, from its profiles on. */
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

/** Lets a variable take its value from a different field of the pod. */
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

const [notAsWritten, lacksChecks, otherWay] = [
  /is not as cni-gate writes it/,
  /has other checks/,
  /started in another way/,
];
const [otherVariables, otherVolumes, moreRights] = [
  /has other variables/,
  /has other volumes/,
  /has more rights/,
];

const noLoader = [
  ...['NODE_OPTIONS', 'NODE_PATH', 'NODE_V8_COVERAGE', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'LD_AUDIT'],
  ...['LD_BIND_NOW', 'GLIBC_TUNABLES', 'GCONV_PATH', 'OPENSSL_CONF', 'OPENSSL_MODULES'],
];

/** Paths where a volume could replace the program or its inputs, also in unusual spellings. */
const paths = [
  ...['/', '/app', '/app/', '/app/dist', '//app', '/./app', '/x/../app', '/x/..', '/app/.'],
  ...['app', '/usr/lib'],
  ...['/run/cni-gate/', '/run/cni-gate/network-status', '/run', '/sys', '/sys/class/net'],
  ...['/dev', '/proc/net', '/etc/ssl', '/var/run/secrets/../../../sys', '/var/run/secrets'],
];

/** Changes that the policy refuses with these messages. A later call of the webhook undoes the changes. */
export const refused: readonly [what: string, change: Change, message: RegExp][] = [
  [
    'the annotation is gone',
    ({ metadata }) => Reflect.deleteProperty(metadata.annotations ?? {}, statusAnnotation),
    /has no annotation cni-gate\.io\/status/,
  ],
  ['the annotation is no JSON', status(() => 'yes'), notAsWritten],
  ['the annotation goes on after the checks', status((text) => text.replace(/}$/, ',"a":1}')), notAsWritten],
  [
    'the annotation ends as without checks',
    status((text) => text.replace(/}$/, ',"checks":[]}')),
    notAsWritten,
  ],
  ['text that ends as without checks', status(() => 'x"checks":[]}'), notAsWritten],
  ['no checks are named', endOfStatus('"profiles":[],"checks":[]'), /names no checks/],
  [
    'a profile of the annotation is not that of the label',
    endOfStatus('"profiles":["aws-vpc-cni"],"checks":["address","gateway","roundTrip","interfaces"]'),
    notAsWritten,
  ],
  [
    'the label is gone',
    ({ metadata }) => Reflect.deleteProperty(metadata.labels ?? {}, profileLabel),
    notAsWritten,
  ],
  ['the init container is gone', ({ spec }) => spec.initContainers?.shift(), /is "migrate", not/],
  ['all init containers are gone', ({ spec }) => delete spec.initContainers, /is missing, not/],
  ['another stands before it', ({ spec }) => spec.initContainers?.reverse(), /is "migrate", not/],
  ['another image', otherImage(() => 'example/true'), /has the image "example\/true"/],
  [
    'an image of a like name',
    otherImage((image) => image.replace('-validator:', '-validator-2:')),
    /has the image/,
  ],
  ["the server's image", otherImage((image) => image.replace('-validator:', ':')), /has the image/],
  ['a registry with a port', otherImage(() => 'ghcr.io:5000/cni-gate/cni-gate-validator:1'), /has the image/],
  ['another command', sets({ command: ['true'] }), otherWay],
  ['other arguments', sets({ args: ['--version'] }), otherWay],
  ['no arguments', (_, it) => Reflect.deleteProperty(it, 'args'), otherWay],
  ['another folder', sets({ workingDir: '/tmp' }), otherWay],
  ['a sidecar of it', sets({ restartPolicy: 'Always' }), otherWay],
  ['variables from elsewhere', sets({ envFrom: [{ secretRef: { name: 'x' } }] }), otherWay],
  ['a port of the node', sets({ ports: [{ containerPort: 80, hostPort: 80 }] }), otherWay],
  ['a disk of the node', sets({ volumeDevices: [{ name: 'disk', devicePath: '/dev/disk' }] }), otherWay],
  ['another file for its message', sets({ terminationMessagePath: '/tmp/x' }), otherWay],
  ['its log as its message', sets({ terminationMessagePolicy: 'FallbackToLogsOnError' }), otherWay],
  ['no checks', (_, { env: all }) => all?.splice(0, 1), lacksChecks],
  ['fewer checks', checks(() => '[{"profile":"cilium","address":{"timeout":"10s"}}]'), lacksChecks],
  ['an empty list of checks', checks(() => '[]'), lacksChecks],
  ['checks given twice', adds(env.checks), lacksChecks],
  [
    'a check that the annotation does not name',
    checks((text) =>
      text.replace(']', ',{"profile":"cilium","reach":{"host":"a","port":1,"timeout":"10s"}}]'),
    ),
    lacksChecks,
  ],
  [
    'checks of a profile that does not exist',
    checks((text) => text.replaceAll('cilium', 'nope')),
    lacksChecks,
  ],
  [
    'checks as nested keys',
    checks((text) => `[{"profile":"cilium","x":{"timeout":"10s","of":${text}}}]`),
    lacksChecks,
  ],
  [
    'checks in a text',
    checks((text) => `[{"profile":"cilium","address":{"timeout":"10s","x":${JSON.stringify(text)}}}]`),
    lacksChecks,
  ],
  ['a time-out of 1 ms', checks((text) => text.replace('10s', '1ms')), lacksChecks],
  ['no time-out', checks((text) => text.replace('"timeout":"10s"', '')), lacksChecks],
  ['a mode that is not recorded', adds(env.mode, 'warn'), otherVariables],
  ['addresses of another field', takesFrom(env.podIPs, 'status.hostIPs'), otherVariables],
  ['addresses of the node from another field', takesFrom(env.nodeIPs, 'status.podIPs'), otherVariables],
  ['networks of another annotation', takesFrom(env.networks, "metadata.annotations['x']"), otherVariables],
  ['a variable of its own is gone', (_, { env: all }) => all?.splice(1, 1), otherVariables],
  ...[...noLoader, 'CNI_GATE_OTHER', env.podIPs, env.networks, env.podNamespace, env.networkStatusFile].map(
    (name): [string, Change, RegExp] => [`variable ${name}`, adds(name), otherVariables],
  ),
  ...paths.map((path): [string, Change, RegExp] => [`a volume at ${path}`, mounts(path), otherVolumes]),
  ['its volume is not mounted', sets({ volumeMounts: [] }), otherVolumes],
  [
    'its volume is another',
    (_, { volumeMounts }) => Object.assign(volumeMounts?.[0] ?? {}, { name: 'x' }),
    otherVolumes,
  ],
  ['its volume has another file', volume({ downwardAPI: { items: [], defaultMode: 420 } }), otherVolumes],
  ['no seccomp profile', rights({ seccompProfile: { type: 'Unconfined' } }), moreRights],
  ['root', rights({ runAsNonRoot: false, runAsUser: 0 }), moreRights],
  ['a root that can be written', rights({ readOnlyRootFilesystem: false }), moreRights],
  ['privileges', rights({ privileged: true, allowPrivilegeEscalation: true }), moreRights],
  ['a way to privileges', rights({ allowPrivilegeEscalation: true }), moreRights],
  ['a capability', rights({ capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } }), moreRights],
  ['no capability dropped', rights({ capabilities: null }), moreRights],
  [
    'a mask of /proc taken off',
    (pod, it) => {
      Object.assign(pod.spec, { hostUsers: false });
      rights({ procMount: 'Unmasked' })(pod, it);
    },
    moreRights,
  ],
  ['no AppArmor profile', rights({ appArmorProfile: { type: 'Unconfined' } }), moreRights],
  ['a privileged SELinux type', rights({ seLinuxOptions: { type: 'spc_t' } }), moreRights],
  ['no security context', (_, it) => Reflect.deleteProperty(it, 'securityContext'), moreRights],
  [
    "an image of its own that is not in the list, as a network's own validator",
    ownValidator('example/true'),
    /no other container of this pod has/,
  ],
];

const probe = (fields: object): Change => {
  return (_, it) => Object.assign(it, { startupProbe: { ...(it.startupProbe as object), ...fields } });
};
const otherProbe = /has another probe/;

/** Changes that the policy refuses in a pod whose witness is the kubelet. */
export const refusedWithWitness: typeof refused = [
  [
    'no sidecar of it',
    (_, it) => ['restartPolicy', 'startupProbe'].map((key) => Reflect.deleteProperty(it, key)),
    otherWay,
  ],
  ['no probe', (_, it) => Reflect.deleteProperty(it, 'startupProbe'), otherProbe],
  ['a probe of another port', probe({ tcpSocket: { port: 15_006 } }), otherProbe],
  ['a probe of another host', probe({ tcpSocket: { port: 14_040, host: '127.0.0.1' } }), otherProbe],
  ["a probe by Istio's agent", probe({ tcpSocket: null, httpGet: { port: 15_020 } }), otherProbe],
  ['a probe that runs a command', probe({ tcpSocket: null, exec: { command: ['true'] } }), otherProbe],
  ['a probe that ends before the checks', probe({ failureThreshold: 1 }), otherProbe],
  ['a probe once an hour', probe({ periodSeconds: 3600 }), otherProbe],
  ['a readiness probe', sets({ readinessProbe: { tcpSocket: { port: 80 } } }), otherWay],
  [
    'rechecks',
    (_, it) => it.env?.splice(1, 0, { name: env.continuous, value: '{"interval":"60s","failures":3}' }),
    otherVariables,
  ],
];

const settings = (change: (text: string) => string): Change => variableChange(env.continuous, change);

const readiness = (fields: object): Change => {
  return (_, it) => Object.assign(it, { readinessProbe: { ...(it.readinessProbe as object), ...fields } });
};
const otherReadiness = /has another readiness probe or interval/;

/** Changes that the policy refuses in a pod whose checks are repeated. */
export const refusedWithRechecks: typeof refused = [
  ['no readiness probe', (_, it) => Reflect.deleteProperty(it, 'readinessProbe'), otherReadiness],
  ['readiness at another port', readiness({ tcpSocket: { port: 14_040 } }), otherReadiness],
  ['readiness at a port with more digits', readiness({ tcpSocket: { port: 1404 } }), otherReadiness],
  [
    'readiness of another host',
    readiness({ tcpSocket: { port: 14_041, host: '127.0.0.1' } }),
    otherReadiness,
  ],
  [
    "readiness by Istio's agent",
    readiness({ tcpSocket: null, httpGet: { port: 15_020, scheme: 'HTTP' } }),
    otherReadiness,
  ],
  ['readiness that comes later', readiness({ initialDelaySeconds: 60 }), otherReadiness],
  ['readiness once an hour', readiness({ periodSeconds: 3600 }), otherReadiness],
  ['readiness that waits longer', readiness({ timeoutSeconds: 2 }), otherReadiness],
  ['readiness at the second success', readiness({ successThreshold: 2 }), otherReadiness],
  ['readiness that ends later', readiness({ failureThreshold: 4 }), otherReadiness],
  ['another interval', settings((text) => text.replace('2m', '1m')), otherReadiness],
  ['a setting that rechecks do not have', settings((text) => text.replace('}', ',"x":1}')), otherReadiness],
  ['two ports', settings((text) => text.replace('41,', '41,"port":1,')), otherReadiness],
  ['settings given twice', settings((text) => `${text}${text}`), otherReadiness],
  ['a second variable', adds(env.continuous), otherReadiness],
  ['settings without a port', settings((text) => text.replace('"port":14041,', '')), otherReadiness],
  [
    'no settings',
    (_, it) => Object.assign(it, { env: it.env?.filter(({ name }) => name !== env.continuous) }),
    otherReadiness,
  ],
  ['settings after the addresses', (_, { env: all }) => all?.push(...all.splice(1, 1)), otherVariables],
  [
    'rechecks that the annotation does not name',
    status((text) => text.replace(',"continuous"', '')),
    otherWay,
  ],
  [
    'rechecks without a witness',
    (pod, it) => {
      status((text) => text.replace('"witness",', ''))(pod, it);
      checks((text) => text.replace(/,[{]"profile":"watched".*/, ']'))(pod, it);
      settings((text) => text.replace('"port":14041,', ''))(pod, it);
      for (const key of ['restartPolicy', 'startupProbe', 'readinessProbe']) Reflect.deleteProperty(it, key);
    },
    otherReadiness,
  ],
];

/** Changes that the policy accepts. @param restored set if a later call of the webhook undoes the change */
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
