import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { it } from 'node:test'
import { checkServer } from '../support/check.ts'
import type { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { onBothDatabases } from '../support/databases.ts'
import { createEncrypted, download, PASSWORD } from '../support/encrypted.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, uploadFile } from '../support/transfer.ts'
import { flagsOf, temporaryFolder } from './support.ts'

/** `carrel restore` into a running server. */
function restorer(server: TestServer, target: string) {
  const run = (...args: string[]) => carrel(['restore', target, '--json', ...flagsOf(server), ...args])
  return {
    run,
    async done(...args: string[]) {
      const { code, stdout, stderr } = await run(...args)
      assert.equal(code, 0, stderr || stdout)
      return JSON.parse(stdout) as {
        path: string
        outcome: string
        files: number
        read: number
        library: string
      }
    },
    async refused(expected: RegExp, ...args: string[]) {
      const { code, stderr } = await run(...args)
      assert.notEqual(code, 0)
      assert.match(stderr, expected)
    },
  }
}

async function commitCount(client: Client, library: string): Promise<number> {
  return (await client.get(`/api/v2.1/repos/${library}/history/`, { per_page: 100 })).body.data.length
}

async function remove(client: Client, library: string, kind: 'file' | 'dir', at: string): Promise<void> {
  const reply = await client.delete(`/api2/repos/${library}/${kind}/`, { query: { p: at } })
  assert.equal(reply.status, 200, reply.text)
}

onBothDatabases('restoring one path into a running server', (fresh) => {
  it('adds a file or folder with one commit, and replaces only on request', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const env: Record<string, string> = {}
    if (database.setting?.kind === 'postgres') env['CARREL_DATABASE'] = database.setting.url
    await using server = await startServer({ env })
    const ann = await server.signUp({ email: 'ann@example.org' })
    const library = await ann.createLibrary('Papers')
    const other = await ann.createLibrary('Other')
    const large = randomBytes(300_000)
    await uploadFile(ann, library, '/plans/2026/large.bin', large)
    await uploadFile(ann, library, '/plans/note.txt', 'first')
    // Enough entries that later versions of the folder are stored as differences.
    for (let number = 0; number < 40; number++)
      await uploadFile(ann, library, `/plans/many/${number}.txt`, `${number}`)
    assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
    const restore = restorer(server, target)
    const here = ['--library', library]

    // Deleted: it comes back where it was, with one commit.
    await remove(ann, library, 'file', '/plans/note.txt')
    const before = await commitCount(ann, library)
    const back = await restore.done(...here, '--path', '/plans/note.txt')
    assert.deepEqual([back.path, back.outcome, back.files], ['/plans/note.txt', 'added', 1])
    assert.equal(String(await download(ann, library, '/plans/note.txt')), 'first')
    assert.equal(await commitCount(ann, library), before + 1)

    // There already: nothing changes.
    assert.equal((await restore.done(...here, '--path', '/plans/note.txt')).outcome, 'unchanged')
    assert.equal(await commitCount(ann, library), before + 1)

    // Changed since: a numbered name, or a new revision on request.
    await uploadFile(ann, library, '/plans/note.txt', 'second', { replace: true })
    const beside = await restore.done(...here, '--path', '/plans/note.txt')
    assert.deepEqual([beside.path, beside.outcome], ['/plans/note (1).txt', 'added'])
    assert.equal(String(await download(ann, library, '/plans/note.txt')), 'second')
    assert.equal(String(await download(ann, library, '/plans/note (1).txt')), 'first')
    const replaced = await restore.done(...here, '--path', '/plans/note.txt', '--replace')
    assert.deepEqual([replaced.path, replaced.outcome], ['/plans/note.txt', 'replaced'])
    assert.equal(String(await download(ann, library, '/plans/note.txt')), 'first')
    const revisions = await ann.get(`/api2/repos/${library}/file/history/`, { p: '/plans/note.txt' })
    assert.ok(revisions.body.commits.length >= 3, 'the replaced version is in the history')

    // A folder, purged with all its blocks from what is reachable.
    await uploadFile(ann, library, '/plans/added-later.txt', 'later')
    const folderBeside = await restore.done(...here, '--path', '/plans')
    assert.deepEqual([folderBeside.path, folderBeside.files], ['/plans (1)', 42])
    assert.deepEqual(await download(ann, library, '/plans (1)/2026/large.bin'), large)
    assert.equal(String(await download(ann, library, '/plans (1)/many/39.txt')), '39')
    assert.equal(String(await download(ann, library, '/plans/added-later.txt')), 'later')
    await restore.done(...here, '--path', '/plans', '--replace')
    assert.deepEqual((await namesIn(ann, library, '/plans')).sort(), ['2026/', 'many/', 'note.txt'])

    // Another library and folder, which is created. Its blocks come from the backup.
    const moved = await restore.done(
      ...here,
      '--path',
      '/plans/2026',
      '--to-library',
      other,
      '--to-folder',
      '/from backup/x',
    )
    assert.deepEqual([moved.library, moved.path], [other, '/from backup/x/2026'])
    assert.ok(moved.read > 0)
    assert.deepEqual(await download(ann, other, '/from backup/x/2026/large.bin'), large)

    const listed = await carrel(['backup', 'files', target, ...here, '--path', '/plans', '--json'])
    const names = JSON.parse(listed.stdout).files.map(({ name }: { name: string }) => name)
    assert.deepEqual(names.sort(), ['2026', 'many', 'note.txt'])

    await restore.refused(/No snapshot in .* matches 1999/, ...here, '--path', '/plans', '--snapshot', '1999')
    await restore.refused(/has no \/nowhere in the snapshot/, ...here, '--path', '/nowhere')
    const unknown = '00000000-0000-4000-8000-000000000000'
    await restore.refused(/has no library 0000/, '--library', unknown, '--path', '/plans')
    await restore.refused(
      /The server has no library 0000/,
      ...here,
      '--path',
      '/plans',
      '--to-library',
      unknown,
    )
    await restore.refused(/is a file/, ...here, '--path', '/plans/2026', '--to-folder', '/plans/note.txt')
    await restore.refused(/Give --library as well/, '--path', '/plans')
    await restore.refused(/Give --path as well/, ...here, '--replace')
    await restore.refused(/leave out --path/, ...here, '--path', '/')
    const report = await checkServer(server)
    assert.deepEqual(report.findings, [])

    // The library is gone: the whole of it has to be restored, or another one named.
    await ann.delete(`/api/v2.1/repos/${library}/`)
    await restore.refused(/has no library .* any more: restore it as a whole/, ...here, '--path', '/plans')
  })
})

it('restores files of an encrypted library into that library only', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  await using server = await startServer()
  const ann = await server.signUp()
  const { id } = await createEncrypted(ann, 2)
  const unlocked = await ann.post(`/api/v2.1/repos/${id}/set-password/`, { form: { password: PASSWORD } })
  assert.equal(unlocked.status, 200, unlocked.text)
  const secret = randomBytes(200_000)
  await uploadFile(ann, id, '/secret.bin', secret)
  assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
  await remove(ann, id, 'file', '/secret.bin')
  const restore = restorer(server, target)
  await restore.done('--library', id, '--path', '/secret.bin')
  assert.deepEqual(await download(ann, id, '/secret.bin'), secret)
  const plain = await ann.createLibrary('Plain')
  await restore.refused(
    /is encrypted, and its files can be restored only into the library/,
    '--library',
    id,
    '--path',
    '/secret.bin',
    '--to-library',
    plain,
  )
})

it('replaces damaged blocks of a file whose content did not change', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  await using server = await startServer()
  const ann = await server.signUp()
  const library = await ann.createLibrary('Papers')
  const [large, small] = [randomBytes(200_000), randomBytes(5000)]
  await uploadFile(ann, library, '/large.bin', large)
  await uploadFile(ann, library, '/small.bin', small)
  assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
  const [file] = await blockFiles(server)
  await writeFile(file ?? '', randomBytes(200_000))
  const { db } = server.running.services
  await db.write((tx) => tx.run('update small_block set data = ?', randomBytes(5000)))
  const restore = restorer(server, target)
  assert.equal((await restore.done('--library', library, '--path', '/large.bin')).outcome, 'unchanged')
  assert.equal((await restore.done('--library', library, '--path', '/small.bin')).outcome, 'unchanged')
  assert.deepEqual((await checkServer(server)).findings, [])
  assert.deepEqual(await download(ann, library, '/large.bin'), large)
  assert.deepEqual(await download(ann, library, '/small.bin'), small)
})

it('leaves out files that the server had lost before the backup, and names them', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  await using server = await startServer()
  const ann = await server.signUp()
  const library = await ann.createLibrary('Papers')
  await uploadFile(ann, library, '/docs/lost.bin', randomBytes(200_000))
  await uploadFile(ann, library, '/docs/deep/kept.txt', 'kept')
  for (const file of await blockFiles(server)) await rm(file)
  assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 3)
  await remove(ann, library, 'dir', '/docs')
  const restore = restorer(server, target)
  const partial = await restore.run('--library', library, '--path', '/docs')
  assert.equal(partial.code, 3, partial.stderr)
  assert.deepEqual(JSON.parse(partial.stdout).leftOut, ['/docs/lost.bin'])
  assert.deepEqual(await namesIn(ann, library, '/docs'), ['deep/'])
  assert.equal(String(await download(ann, library, '/docs/deep/kept.txt')), 'kept')
  await restore.refused(
    /cannot be restored .* Nothing was changed/,
    '--library',
    library,
    '--path',
    '/docs/lost.bin',
  )
})

it('respects the quota of the owner and locks of others', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  await using server = await startServer()
  const ann = await server.signUp({ email: 'ann@example.org' })
  const bob = await server.signUp({ email: 'bob@example.org' })
  const library = await ann.createLibrary('Papers')
  await uploadFile(ann, library, '/big.bin', randomBytes(1_500_000))
  await uploadFile(ann, library, '/locked.txt', 'one')
  assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
  await uploadFile(ann, library, '/locked.txt', 'two', { replace: true })
  const shared = await ann.put(`/api2/repos/${library}/dir/shared_items/?p=/`, {
    form: { share_type: 'user', username: 'bob@example.org', permission: 'rw' },
  })
  assert.equal(shared.status, 200, shared.text)
  const locked = await bob.put(`/api2/repos/${library}/file/`, {
    form: { p: '/locked.txt', operation: 'lock' },
  })
  assert.equal(locked.status, 200, locked.text)
  const restore = restorer(server, target)
  await restore.refused(/is locked by a user/, '--library', library, '--path', '/locked.txt', '--replace')
  const admin = await server.admin()
  const limited = await admin.put('/api/v2.1/admin/users/ann@example.org/', { json: { quota_total: 2 } })
  assert.equal(limited.status, 200, limited.text)
  const args = ['--library', library, '--path', '/big.bin', '--to-folder', '/again']
  await restore.refused(/quota of 2\.?0? MB, which this would exceed/, ...args)
  assert.equal((await namesIn(ann, library)).includes('again/'), false)
})

async function blockFiles(server: TestServer): Promise<string[]> {
  const root = path.join(server.data, 'blocks')
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && isBlock(path.join(path.basename(entry.parentPath), entry.name)))
    .map((entry) => path.join(entry.parentPath, entry.name))
}

const isBlock = (name: string) => name.replace('/', '').length === createHash('sha1').digest('hex').length
