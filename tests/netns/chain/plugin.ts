import { run } from '../../support/run.ts';
import { writeCommand } from '../rules/backends.ts';
import { linkerd } from '../rules/linkerd.ts';

/**
 * A chained CNI plugin of these tests, as linkerd-cni is one: it writes linkerd's rules into the sandbox that the
 * plugins before it made, and hands their result on. It acts on ADD only; DEL and CHECK do nothing.
 * Protocol: CNI specification 1.0.0.
 */
interface Configuration {
  cniVersion: string;
  prevResult?: { ips?: { address: string }[] };
}

async function answer(command: string | undefined): Promise<unknown> {
  if (command === 'VERSION') return { cniVersion: '1.0.0', supportedVersions: ['0.4.0', '1.0.0'] };
  if (command !== 'ADD') return undefined;
  const configuration: Configuration = JSON.parse(await readInput());
  const { prevResult } = configuration;
  if (prevResult === undefined) throw new Error('this plugin is a chained one: it needs a plugin before it');
  const hasFamily = (mark: string): boolean =>
    prevResult.ips?.some(({ address }) => address.includes(mark)) ?? false;
  if (hasFamily('.')) await write('ipv4');
  if (hasFamily(':')) await write('ipv6');
  return prevResult;
}

async function write(family: 'ipv4' | 'ipv6'): Promise<void> {
  const { command, args, input } = writeCommand(linkerd(), 'iptables-nft', family);
  await run('nsenter', [`--net=${process.env.CNI_NETNS}`, '--', command, ...args], input);
}

async function readInput(): Promise<string> {
  let text = '';
  for await (const part of process.stdin.setEncoding('utf8')) text += part;
  return text;
}

try {
  const result = await answer(process.env.CNI_COMMAND);
  if (result !== undefined) process.stdout.write(JSON.stringify(result));
} catch (error) {
  process.stdout.write(JSON.stringify({ cniVersion: '1.0.0', code: 100, msg: String(error) }));
  process.exitCode = 1;
}
