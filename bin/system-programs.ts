import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import path from 'node:path'

/** A program that npm does not install, and the tests that need it. */
interface SystemProgram {
  readonly command: string
  /** Another command that serves as well. */
  readonly orElse?: string
  /** A file that must be there, too, of a package without a command. */
  readonly file?: string
  /** One or several, separated by spaces. */
  readonly debianPackage: string
  readonly neededFor: string
  /** Installed only for test files whose paths begin with one of these. */
  readonly onlyFor?: readonly string[]
  /** Installed for tests on several nodes, too. */
  readonly forNodes?: boolean
}

const programs: readonly SystemProgram[] = [
  {
    command: 'unzip',
    debianPackage: 'unzip',
    neededFor: 'reading our archives with somebody else’s program',
  },
  {
    command: 'seaf-cli',
    debianPackage: 'seafile-cli',
    neededFor: 'syncing with two real desktop clients',
  },
  {
    command: 'git',
    debianPackage: 'git',
    neededFor: 'exporting a history',
    onlyFor: ['test/export/'],
  },
  {
    command: 'mariadbd',
    debianPackage: 'mariadb-server-core mariadb-client',
    neededFor: 'reading the databases of a Seafile server from a running MariaDB',
    onlyFor: ['test/import/mysql'],
  },
  {
    command: 'fail2ban-regex',
    debianPackage: 'fail2ban',
    neededFor: 'matching our log as operators do',
  },
  {
    command: 'litmus',
    debianPackage: 'litmus',
    neededFor: 'the conformance suite of WebDAV',
    onlyFor: ['test/webdav/litmus'],
  },
  {
    command: 'cadaver',
    debianPackage: 'cadaver',
    neededFor: 'an interactive WebDAV client',
    onlyFor: ['test/webdav/clients'],
  },
  {
    command: 'mount.davfs',
    debianPackage: 'davfs2',
    neededFor: 'WebDAV as a file system',
    onlyFor: ['test/webdav/clients'],
  },
  {
    command: 'gio',
    file: '/usr/share/gvfs/mounts/dav.mount',
    debianPackage: 'libglib2.0-bin gvfs-backends dbus-daemon',
    neededFor: 'WebDAV as the file manager of GNOME uses it',
    onlyFor: ['test/webdav/clients'],
  },
  {
    command: 'zsh',
    debianPackage: 'zsh',
    neededFor: 'completing command lines in real shells',
    onlyFor: ['test/client/shells'],
  },
  {
    command: 'gnome-keyring-daemon',
    debianPackage: 'gnome-keyring libsecret-tools dbus-daemon',
    neededFor: 'tokens in a real key store',
    onlyFor: ['test/client/login'],
  },
  {
    command: 'fish',
    debianPackage: 'fish',
    neededFor: 'completing command lines in another real shell',
    onlyFor: ['test/client/shells'],
  },
  {
    command: 'python3',
    debianPackage: 'python3',
    neededFor: 'running programs with the Python client',
    onlyFor: ['test/sdk/', 'test/docs/commands'],
  },
  {
    command: 'mypy',
    debianPackage: 'mypy',
    neededFor: 'checking the types of the Python client',
    onlyFor: ['test/sdk/'],
  },
  {
    command: 'curl',
    debianPackage: 'curl',
    neededFor: 'running the commands of the documents',
    onlyFor: ['test/docs/commands'],
  },
  { command: 'rclone', debianPackage: 'rclone', neededFor: 'the round trip of a real client' },
  {
    command: 'cc',
    debianPackage: 'tcc libc6-dev',
    neededFor: 'power failures and I/O errors, simulated by a library for LD_PRELOAD',
  },
  {
    command: 'radosgw',
    debianPackage: 'radosgw ceph-mon ceph-osd ceph-common',
    neededFor: 'the S3 interface of Ceph',
    onlyFor: ['test/backup/s3-services', 'test/storage/s3-', 'test/faults', 'test/docs/commands', 'bin/s3'],
    forNodes: true,
  },
  {
    command: 'swift-proxy-server',
    debianPackage: 'swift-proxy swift-object swift-container swift-account memcached',
    neededFor: 'the S3 interface of OpenStack Swift',
    onlyFor: ['test/backup/s3-services', 'test/storage/s3-'],
  },
  {
    command: 'pgbouncer',
    debianPackage: 'pgbouncer',
    neededFor: 'a transaction-mode pooler in front of PostgreSQL',
    onlyFor: ['test/cluster/postgres-pooler', 'test/faults/run'],
  },
  {
    command: 'promtool',
    debianPackage: 'prometheus',
    neededFor: 'checking the alert rules as Prometheus does',
    onlyFor: ['test/clients/promtool'],
  },
  {
    command: 'nginx',
    debianPackage: 'nginx-light',
    neededFor: 'restarting nodes behind a real proxy',
    onlyFor: ['test/cluster/processes', 'test/faults/run'],
  },
  {
    command: 'haproxy',
    debianPackage: 'haproxy',
    neededFor: 'restarting nodes behind another real proxy',
    onlyFor: ['test/cluster/processes', 'test/faults/run'],
  },
  {
    command: 'chromium-headless-shell',
    orElse: 'chromium',
    debianPackage: 'chromium-headless-shell',
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

/** Installs missing programs that these test files need, if run as root on Debian. Otherwise prints which tests are skipped. */
export function ensurePrograms(files: readonly string[], { onNodes = false } = {}): void {
  const missing = programs.filter(
    ({ command, orElse = command, file: needed, onlyFor = ['test/'], forNodes = false }) =>
      ((forNodes && onNodes) || files.some((file) => onlyFor.some((start) => file.startsWith(start)))) &&
      ((findProgram(command) ?? findProgram(orElse)) === undefined ||
        (needed !== undefined && !existsSync(needed))),
  )
  if (missing.length === 0) return
  const names = missing.flatMap(({ debianPackage }) => debianPackage.split(' '))
  if (process.getuid?.() === 0 && existsSync('/etc/debian_version')) {
    console.log(`Installing ${names.join(', ')} from Debian …`)
    const apt = (...args: string[]) => {
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
      return spawnSync('apt-get', args, { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
    }
    if (apt('update', '-q') && apt('install', '-y', '-q', '--no-install-recommends', ...names)) return
  }
  for (const { command, neededFor } of missing) {
    console.log(`${command} is missing and cannot be installed. Skipped: ${neededFor}.`)
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
