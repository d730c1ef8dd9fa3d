import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import path from 'node:path'
import { it } from 'node:test'
import { restoredLibraries } from '../../src/libraries/registry/restored-library-store.ts'
import type { Value } from '../../src/platform/database/index.ts'
import { Client } from '../support/client.ts'
import { carrel } from '../support/command.ts'
import { onBothDatabases } from '../support/databases.ts'
import { createEncrypted, download } from '../support/encrypted.ts'
import { startServer } from '../support/server.ts'
import { namesIn, uploadFile } from '../support/transfer.ts'
import { flagsOf, temporaryFolder } from './support.ts'

onBothDatabases('restoring a part of a backup into a running server', (fresh) => {
  it('brings back a library, purged or not, and never changes an existing one', async (t) => {
    const database = await fresh(t)
    if (database === undefined) return
    await using folder = await temporaryFolder()
    const target = path.join(folder.path, 'target')
    const env: Record<string, string> = {}
    if (database.setting?.kind === 'postgres') env['CARREL_DATABASE'] = database.setting.url
    await using server = await startServer({ env })
    const flags = flagsOf(server)
    const ann = await server.signUp({ email: 'ann@example.org' })
    const library = await ann.createLibrary('Papers')
    const large = randomBytes(300_000)
    await uploadFile(ann, library, '/large.bin', large)
    await uploadFile(ann, library, '/folder/small.txt', 'first')
    const { id: encrypted } = await createEncrypted(ann, 2)
    assert.equal((await carrel(['backup', target, ...flags])).code, 0)
    await uploadFile(ann, library, '/folder/small.txt', 'second', { replace: true })

    // The library still exists: the older state comes beside it.
    const restore = (...more: string[]) => carrel(['restore', target, '--json', ...flags, ...more])
    const beside = await restore('--library', library)
    assert.equal(beside.code, 0, beside.stderr)
    const [copy] = JSON.parse(beside.stdout).libraries
    assert.notEqual(copy.id, library)
    assert.match(copy.name, /^Papers \(\d{4}-\d\d-\d\d\)$/)
    assert.deepEqual(await download(ann, copy.id, '/large.bin'), large)
    assert.equal(String(await download(ann, copy.id, '/folder/small.txt')), 'first')
    assert.equal(String(await download(ann, library, '/folder/small.txt')), 'second')
    const history = await ann.get(`/api/v2.1/repos/${copy.id}/history/`)
    assert.ok(history.body.data.length >= 3, 'the history is restored, too')
    await uploadFile(ann, copy.id, '/after.txt', 'it can be written')
    assert.deepEqual((await namesIn(ann, copy.id)).sort(), ['after.txt', 'folder/', 'large.bin'])

    // A purged one comes back under its id.
    const admin = await server.admin()
    assert.equal((await ann.delete(`/api/v2.1/repos/${library}/`)).status, 200)
    assert.equal((await admin.delete(`/api/v2.1/admin/trash-libraries/${library}/`)).status, 200)
    const purged = await restore('--library', library)
    assert.equal(purged.code, 0, purged.stderr)
    assert.equal(JSON.parse(purged.stdout).libraries[0].id, library)
    assert.deepEqual(await download(ann, library, '/large.bin'), large)

    // An encrypted library cannot have another id, because its password depends on it.
    const refused = await restore('--library', encrypted)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /is encrypted, and its password fits only its id/)
    const unknown = await restore('--library', '00000000-0000-4000-8000-000000000000')
    assert.match(unknown.stderr, /has no library/)
  })
})

it('leaves a deleted library when it is killed, which check accepts and nobody can bring back', async () => {
  await using server = await startServer()
  const ann = await server.signUp()
  const library = await ann.createLibrary('Papers')
  await uploadFile(ann, library, '/a.bin', randomBytes(200_000))
  const { db, gc } = server.running.services
  const { key: from, ...row } =
    (await db.get<Record<string, Value>>('select * from library where id = ?', library)) ?? {}
  const id = randomUUID()
  // As a restore does before it copies objects.
  await db.write(async (tx) => {
    const key = await restoredLibraries.insert(tx, { ...row, id, name: 'Papers (restore unfinished)' }, 1)
    const { names } = (await tx.get<{ names: string }>(
      "select group_concat(name) as names from pragma_table_info('commit_object') where name != 'library_key'",
    )) ?? { names: '' }
    const copied = `insert into commit_object (library_key, ${names}) select ?, ${names} from commit_object where library_key = ?`
    assert.ok((await tx.run(copied, key ?? 0, from ?? 0)) > 1)
  })
  const checked = await carrel(['check', '--read-data', ...flagsOf(server)])
  assert.equal(checked.code, 0, checked.stdout)
  assert.deepEqual((await gc.runOnce()).deleted.commits, 0)
  const undeleted = await ann.post('/api/v2.1/deleted-repos/', { form: { repo_id: id } })
  assert.equal(undeleted.status, 400, undeleted.text)
  assert.equal((await ann.get(`/api2/repos/${id}/`)).status, 404)
})

it('brings back an account with its libraries and password in another server', async () => {
  await using folder = await temporaryFolder()
  const target = path.join(folder.path, 'target')
  const content = randomBytes(200_000)
  const library = await (async () => {
    await using server = await startServer()
    const ann = await server.signUp({ email: 'ann@example.org', password: 'a long password' })
    const bob = await server.signUp({ email: 'bob@example.org' })
    const id = await ann.createLibrary('Papers')
    await uploadFile(ann, id, '/a.bin', content)
    await uploadFile(bob, await bob.createLibrary('Of Bob'), '/b.txt', 'b')
    assert.equal((await carrel(['backup', target, ...flagsOf(server)])).code, 0)
    const listed = await carrel(['backup', 'libraries', target])
    assert.match(listed.stdout, new RegExp(`${id} +ann@example.org +1 +200 kB +Papers`))
    return id
  })()
  await using other = await startServer()
  const done = await carrel(['restore', target, '--account', 'ann@example.org', ...flagsOf(other)])
  assert.equal(done.code, 0, done.stderr)
  const ann = await Client.signIn(other.url, 'ann@example.org', 'a long password')
  assert.deepEqual(await download(ann, library, '/a.bin'), content)
  const all = await (await other.admin()).get('/api/v2.1/admin/libraries/')
  assert.deepEqual(
    all.body.repos.map(({ name }: { name: string }) => name),
    ['Papers'],
  )
})
