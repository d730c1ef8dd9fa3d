import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { readConfig } from '../../src/base/config/index.ts'
import { TargetLock } from '../../src/maintenance/backup/lock.ts'
import { openRepository } from '../../src/maintenance/backup/open-target.ts'
import { backUp, pruneBackups, verifyBackups } from '../../src/programs/assembly/backups.ts'
import { canHaveDisk } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { carrel, program } from '../support/command.ts'
import { download } from '../support/encrypted.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { temporaryFolder } from './support.ts'

describe('an encrypted target', () => {
  it('shows neither content nor names, and opens only with its passphrase', async () => {
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const passphrase = path.join(folder.path, 'passphrase')
    const wrong = path.join(folder.path, 'wrong')
    await writeFile(passphrase, 'correct horse battery staple\n')
    await writeFile(wrong, 'incorrect horse battery staple\n')
    await using server = await startServer()
    const ann = await server.signUp({ email: 'ann@example.org', password: 'a long password' })
    const library = await ann.createLibrary('Papers of Ann')
    const content = Buffer.from('the content that nobody may read '.repeat(5000))
    await uploadFile(ann, library, '/hidden-name.txt', content)
    const flag = ['--backup-passphrase-file', passphrase]
    const made = await carrel(['backup', target, '--data', server.data, ...flag])
    assert.equal(made.code, 0, made.stderr)
    const secret = (await readFile(path.join(server.data, 'secret'), 'utf8')).trim()
    for (const file of await filesIn(target)) {
      const bytes = await readFile(file)
      for (const text of ['nobody may read', 'hidden-name', 'Papers of Ann', 'ann@example.org', secret]) {
        assert.equal(bytes.includes(text), false, `${file} shows ${text}`)
      }
    }
    const data = path.join(folder.path, 'restored')
    const unlocked = await carrel(['restore', target, '--data', data, '--backup-passphrase-file', wrong])
    assert.equal(unlocked.code, 1)
    assert.match(unlocked.stderr, /^The passphrase does not open the backup/)
    const without = await carrel(['backup', 'list', target])
    assert.equal(without.code, 1)
    assert.match(without.stderr, /is encrypted/)
    const verified = await carrel(['backup', 'verify', target, '--read-data', ...flag])
    assert.equal(verified.code, 0, verified.stdout)
    const restored = await carrel(['restore', target, '--data', data, ...flag])
    assert.equal(restored.code, 0, restored.stderr)
    await using again = await startServer({ data })
    const signedIn = await clientOf(again, 'ann@example.org')
    assert.deepEqual(await download(signedIn, library, '/hidden-name.txt'), content)
  })
})

describe('a target', () => {
  it('is not encrypted later by a passphrase', async () => {
    await using folder = await temporaryFolder()
    const passphraseFile = path.join(folder.path, 'passphrase')
    await writeFile(passphraseFile, 'correct horse battery staple')
    await openRepository(folder.path, { passphraseFile: undefined }, { create: true })
    await assert.rejects(
      openRepository(folder.path, { passphraseFile }, { create: true }),
      /is not encrypted/,
    )
  })

  it('loses by pruning only what no remaining snapshot needs', async () => {
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    await using server = await startServer()
    const ann = await server.signUp({ email: 'ann@example.org', password: 'a long password' })
    const library = await ann.createLibrary('Papers')
    const kept = randomBytes(2_000_000)
    const removed = randomBytes(3_000_000)
    await uploadFile(ann, library, '/kept.bin', kept)
    await backUpTo(server, target)
    await uploadFile(ann, library, '/small.txt', 'small')
    await backUpTo(server, target)
    // A library that only older snapshots have: purged with its rows.
    const gone = await ann.createLibrary('Gone')
    await uploadFile(ann, gone, '/removed.bin', removed)
    await backUpTo(server, target)
    await purge(server, ann, gone)
    const newest = await backUpTo(server, target)
    const before = await sizeOf(target)
    const config = configOf(server, {
      CARREL_BACKUP_KEEP_LAST: '1',
      CARREL_BACKUP_KEEP_DAILY: '0',
      ...KEEP_NONE,
    })
    const dry = await pruneBackups(config, target, { dryRun: true })
    assert.deepEqual([dry.removed.length, dry.kept], [3, [newest]])
    assert.equal(await sizeOf(target), before)
    const report = await pruneBackups(config, target)
    assert.equal(report.removed.length, 3)
    assert.ok(before - (await sizeOf(target)) > 3_000_000, 'the purged library is still there')
    assert.deepEqual((await verifyBackups(config, target, { readData: true })).problems, [])
    await backUpTo(server, target)
    const data = path.join(folder.path, 'restored')
    assert.equal((await carrel(['restore', target, '--data', data, '--snapshot', newest])).code, 0)
    await using again = await startServer({ data })
    const signedIn = await clientOf(again, 'ann@example.org')
    assert.deepEqual(await download(signedIn, library, '/kept.bin'), kept)
    assert.deepEqual(await download(signedIn, library, '/small.txt'), Buffer.from('small'))
  })

  it('survives a backup that is killed, and the next one continues', async () => {
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    await using server = await startServer()
    const ann = await server.signUp({ email: 'ann@example.org', password: 'a long password' })
    const library = await ann.createLibrary('Papers')
    for (let number = 0; number < 12; number++) {
      await uploadFile(ann, library, `/file-${number}.bin`, randomBytes(4_000_000))
    }
    const child = spawn(process.execPath, [...program, 'backup', target, '--data', server.data], {
      stdio: 'ignore',
    })
    const ended = once(child, 'exit')
    await eventually(async () => assert.ok((await filesIn(path.join(target, 'packs'))).length >= 3))
    child.kill('SIGKILL')
    await ended
    assert.deepEqual(await filesIn(path.join(target, 'snapshots')), [])
    assert.equal((await filesIn(path.join(target, 'locks'))).length, 1)
    await backUpTo(server, target)
    assert.deepEqual(await filesIn(path.join(target, 'locks')), [])
    const report = await verifyBackups(configOf(server), target, { readData: true })
    assert.deepEqual([report.snapshots, report.problems], [1, []])
    // Packs that the killed one did not list, and files that it did not finish, are removed by prune.
    await writeFile(path.join(target, 'tmp/unfinished'), 'part of a pack')
    await pruneBackups(configOf(server), target)
    assert.deepEqual(await filesIn(path.join(target, 'tmp')), [])
    assert.deepEqual((await verifyBackups(configOf(server), target, { readData: true })).problems, [])
    assert.ok((await sizeOf(target)) < 60_000_000)
  })

  it('that is full or not a folder gives a clear error, and loses nothing', async (t) => {
    await using folder = await temporaryFolder()
    await using server = await startServer()
    const ann = await server.signUp()
    await uploadFile(ann, await ann.createLibrary('Papers'), '/a.bin', randomBytes(9_000_000))
    const file = path.join(folder.path, 'file')
    await writeFile(file, 'no folder')
    const refused = await carrel(['backup', path.join(file, 'target'), '--data', server.data])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /^The backup folder .* cannot be read \(ENOTDIR\)/)
    const disk = path.join(folder.path, 'disk')
    await mkdir(disk)
    if (!canHaveDisk(disk)) return t.skip('no disk can be mounted here')
    const script = `mount -t tmpfs -o size=5m carrel "$1" && shift && "$@"; code=$?; find ${disk}/snapshots -type f 2>/dev/null | wc -l; exit $code`
    const run = spawn(
      'unshare',
      [
        ...(process.getuid?.() === 0 ? ['--mount'] : ['--map-root-user', '--mount']),
        'sh',
        '-c',
        script,
        'sh',
        disk,
        process.execPath,
        ...program,
        'backup',
        path.join(disk, 'target'),
        '--data',
        server.data,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    const [out, errors, [code]] = await Promise.all([text(run.stdout), text(run.stderr), once(run, 'exit')])
    assert.equal(code, 1)
    assert.match(errors, /cannot be written \(ENOSPC\): free some space there/)
    assert.equal(out.trim(), '0')
  })

  it('is used by one backup at a time', async () => {
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    await using server = await startServer()
    const [first, second] = await Promise.allSettled([backUpTo(server, target), backUpTo(server, target)])
    const outcomes = [first.status, second.status]
    assert.ok(outcomes.includes('rejected'), outcomes.join())
    const refused = [first, second].find(({ status }) => status === 'rejected') as PromiseRejectedResult
    assert.match(String(refused.reason), /carrel backup is running on .* with process id \d+/)
    await backUpTo(server, target)
  })
})

describe('the lock of a killed process', { skip: process.platform !== 'linux' && 'needs /proc' }, () => {
  it('is removed, also if its process id belongs to another process now', async () => {
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const { target: opened } = await openRepository(target, { passphraseFile: undefined }, { create: true })
    const ofThisProcess = async () => {
      const lock = await TargetLock.acquire(opened, 'write', 'carrel backup')
      const [file = ''] = await filesIn(path.join(target, 'locks'))
      return { lock, file, entry: JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown> }
    }
    const { lock, file, entry } = await ofThisProcess()
    await assert.rejects(
      TargetLock.acquire(opened, 'write', 'carrel backup'),
      /is running on .* with process id/,
    )
    await lock[Symbol.asyncDispose]()
    // As after the restart of a container, whose first process always has the same id.
    for (const pid of [process.pid, process.ppid]) {
      const identity = String(entry['process']).replace(/:\d+:\d+$/, `:${pid}:1`)
      await writeFile(file, JSON.stringify({ ...entry, pid, process: identity }))
      await (await ofThisProcess()).lock[Symbol.asyncDispose]()
      assert.deepEqual(await filesIn(path.join(target, 'locks')), [])
    }
  })
})

const KEEP_NONE = { CARREL_BACKUP_KEEP_WEEKLY: '0', CARREL_BACKUP_KEEP_MONTHLY: '0' }

function configOf({ data }: TestServer, env: Record<string, string> = {}) {
  return readConfig({ env: { CARREL_DATA: data, ...env }, cwd: data })
}

async function backUpTo(server: TestServer, target: string): Promise<string> {
  const { id } = await backUp(configOf(server), target, server.running.services.db)
  return id
}

async function purge(server: TestServer, owner: Client, library: string): Promise<void> {
  const deleted = await owner.delete(`/api/v2.1/repos/${library}/`)
  assert.equal(deleted.status, 200, deleted.text)
  const purged = await (await server.admin()).delete(`/api/v2.1/admin/trash-libraries/${library}/`)
  assert.equal(purged.status, 200, purged.text)
}

async function clientOf(server: TestServer, email: string): Promise<Client> {
  return Client.signIn(server.url, email, 'a long password')
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
}

async function sizeOf(folder: string): Promise<number> {
  let sum = 0
  for (const file of await filesIn(folder)) sum += (await stat(file)).size
  return sum
}
