import { leastVersion } from '../../leader/nominate/eligibility.ts';
import type { PreFacts } from '../facts/collect.ts';
import type { EnvironmentFacts } from '../facts/environment.ts';
import type { InstallationFacts } from '../facts/installation.ts';
import { foundIn } from '../facts/observation.ts';
import { counted, type Finding, failed, few, judged, passed, skipped, warning } from './finding.ts';

/** The oldest Kubernetes on which the manifests work: ValidatingAdmissionPolicy is v1 from 1.30 on. */
const least = { major: 1, minor: 30 };

/** Milliseconds by which a clock may be off: a Lease is believed for 30 s. Beyond a minute, certificates fail too. */
const tolerance = 60_000;

/** What does not depend on an installation. @param now milliseconds since the epoch */
export const environmentChecks = (
  facts: EnvironmentFacts & { installation: InstallationFacts },
  now: number,
) => ({
  'kubernetes-version': checkVersion(facts),
  'cluster-clocks': checkClocks(facts, now),
});

/** Whether the version is one that is supported. */
function checkVersion({ version }: Pick<EnvironmentFacts, 'version'>): Finding {
  return judged(version, (found) => {
    if (found === undefined) return skipped('the API server does not say its version');
    const { major, minor, text, usesNominations } = found;
    if (major < least.major || (major === least.major && minor < least.minor)) {
      return failed(
        'CNI_GATE_KUBERNETES',
        `the API server is ${text}, and cni-gate needs ${least.major}.${least.minor} or later`,
        'Upgrade the control plane first',
      );
    }
    if (usesNominations) return passed(text);
    const hint = 'Set gate.mode to audit where pods must not wait for one node while others are ready';
    return warning(`${text}: refused pods are not steered, which needs ${leastVersion}`, hint);
  });
}

/** The admission plugins of the API server that call webhooks and evaluate policies. All are on by default. */
const neededPlugins = ['MutatingAdmissionWebhook', 'ValidatingAdmissionWebhook', 'ValidatingAdmissionPolicy'];

/** Whether the flags of the API servers that are visible turn a plugin off. */
export function checkPlugins({ apiServers }: Pick<PreFacts, 'apiServers'>): Finding {
  return judged(apiServers, (servers = []) => {
    if (servers.length === 0)
      return skipped('the flags of the API server are not visible: no pod of it is in kube-system');
    const off = new Set(servers.flatMap((flags) => flags.flatMap(disabledBy)));
    const missing = neededPlugins.filter((name) => off.has(name));
    if (missing.length === 0) return passed(`on in ${counted(servers.length, 'API server')}`);
    const hint = 'Take them out of --disable-admission-plugins of kube-apiserver';
    return failed('CNI_GATE_KUBERNETES', `the API server has ${missing.join(', ')} turned off`, hint);
  });
}

function disabledBy(flag: string): string[] {
  const [, list = ''] = /^--disable-admission-plugins=(.*)$/.exec(flag) ?? [];
  return list.split(',').map((name) => name.trim());
}

/** Whether the API server reaches some Service of the cluster, which shows that it can reach ours. */
export function checkReach({ servedApis }: Pick<PreFacts, 'servedApis'>): Finding {
  return judged(servedApis, (apis = []) => {
    const [good] = apis.filter(({ available }) => available);
    if (good !== undefined) return passed(`API ${good.name} answers from Service ${good.service}`);
    const [bad] = apis;
    if (bad === undefined)
      return skipped('no other Service shows it: no API of this cluster is served by one');
    return warning(
      `API ${bad.name} of Service ${bad.service} does not answer${bad.message && `: ${bad.message}`}`,
      'If that Service works, the API server cannot reach pods: use the component host-network',
    );
  });
}

/** Whether no clock of a node or of the leader is ahead of the API server's. */
function checkClocks(
  { heartbeats, installation }: Pick<EnvironmentFacts, 'heartbeats'> & { installation: InstallationFacts },
  now: number,
): Finding {
  const lease = foundIn(installation.lease);
  if (lease?.renewed !== undefined && lease.renewed - now > tolerance)
    return ahead(`the leader ${lease.holder}`, lease.renewed - now);
  return judged(heartbeats, (found = []) => {
    const early = found.filter(({ renewed }) => renewed - now > tolerance);
    if (early.length > 0) {
      const names = few(early.map(({ node }) => node));
      const most = Math.max(...early.map(({ renewed }) => renewed - now));
      return ahead(`${early.length === 1 ? 'node' : 'nodes'} ${names}`, most);
    }
    return found.length === 0
      ? skipped('no node renews a Lease')
      : passed(`those of ${counted(found.length, 'node')} agree with the API server`);
  });
}

const clockHint = 'Make these machines synchronize their clocks, for example with chrony';

const ahead = (who: string, by: number): Finding =>
  failed(
    'CNI_GATE_CLOCK_SKEW',
    `the clock of ${who} is ${Math.round(by / 1000)} s ahead of the API server's`,
    clockHint,
  );
