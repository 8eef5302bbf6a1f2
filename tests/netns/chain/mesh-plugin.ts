import { text } from 'node:stream/consumers';
import { run } from '../../support/run.ts';
import { writeCommand } from '../rules/backends.ts';
import { type LinkerdPorts, linkerd } from '../rules/linkerd.ts';

export interface Configuration {
  cniVersion: string;
  prevResult?: { ips?: { address: string }[] };
}

type Applies = boolean | 'outbound' | Pick<LinkerdPorts, 'skippedInbound'>;

/**
 * Answers one call of a chained CNI plugin such as linkerd-cni: writes linkerd's rules into the sandbox that the
 * earlier plugins of the chain set up, and returns their result. Does nothing on DEL and CHECK. See the CNI
 * specification 1.0.0.
 *
 * @param applies whether to write the rules; without them, the plugin also succeeds. With `outbound`, it writes all
 *   rules and then removes the inbound ones; with ports, the rules do not redirect these ports
 */
export async function answerCall(applies: (configuration: Configuration) => Promise<Applies>): Promise<void> {
  try {
    const result = await answer(process.env.CNI_COMMAND, applies);
    if (result !== undefined) process.stdout.write(JSON.stringify(result));
  } catch (error) {
    process.stdout.write(JSON.stringify({ cniVersion: '1.0.0', code: 100, msg: String(error) }));
    process.exitCode = 1;
  }
}

async function answer(
  command: string | undefined,
  applies: (configuration: Configuration) => Promise<Applies>,
): Promise<unknown> {
  if (command === 'VERSION') return { cniVersion: '1.0.0', supportedVersions: ['0.4.0', '1.0.0'] };
  if (command !== 'ADD') return undefined;
  const configuration: Configuration = JSON.parse(await text(process.stdin));
  const { prevResult } = configuration;
  if (prevResult === undefined) throw new Error('this plugin is a chained one: it needs a plugin before it');
  const which = await applies(configuration);
  if (which === false) return prevResult;
  const hasFamily = (mark: string): boolean =>
    prevResult.ips?.some(({ address }) => address.includes(mark)) ?? false;
  const ports = typeof which === 'object' ? which : {};
  if (hasFamily('.')) await write('ipv4', ports);
  if (hasFamily(':')) await write('ipv6', ports);
  if (which === 'outbound')
    await inPod('sh', ['-c', 'for it in iptables ip6tables; do $it-nft -t nat -F PREROUTING; done']);
  return prevResult;
}

async function write(family: 'ipv4' | 'ipv6', ports: LinkerdPorts): Promise<void> {
  const { command, args, input } = writeCommand(linkerd(ports), 'iptables-nft', family);
  await inPod(command, args, input);
}

const inPod = (command: string, args: string[], input = ''): Promise<string> =>
  run('nsenter', [`--net=${process.env.CNI_NETNS}`, '--', command, ...args], input);
