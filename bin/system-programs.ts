import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, existsSync } from 'node:fs'
import path from 'node:path'

/** Debian packages that npm does not install, and the tests that need them. */
interface SystemProgram {
  /** For each package a command, or a file with an absolute path, that is there once it is installed, and others that serve as well. */
  readonly packages: Readonly<Record<string, string | readonly string[]>>
  readonly neededFor: string
  /** Installed only for test files whose paths begin with one of these. */
  readonly onlyFor?: readonly string[]
  /** Installed for tests on several nodes, too. */
  readonly forNodes?: boolean
}

const programs: readonly SystemProgram[] = [
  {
    packages: { unzip: 'unzip' },
    neededFor: 'reading our archives with somebody else’s program',
    onlyFor: ['test/transfer/zip'],
  },
  {
    packages: { 'seafile-cli': 'seaf-cli' },
    neededFor: 'syncing with two real desktop clients',
    onlyFor: ['test/clients/seaf-cli', 'test/faults/run'],
  },
  {
    packages: { git: 'git' },
    neededFor: 'exporting a history',
    onlyFor: ['test/export/', 'test/docs/first-minutes'],
  },
  {
    packages: { 'mariadb-server-core': 'mariadbd', 'mariadb-client': 'mariadb' },
    neededFor: 'reading the databases of a Seafile server from a running MariaDB',
    onlyFor: ['test/import/mysql'],
  },
  {
    packages: { fail2ban: 'fail2ban-regex' },
    neededFor: 'matching our log as operators do',
    onlyFor: ['test/clients/fail2ban'],
  },
  {
    packages: { litmus: 'litmus' },
    neededFor: 'the conformance suite of WebDAV',
    onlyFor: ['test/webdav/litmus'],
  },
  {
    packages: { cadaver: 'cadaver' },
    neededFor: 'an interactive WebDAV client',
    onlyFor: ['test/webdav/clients'],
  },
  {
    packages: { davfs2: 'mount.davfs' },
    neededFor: 'WebDAV as a file system',
    onlyFor: ['test/webdav/clients'],
  },
  {
    packages: {
      'libglib2.0-bin': 'gio',
      'gvfs-backends': '/usr/share/gvfs/mounts/dav.mount',
      'dbus-daemon': 'dbus-run-session',
    },
    neededFor: 'WebDAV as the file manager of GNOME uses it',
    onlyFor: ['test/webdav/clients'],
  },
  {
    packages: { zsh: 'zsh' },
    neededFor: 'completing command lines in real shells',
    onlyFor: ['test/client/shells'],
  },
  {
    packages: {
      'gnome-keyring': 'gnome-keyring-daemon',
      'libsecret-tools': 'secret-tool',
      'dbus-daemon': 'dbus-run-session',
    },
    neededFor: 'tokens in a real key store',
    onlyFor: ['test/client/login'],
  },
  {
    packages: { fish: 'fish' },
    neededFor: 'completing command lines in another real shell',
    onlyFor: ['test/client/shells'],
  },
  {
    packages: { python3: 'python3' },
    neededFor: 'running programs with the Python client',
    onlyFor: ['test/sdk/', 'test/docs/commands', 'test/release/'],
  },
  {
    packages: { mypy: 'mypy' },
    neededFor: 'checking the types of the Python client',
    onlyFor: ['test/sdk/'],
  },
  {
    packages: { curl: 'curl' },
    neededFor: 'running the commands of the documents',
    onlyFor: ['test/docs/commands', 'test/docs/first-minutes'],
  },
  {
    packages: { minisign: 'minisign' },
    neededFor: 'signing a release',
    onlyFor: ['test/release/'],
  },
  { packages: { rclone: 'rclone' }, neededFor: 'the round trip of a real client' },
  {
    packages: {
      'golang-go': 'go',
      'golang-github-rclone-rclone-dev': '/usr/share/gocode/src/github.com/rclone/rclone/rclone.go',
      // Debian leaves these two out of what the package depends on.
      'golang-github-coreos-go-semver-dev':
        '/usr/share/gocode/src/github.com/coreos/go-semver/semver/semver.go',
      'golang-github-aalpar-deheap-dev': '/usr/share/gocode/src/github.com/aalpar/deheap/deheap.go',
    },
    neededFor: 'the tests of rclone, compiled from its sources',
    onlyFor: ['test/webdav/rclone-suite'],
  },
  {
    packages: { tcc: 'cc', 'libc6-dev': '/usr/include/stdio.h' },
    neededFor: 'power failures and I/O errors, simulated by a library for LD_PRELOAD',
  },
  {
    packages: {
      radosgw: 'radosgw',
      'ceph-mon': 'ceph-mon',
      'ceph-osd': 'ceph-osd',
      'ceph-common': 'ceph',
    },
    neededFor: 'the S3 interface of Ceph',
    onlyFor: ['test/backup/s3-services', 'test/storage/s3-', 'test/faults', 'test/docs/commands', 'bin/s3'],
    forNodes: true,
  },
  {
    packages: {
      'swift-proxy': 'swift-proxy-server',
      'swift-object': 'swift-object-server',
      'swift-container': 'swift-container-server',
      'swift-account': 'swift-account-server',
      memcached: 'memcached',
    },
    neededFor: 'the S3 interface of OpenStack Swift',
    onlyFor: ['test/backup/s3-services', 'test/storage/s3-'],
  },
  {
    packages: { pgbouncer: 'pgbouncer' },
    neededFor: 'a transaction-mode pooler in front of PostgreSQL',
    onlyFor: ['test/cluster/postgres-pooler', 'test/faults/run'],
  },
  {
    packages: { prometheus: 'promtool' },
    neededFor: 'checking the alert rules as Prometheus does',
    onlyFor: ['test/clients/promtool'],
  },
  {
    packages: { 'nginx-light': 'nginx' },
    neededFor: 'restarting nodes behind a real proxy',
    onlyFor: ['test/cluster/processes', 'test/faults/run'],
  },
  {
    packages: { haproxy: 'haproxy' },
    neededFor: 'restarting nodes behind another real proxy',
    onlyFor: ['test/cluster/processes', 'test/faults/run'],
  },
  {
    packages: { 'chromium-headless-shell': ['chromium-headless-shell', 'chromium'] },
    neededFor: 'looking at our pages in a real browser',
  },
]

/** Finds a command on the PATH. */
export function findProgram(command: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter)
  return folders.map((folder) => path.join(folder, command)).find(isExecutable)
}

/** The browser of tests and pictures. The headless shell renders pages in the same way, and needs a third less CPU time for it. */
export function findBrowser(): string | undefined {
  return findProgram('chromium-headless-shell') ?? findProgram('chromium')
}

/** Installs missing packages that these test files need, if run as root on Debian. Otherwise prints which tests are skipped. */
export async function ensurePrograms(files: readonly string[], { onNodes = false } = {}): Promise<void> {
  const missing = programs
    .filter(
      ({ onlyFor = ['test/'], forNodes = false }) =>
        (forNodes && onNodes) || files.some((file) => onlyFor.some((start) => file.startsWith(start))),
    )
    .map(({ packages, neededFor }) => ({ names: missingPackages(packages), neededFor }))
    .filter(({ names }) => names.length > 0)
  if (missing.length === 0) return
  const names = [...new Set(missing.flatMap((program) => program.names))]
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    console.log(`Installing ${names.join(', ')} from Debian …`)
    const apt = async (...args: string[]) => {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
      const child = spawn('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
      const [code] = await once(child, 'exit').catch(() => [null])
      return code === 0
    }
    const isUpdated = await apt('update', '-q')
    if (isUpdated && (await apt('install', '-y', '-q', '--no-install-recommends', ...names))) return
  }
  for (const { names, neededFor } of missing) {
    console.log(`Missing, and cannot be installed: ${names.join(', ')}. Skipped: ${neededFor}.`)
  }
}

/** The packages of which neither the command or file nor another that serves as well is there. */
export function missingPackages(packages: SystemProgram['packages'], isThere = isInstalled): string[] {
  return Object.entries(packages)
    .filter(([, any]) => ![any].flat().some(isThere))
    .map(([name]) => name)
}

function isInstalled(name: string): boolean {
  return path.isAbsolute(name) ? existsSync(name) : findProgram(name) !== undefined
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
