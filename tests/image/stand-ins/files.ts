import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programPath, programs } from '../../cluster/binaries/ensure.ts';
import { run } from '../../support/run.ts';

/** Writes the files of an image's stand-in below `root`. @returns Dockerfile instructions for its configuration */
export async function layFiles(image: string, root: string, debian: string): Promise<string[]> {
  if (image.startsWith('node:')) return layNode(root, debian);
  if (image.startsWith('rust:')) return layRust(root, debian);
  if (image.startsWith('gcr.io/distroless/cc-')) return layDistroless(root, debian);
  const name = /^registry\.k8s\.io\/(?:kwok\/)?([a-z-]+):/.exec(image)?.[1];
  const program = programs.find((known) => known === name);
  if (program !== undefined) return layProgram(root, program);
  throw new Error(`tests/image/stand-ins has nothing in place of ${image}`);
}

const path = 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** Debian with the running Node and this machine's npm, which uses the same registry as on this machine. */
async function layNode(root: string, debian: string): Promise<string[]> {
  await run('cp', ['-a', `${debian}/.`, root]);
  copy(process.execPath, join(root, 'usr/local/bin/node'));
  const npm = '/usr/local/lib/node_modules/npm';
  copy(await npmFolder(), join(root, npm));
  for (const name of ['npm', 'npx'])
    symlinkSync(`${npm}/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
  await layNpmConfiguration(root);
  return [path, 'CMD ["node"]'];
}

/** The folder of the running npm. Node itself may come from a package of the checkout, which contains no npm. */
async function npmFolder(): Promise<string> {
  const { npm_execpath: program } = process.env;
  if (program !== undefined) return dirname(dirname(program));
  return join((await npmSays(['root', '--global'])).trim(), 'npm');
}

/** Copies the machine's npmrc files into the image's global one, and the certificates that npm or Node use. */
async function layNpmConfiguration(root: string): Promise<void> {
  const target = join(root, 'usr/local/etc/npmrc');
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, '');
  for (const which of ['globalconfig', 'userconfig']) {
    const file = await npmConfig(which);
    if (existsSync(file)) appendFileSync(target, `${readFileSync(file, 'utf8')}\n`);
  }
  appendFileSync(target, `registry=${await npmConfig('registry')}\n`);
  const named = await npmConfig('cafile');
  const certificates = existsSync(named) ? named : process.env.NODE_EXTRA_CA_CERTS;
  if (certificates === undefined) return;
  copy(certificates, join(root, 'usr/local/etc/npm-ca.crt'));
  appendFileSync(target, 'cafile=/usr/local/etc/npm-ca.crt\n');
}

const npmConfig = async (name: string): Promise<string> => (await npmSays(['config', 'get', name])).trim();

/** Runs npm, which also reads the checkout's .npmrc and `npm_config_` variables. */
const npmSays = (args: string[]): Promise<string> => run('npm', args);

/** Debian with gcc and musl, this machine's Rust, and the crates of the lock file. */
async function layRust(root: string, debian: string): Promise<string[]> {
  await run('cp', ['-a', `${debian}/.`, root]);
  const toolchain = (await run('rustc', ['--print', 'sysroot'])).trim();
  const host = /^host: (.*)$/m.exec(await run('rustc', ['--version', '--verbose']))?.[1] ?? '';
  const target = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-unknown-linux-musl`;
  const lib = join(toolchain, 'lib');
  const libraries = readdirSync(lib).filter((name) => name.includes('.so'));
  for (const part of [
    ...['bin/cargo', 'bin/rustc', `lib/rustlib/${host}`, `lib/rustlib/${target}`],
    ...libraries.map((name) => `lib/${name}`),
  ]) {
    copy(join(toolchain, part), join(root, 'usr/local', part));
  }
  const crates = '/usr/local/cargo/crates';
  const manifest = fileURLToPath(new URL('../../../validator/host/Cargo.toml', import.meta.url));
  await run('cargo', ['vendor', '--quiet', '--locked', '--manifest-path', manifest, join(root, crates)]);
  writeFileSync(
    join(root, 'usr/local/cargo/config.toml'),
    `[source.crates-io]\nreplace-with = "copied"\n[source.copied]\ndirectory = "${crates}"\n`,
  );
  return [path, 'ENV CARGO_HOME=/usr/local/cargo', 'CMD ["bash"]'];
}

/** The Debian packages that distroless/cc consists of and Node needs, and distroless' user. There is no shell. */
async function layDistroless(root: string, debian: string): Promise<string[]> {
  const packages = ['libc6', 'libgcc-s1', 'libstdc++6', 'tzdata'];
  const listed = (await run('dpkg', ['--root', debian, '--listfiles', ...packages])).split('\n');
  for (const file of listed) {
    // skips folders: copying a file creates its folders, and some of the folders are links in this Debian
    if (file !== '' && !statSync(join(debian, file)).isDirectory())
      copy(join(debian, file), join(root, file));
  }
  for (const folder of ['dev', 'etc', 'home/nonroot', 'proc', 'run', 'sys']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  mkdirSync(join(root, 'tmp'), { mode: 0o1777 });
  writeFileSync(
    join(root, 'etc/passwd'),
    'root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n',
  );
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnonroot:x:65532:\n');
  return [path, 'USER 65532', 'WORKDIR /home/nonroot'];
}

/** One program at the path that it has in its own image. Some of these images use it as their entrypoint. */
async function layProgram(root: string, program: (typeof programs)[number]): Promise<string[]> {
  const target = program === 'kubectl' ? '/bin/kubectl' : `/usr/local/bin/${program}`;
  copy(programPath(program), join(root, target));
  mkdirSync(join(root, 'tmp'), { mode: 0o1777 });
  return [path, ...(program === 'kubectl' || program === 'kwok' ? [`ENTRYPOINT ["${target}"]`] : [])];
}

function copy(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true });
  cpSync(source, target, { recursive: true, dereference: true });
}
