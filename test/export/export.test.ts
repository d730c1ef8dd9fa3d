import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { fileDirent } from '../../src/base/objects/dirent.ts'
import { encodeFile } from '../../src/base/objects/file.ts'
import type { BlockId, FileId } from '../../src/base/objects/ids.ts'
import { carrel } from '../support/command.ts'
import { createEncrypted, PASSWORD } from '../support/encrypted.ts'
import { randomBytesFrom } from '../support/import-bytes.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { MTIME, makeTree, SyncClient, sha1, type TreeSpec } from '../support/sync-client.ts'
import { uploadFile } from '../support/transfer.ts'

const LARGE = randomBytesFrom('export', 200_000)
const NOTHING = { unchanged: 0, commits: 0, skipped: [], moreSkipped: 0 }

describe('carrel export', () => {
  it('writes plain files with their times, and goes on where it stopped', async () => {
    await using folder = await temporaryFolder()
    await using server = await startServer()
    const ann = await server.signUp()
    const library = await ann.createLibrary('Papers')
    const sync = await SyncClient.link(ann, library)
    const long = `${'n'.repeat(251)}.txt`
    const copy = encodeFile({ blockIds: [sha1('#!') as BlockId], size: 2 })
    const tree: TreeSpec = {
      'a.txt': 'one',
      [long]: 'a name as long as names may be',
      'zero.txt': '',
      '.carrel-unfinished': 'a file of the library',
      'copy.sh': '#!',
      'run.sh': fileDirent({
        id: sha1(copy) as FileId,
        name: 'run.sh',
        mode: 0o100755,
        mtime: MTIME,
        size: 2,
        modifier: ann.email,
      }),
      sub: { 'large.bin': LARGE, deeper: { 'odd \\ "name"\n': 'x' } },
      empty: {},
    }
    await sync.push(tree)
    const to = path.join(folder.path, 'now')
    const first = await exported(server, library, to)
    assert.equal(first.code, 0, first.stderr)
    const bytes = 3 + 30 + 21 + 2 + 2 + 200_000 + 1
    assert.deepEqual(first.report, { files: 8, bytes, ...NOTHING })
    assert.equal(await readFile(path.join(to, 'a.txt'), 'utf8'), 'one')
    assert.equal(await readFile(path.join(to, '.carrel-unfinished'), 'utf8'), 'a file of the library')
    assert.deepEqual(await readFile(path.join(to, 'sub/large.bin')), LARGE)
    assert.equal(await readFile(path.join(to, 'sub/deeper/odd \\ "name"\n'), 'utf8'), 'x')
    assert.equal((await stat(path.join(to, 'zero.txt'))).size, 0)
    assert.ok((await stat(path.join(to, 'empty'))).isDirectory())
    for (const name of ['sub/large.bin', 'sub', long]) {
      assert.equal((await stat(path.join(to, name))).mtimeMs, MTIME * 1000, name)
    }
    assert.equal((await stat(path.join(to, 'run.sh'))).mode & 0o777, 0o755)
    assert.equal((await stat(path.join(to, 'a.txt'))).mode & 0o777, 0o644)
    assert.equal((await readdir(to)).length, 8)

    await rm(path.join(to, 'a.txt'))
    await symlink(path.join(folder.path, 'elsewhere'), path.join(to, '.carrel-unfinished (1)'))
    await writeFile(path.join(to, 'own.txt'), 'not of the library')
    const again = await exported(server, library, to)
    assert.deepEqual(again.report, { files: 1, bytes: 3, ...NOTHING, unchanged: 7 })
    assert.equal((await readdir(to)).length, 9)
    await assert.rejects(stat(path.join(folder.path, 'elsewhere')), 'nothing was written through the link')
  })

  it('writes nothing through a symbolic link, and says so', async () => {
    await using folder = await temporaryFolder()
    await using server = await startServer()
    const ann = await server.signUp()
    const library = await ann.createLibrary()
    await (await SyncClient.link(ann, library)).push({ sub: { 'a.txt': 'one' }, 'b.txt': 'two' })
    const [to, outside] = [path.join(folder.path, 'to'), path.join(folder.path, 'outside')]
    assert.equal((await exported(server, library, to)).code, 0)
    await rm(path.join(to, 'sub'), { recursive: true })
    await symlink(outside, path.join(to, 'sub'))
    await rm(path.join(to, 'b.txt'))
    await symlink(outside, path.join(to, 'b.txt'))
    const { code, report } = await exported(server, library, to)
    assert.equal(code, 3)
    assert.deepEqual(report.skipped, [{ path: '/sub', reason: 'something else is in its place' }])
    assert.ok((await stat(path.join(to, 'b.txt'))).isFile())
    await assert.rejects(stat(outside))
  })

  it('writes an earlier state, named by a time or a commit', async () => {
    await using folder = await temporaryFolder()
    const began = Math.floor(Date.now() / 1000) - 10_000
    let passed = 0
    await using server = await startServer({ now: () => began + passed })
    const ann = await server.signUp()
    const library = await ann.createLibrary()
    passed = 100
    await uploadFile(ann, library, '/a.txt', 'one')
    const commit = await (await SyncClient.link(ann, library)).head()
    passed = 200
    await uploadFile(ann, library, '/a.txt', 'two', { replace: true })
    const textAt = async (at: string) => {
      const to = path.join(folder.path, at.replace(/\W/g, '-'))
      const done = await exported(server, library, to, '--at', at)
      assert.equal(done.code, 0, done.stderr)
      return readFile(path.join(to, 'a.txt'), 'utf8')
    }
    const time = (seconds: number) => new Date((began + seconds) * 1000).toISOString()
    assert.equal(await textAt(time(150)), 'one')
    assert.equal(await textAt(commit), 'one')
    assert.equal(await textAt(time(250)), 'two')
    const refused = (at: string) => exported(server, library, path.join(folder.path, 'none'), '--at', at)
    assert.match((await refused('1999-01-01')).stderr, /has no state of 1999-01-01/)
    assert.match((await refused('a'.repeat(40))).stderr, /has no state/)
    const unclear = await refused('yesterday')
    assert.match(unclear.stderr, /yesterday is neither a time/)
    assert.equal(unclear.code, 2)
    const unknown = await exported(server, 'nothing', path.join(folder.path, 'none'))
    assert.match(unknown.stderr, /There is no library nothing/)
    await assert.rejects(stat(path.join(folder.path, 'none')))
  })

  for (const version of [2, 3, 4] as const) {
    it(`decrypts an encrypted library of version ${version}, with its password from a file`, async () => {
      await using folder = await temporaryFolder()
      await using server = await startServer()
      const ann = await server.signUp()
      const { id } = await createEncrypted(ann, version)
      const unlocked = await ann.post(`/api/v2.1/repos/${id}/set-password/`, { form: { password: PASSWORD } })
      assert.equal(unlocked.status, 200, unlocked.text)
      await uploadFile(ann, id, '/sub/large.bin', LARGE)
      const to = path.join(folder.path, 'to')
      assert.match((await exported(server, id, to)).stderr, /is encrypted/)
      const file = path.join(folder.path, 'password')
      await writeFile(file, 'wrong\n')
      assert.match((await exported(server, id, to, '--password-file', file)).stderr, /is wrong/)
      await writeFile(file, `${PASSWORD}\n`)
      const done = await exported(server, id, to, '--password-file', file, '--history')
      assert.equal(done.code, 0, done.stderr)
      assert.deepEqual(await readFile(path.join(to, 'sub/large.bin')), LARGE)
      assert.equal(await git(to, 'status', '--porcelain'), '')
    })
  }
})

describe('carrel export --history', () => {
  it('writes a git repository with one commit for each commit, merged ones included', async () => {
    await using folder = await temporaryFolder()
    await using server = await startServer()
    const ann = await server.signUp()
    const library = await ann.createLibrary('Papers')
    const sync = await SyncClient.link(ann, library)
    const odd = { 'odd \\ "name"\n\u0001é': 'odd' }
    const at: string[] = [await sync.head()]
    const push = async (tree: Parameters<SyncClient['push']>[0], parent?: string) => {
      at.push(await sync.push(tree, parent))
    }
    await push({ 'a.txt': 'one', thing: 'a file', sub: odd, 'large.bin': LARGE })
    await push({ 'a.txt': 'two', thing: { 'b.txt': 'b' }, sub: odd, 'large.bin': LARGE })
    await push({ 'a.txt': 'two', thing: 'a file again', moved: odd, 'large.bin': LARGE, 'zero.txt': '' })
    const base = at.at(-1)
    await push({ 'a.txt': 'of the server', moved: odd, empty: {} }, base)
    await push({ 'a.txt': 'two', moved: odd, 'c.txt': 'of the client' }, base)
    const merge = await sync.head()
    assert.notEqual(merge, at.at(-1))
    at.push(merge)

    const to = path.join(folder.path, 'to')
    const done = await exported(server, library, to, '--history')
    assert.equal(done.code, 0, done.stderr)
    assert.equal(done.report.commits, at.length)
    const log = await (await server.admin()).get('/api/v2.1/admin/audit-log/', { action: 'library-exported' })
    assert.deepEqual(
      log.body.entries.map(({ actor, detail }: { actor: string; detail: object }) => [actor, detail]),
      [['operator', { name: 'Papers', history: true }]],
    )
    assert.equal(await git(to, 'fsck', '--full'), '')
    assert.equal(await git(to, 'status', '--porcelain'), '')
    assert.equal(await git(to, 'for-each-ref', '--format=%(refname)'), 'refs/heads/main\n')
    const ids = new Map<string, string>()
    for (const line of (
      await git(to, 'log', '--format=%H %(trailers:key=Carrel-Commit,valueonly,separator=)')
    )
      .trim()
      .split('\n')) {
      const [hash = '', id = ''] = line.split(' ')
      ids.set(id, hash)
    }
    assert.deepEqual([...ids.keys()].sort(), [...at].sort())
    for (const id of at) {
      const wanted = [...(await sync.clone(id))].flatMap(([name, bytes]) =>
        bytes === null ? [] : [[name.slice(1), bytes.toString('latin1')] as const],
      )
      assert.deepEqual(await filesIn(to, ids.get(id) ?? ''), Object.fromEntries(wanted), id)
    }
    const parents = (await git(to, 'log', '-1', '--format=%P %ae %s', 'main')).trim()
    const [ofServer, ofClient] = at.slice(-3)
    assert.equal(
      parents,
      `${ids.get(ofServer ?? '')} ${ids.get(ofClient ?? '')} ${ann.email} Auto merge by system`,
    )

    const side = await exported(
      server,
      library,
      path.join(folder.path, 'side'),
      '--at',
      ofClient ?? '',
      '--history',
    )
    assert.match(side.stderr, /A merge brought/)
    const early = path.join(folder.path, 'early')
    assert.equal((await exported(server, library, early, '--at', base ?? '', '--history')).code, 0)
    assert.equal((await git(early, 'rev-parse', 'main')).trim(), ids.get(base ?? ''))
    assert.equal(await git(early, 'status', '--porcelain'), '')

    const second = await exported(server, library, to, '--history')
    assert.equal(second.code, 1)
    assert.match(second.stderr, /already has a git repository/)
    // As an interrupted export leaves it.
    await writeFile(path.join(to, '.git/carrel-unfinished'), '')
    await rm(path.join(to, '.git/HEAD'))
    const third = await exported(server, library, to, '--history')
    assert.equal(third.code, 0, third.stderr)
    assert.equal(await git(to, 'status', '--porcelain'), '')
    assert.equal((await git(to, 'rev-list', '--count', 'main')).trim(), String(at.length))
  })

  it('leaves out what git cannot hold and what the server has lost, and names it', async () => {
    await using folder = await temporaryFolder()
    await using server = await startServer()
    const ann = await server.signUp()
    const library = await ann.createLibrary()
    const sync = await SyncClient.link(ann, library)
    const lost = randomBytesFrom('lost', 150_000)
    await sync.push({ 'a.txt': 'one', 'b.bin': 'small', project: { '.git': { HEAD: 'ref' }, 'x.txt': 'x' } })
    const tree = makeTree({ 'a.txt': 'two', 'b.bin': lost, project: { '.GIT': 'file' } }, ann.email)
    await sync.push(tree)
    const [block = ''] = [...tree.blocks].flatMap(([id, bytes]) => (bytes.length === lost.length ? [id] : []))
    await rm(path.join(server.data, 'blocks', block.slice(0, 2), block.slice(2)))
    const to = path.join(folder.path, 'to')
    const { code, report } = await exported(server, library, to, '--history')
    assert.equal(code, 3)
    assert.deepEqual(report.skipped.map((one: { path: string }) => one.path).sort(), [
      '/b.bin',
      '/project/.GIT',
      '/project/.git',
    ])
    assert.deepEqual(await filesIn(to, 'main'), { 'a.txt': 'two' })
    assert.deepEqual(await filesIn(to, 'main~1'), { 'a.txt': 'one', 'b.bin': 'small', 'project/x.txt': 'x' })
    assert.equal(await git(to, 'status', '--porcelain'), '')
  })
})

async function temporaryFolder() {
  const created = await mkdtemp(path.join(os.tmpdir(), 'carrel-export-test-'))
  return { path: created, [Symbol.asyncDispose]: () => rm(created, { recursive: true, force: true }) }
}

/** Runs `carrel export` on the data of a running server. */
async function exported(server: TestServer, library: string, to: string, ...more: string[]) {
  const database = server.databaseUrl === undefined ? [] : ['--database', server.databaseUrl]
  const { code, stdout, stderr } = await carrel([
    'export',
    library,
    to,
    '--data',
    server.data,
    ...database,
    '--json',
    ...more,
  ])
  return { code, stderr, report: stdout === '' ? undefined : JSON.parse(stdout) }
}

async function git(folder: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }
  const { stdout } = await promisify(execFile)('git', ['-C', folder, ...args], { env })
  return stdout
}

/** The files of a commit, by path. */
async function filesIn(folder: string, commit: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const line of (await git(folder, 'ls-tree', '-r', '-z', commit)).split('\0')) {
    const [about = '', name] = line.split('\t')
    if (name === undefined) continue
    const { stdout } = await promisify(execFile)(
      'git',
      ['-C', folder, 'cat-file', 'blob', about.split(' ')[2] ?? ''],
      { encoding: 'latin1', maxBuffer: 2 ** 24 },
    )
    found[name] = stdout
  }
  return found
}
