import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { accountRequester } from '../../src/base/scheduling/shared-work.ts'
import type { Client } from '../support/client.ts'
import { createEncrypted, download, openEncrypted } from '../support/encrypted.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, uploadFile } from '../support/transfer.ts'
import { type BuiltEntry, buildZip } from '../support/zip-builder.ts'
import { Workspace } from './folders-support.ts'
import { shareWith } from './sharing-support.ts'
import { cancel, ended, holdTasks } from './tasks-support.ts'

const LARGE = Buffer.alloc(3_000_000, 'not random at all ')

const GOOD: readonly BuiltEntry[] = [
  { name: 'readme.txt', content: 'read me' },
  { name: 'Photos/', mode: 0o040755 },
  { name: 'Photos/2020/beach.txt', content: 'sand' },
  { name: 'Photos/2021/snow.txt', content: 'cold', method: 0 },
  { name: 'large.bin', content: LARGE },
  { name: 'Bücher/Über.txt', content: 'book' },
  { name: 'Empty/', mode: 0o040755 },
]

const HOSTILE: readonly BuiltEntry[] = [
  { name: '../outside.txt', content: 'x' },
  { name: 'a/../../outside.txt', content: 'x' },
  { name: '/absolute.txt', content: 'x' },
  { name: 'C:\\Windows\\system.ini', content: 'x' },
  { name: '..\\backslash.txt', content: 'x' },
  { name: 'nul\0.txt', content: 'x' },
  { name: `${'long'.repeat(100)}.txt`, content: 'x' },
  { name: `${'deep/'.repeat(200)}file.txt`, content: 'x' },
  { name: 'link', content: '/etc/passwd', mode: 0o120777 },
  { name: 'pipe', mode: 0o010644 },
]

const DAMAGED: BuiltEntry = { name: 'damaged', content: 'x', claimedChecksum: 1 }

describe('zip archives', () => {
  let server: TestServer
  before(async () => {
    server = await startServer()
  })
  after(() => server[Symbol.asyncDispose]())

  const put = (space: Workspace, name: string, zip: Uint8Array) =>
    uploadFile(space.client, space.id, `/${name}`, zip)
  const entriesOf = (client: Client, id: string, p: string) =>
    client.get(`/api/v2.1/repos/${id}/file/archive-entries/`, { p })
  const extract = (client: Client, id: string, json: Record<string, unknown>) =>
    client.post(`/api/v2.1/repos/${id}/file/extract-archive/`, {
      json: { dst_repo_id: id, dst_parent_dir: '/', ...json },
    })
  async function extracted(space: Workspace, json: Record<string, unknown>) {
    const reply = await extract(space.client, space.id, json)
    assert.equal(reply.status, 200, reply.text)
    return ended(space.client, reply.body.task_id)
  }
  const textAt = async (space: Workspace, path: string) =>
    (await download(space.client, space.id, path)).toString()

  it('lists the entries of an archive with their sizes', async () => {
    const space = await Workspace.make(server)
    await put(space, 'good.zip', buildZip(GOOD))
    const { status, body } = await entriesOf(space.client, space.id, '/good.zip')
    assert.equal(status, 200)
    assert.equal(body.total, GOOD.length)
    assert.deepEqual(
      body.entries.map(({ path, is_dir, size }: Record<string, unknown>) => [path, is_dir, size]),
      [
        ['readme.txt', false, 7],
        ['Photos', true, 0],
        ['Photos/2020/beach.txt', false, 4],
        ['Photos/2021/snow.txt', false, 4],
        ['large.bin', false, LARGE.length],
        ['Bücher/Über.txt', false, 4],
        ['Empty', true, 0],
      ],
    )
    assert.ok(body.entries[4].packed_size < 20_000)
    assert.equal(new Date(body.entries[0].mtime * 1000).getFullYear(), 2020)
  })

  it('extracts everything into a new folder, in one commit', async () => {
    const space = await Workspace.make(server)
    await put(space, 'good.zip', buildZip(GOOD))
    await space.folder('/good')
    const progress = await extracted(space, { p: '/good.zip', folder_name: 'good' })
    assert.deepEqual(progress, {
      done: 5,
      total: 5,
      canceled: false,
      failed: false,
      successful: true,
      failed_reason: '',
    })
    assert.deepEqual(await space.names('/good'), [])
    assert.deepEqual((await space.names('/good (1)')).toSorted(), [
      'Bücher',
      'Empty',
      'Photos',
      'large.bin',
      'readme.txt',
    ])
    assert.equal(await textAt(space, '/good (1)/Photos/2021/snow.txt'), 'cold')
    assert.equal(await textAt(space, '/good (1)/Bücher/Über.txt'), 'book')
    assert.ok((await download(space.client, space.id, '/good (1)/large.bin')).equals(LARGE))
    assert.deepEqual(await space.names('/good (1)/Empty'), [])
    const { body } = await space.client.get(space.v21('file/'), { p: '/good (1)/readme.txt' })
    assert.match(body.mtime ?? body.last_modified, /^2020-03-0/)
    assert.match((await space.lastCommit()) ?? '', /"good \(1\)"/)
  })

  it('extracts chosen entries of a folder and replaces nothing', async () => {
    const space = await Workspace.make(server)
    await put(space, 'good.zip', buildZip(GOOD))
    await uploadFile(space.client, space.id, '/to/2021', 'a file with the name of a folder')
    const progress = await extracted(space, {
      p: '/good.zip',
      base: 'Photos',
      names: ['2021'],
      dst_parent_dir: '/to',
    })
    assert.equal(progress.successful, true)
    assert.deepEqual((await space.names('/to')).toSorted(), ['2021', '2021 (1)'])
    assert.equal(await textAt(space, '/to/2021 (1)/snow.txt'), 'cold')
    const other = await Workspace.make(server, space.client, 'Other')
    const across = await extracted(space, {
      p: '/good.zip',
      names: ['readme.txt'],
      dst_repo_id: other.id,
    })
    assert.equal(across.successful, true)
    assert.deepEqual(await other.names(), ['readme.txt'])
  })

  it('never extracts unsafe names, links and devices', async () => {
    const space = await Workspace.make(server)
    await put(space, 'bad.zip', buildZip([...HOSTILE, { name: './fine\\file.txt', content: 'fine' }]))
    const { body } = await entriesOf(space.client, space.id, '/bad.zip')
    assert.deepEqual(
      body.entries.map(({ refusal }: { refusal: string }) => refusal),
      [...HOSTILE.map(({ mode }) => (mode === undefined ? 'name' : 'link')), ''],
    )
    await space.folder('/in/here')
    const progress = await extracted(space, { p: '/bad.zip', dst_parent_dir: '/in/here' })
    assert.equal(progress.successful, true)
    assert.deepEqual(await space.names(), ['in', 'bad.zip'])
    assert.deepEqual(await space.names('/in'), ['here'])
    assert.deepEqual(await space.names('/in/here'), ['fine'])
    assert.equal(await textAt(space, '/in/here/fine/file.txt'), 'fine')
    const onlyBad = await extracted(space, { p: '/bad.zip', names: ['link', 'pipe'] })
    assert.equal(onlyBad.failed_reason, 'The file has no such entries')
  })

  it('refuses archives that lie about their content', async () => {
    const space = await Workspace.make(server)
    const one = (more: Partial<BuiltEntry>) => buildZip([{ name: 'a.txt', content: 'some text', ...more }])
    const cases: readonly [Uint8Array, string][] = [
      [one({ claimedSize: 3 }), 'The file is damaged'],
      [one({ claimedSize: 4_000 }), 'The file is damaged'],
      [one({ claimedChecksum: 1 }), 'The file is damaged'],
      [one({ claimedSize: 0xfffffffe }), 'The file would unpack to far more than its size'],
      [one({ flags: 1, method: 8 }), 'The file is protected by a password'],
      [one({ method: 14 }), 'The file is packed in an unknown way'],
      [Buffer.from('no zip'), 'The file is no zip archive, or damaged'],
      [buildZip(GOOD).subarray(2000), 'The file is damaged'],
    ]
    for (const [index, [zip, reason]] of cases.entries()) {
      await put(space, `${index}.zip`, zip)
      const progress = await extracted(space, { p: `/${index}.zip` })
      assert.equal(progress.failed_reason, reason, String(index))
      assert.equal(progress.failed, true)
    }
    assert.equal((await space.names()).length, cases.length)
    const listed = await entriesOf(space.client, space.id, '/6.zip')
    assert.equal(listed.status, 422)
    assert.deepEqual(listed.body, { error_msg: 'The file is no zip archive, or damaged.' })
  })

  it('extracts the last of several entries with one path, and a folder rather than a file', async () => {
    const space = await Workspace.make(server)
    const zip = buildZip([
      { name: 'a', content: 'file' },
      { name: 'a/b.txt', content: 'below' },
      { name: 'c.txt', content: 'first' },
      { name: 'c.txt', content: 'second' },
    ])
    await put(space, 'twice.zip', zip)
    assert.equal((await extracted(space, { p: '/twice.zip', folder_name: 'out' })).successful, true)
    assert.equal(await textAt(space, '/out/a/b.txt'), 'below')
    assert.equal(await textAt(space, '/out/c.txt'), 'second')
  })

  it('respects the quota, permissions and cancellation', async () => {
    const space = await Workspace.make(server)
    await put(space, 'good.zip', buildZip(GOOD))
    const reader = await server.signUp()
    await shareWith(space.client, space.id, reader, { permission: 'r' })
    assert.equal((await entriesOf(reader, space.id, '/good.zip')).status, 200)
    assert.equal((await extract(reader, space.id, { p: '/good.zip' })).status, 403)
    const stranger = await server.signUp()
    assert.equal((await entriesOf(stranger, space.id, '/good.zip')).status, 403)
    assert.equal((await extract(space.client, space.id, { p: '/missing.zip' })).status, 404)
    assert.equal((await extract(space.client, space.id, { p: '/good.zip', folder_name: 'a/b' })).status, 400)

    {
      using held = holdTasks(server)
      const { body } = await extract(space.client, space.id, { p: '/good.zip' })
      await held.reached
      assert.equal((await cancel(space.client, body.task_id)).status, 200)
      held.release()
      assert.equal((await ended(space.client, body.task_id)).canceled, true)
    }
    await server.running.services.accounts.update(space.client.email, { quota: 2_000_000 }, undefined)
    const full = await extracted(space, { p: '/good.zip' })
    assert.equal(full.failed_reason, 'Quota is full')
    assert.deepEqual(await namesIn(space.client, space.id), ['good.zip'])
  })

  it('leaves nothing of a damaged archive on the disk', async () => {
    const space = await Workspace.make(server)
    await put(
      space,
      'damaged.zip',
      buildZip([{ name: 'large.bin', content: randomBytes(3_000_000) }, DAMAGED]),
    )
    const stored = () => readdir(path.join(server.data, 'blocks'), { recursive: true, withFileTypes: true })
    const files = async () =>
      new Set((await stored()).filter((entry) => entry.isFile()).map(({ name }) => name))
    const before = await files()
    assert.equal((await extracted(space, { p: '/damaged.zip' })).failed_reason, 'The file is damaged')
    // Files that an earlier test left may be deleted meanwhile.
    assert.deepEqual([...(await files()).difference(before)], [])
  })

  it('limits what failed extractions have stored', async () => {
    const space = await Workspace.make(server)
    const { client, id } = space
    await server.running.services.accounts.update(client.email, { quota: 4_000_000 }, undefined)
    const reasons: string[] = []
    for (let count = 1; count <= 5; count++) {
      const small = Array.from({ length: 15 }, (_, index) => ({
        name: `${index}`,
        content: randomBytes(60_000),
      }))
      await put(space, 'damaged.zip', buildZip([...small, DAMAGED]))
      reasons.push((await extracted(space, { p: '/damaged.zip' })).failed_reason)
      await client.delete(space.v21('file/'), { query: { p: '/damaged.zip' } })
    }
    // Each stored 0.9 MB for nothing, which no quota counts until garbage collection frees it. All nodes count together.
    const damaged = 'The file is damaged'
    assert.deepEqual(reasons, [damaged, damaged, damaged, damaged, 'Quota is full'])
    await put(space, 'good.zip', buildZip(GOOD))
    assert.equal((await entriesOf(client, id, '/good.zip')).status, 200)
  })

  it('lists a bounded part of an archive with long names, one archive of an account at a time', async () => {
    const space = await Workspace.make(server)
    const { client } = space
    const entries = Array.from({ length: 60 }, (_, index) => ({ name: `${index}${'\x01'.repeat(60_000)}` }))
    await put(space, 'long.zip', buildZip(entries))
    const { status, body, text } = await entriesOf(client, space.id, '/long.zip')
    assert.equal(status, 200)
    assert.equal(body.total, entries.length)
    assert.equal(body.entries.length, 17)
    assert.ok(text.length < 7 * 2 ** 20, String(text.length))
    const { key } = await server.running.services.accounts.get(client.email)
    const gate = Promise.withResolvers<void>()
    // Each node has a queue of its own.
    const held = server.nodes.map(({ services }) =>
      services.archiveListings.run(accountRequester(key), () => gate.promise),
    )
    await put(space, 'good.zip', buildZip(GOOD))
    const asked = Array.from({ length: 21 * held.length }, () => entriesOf(client, space.id, '/good.zip'))
    const busy = await Promise.race(asked)
    assert.equal(busy.status, 503)
    assert.ok(busy.headers.get('retry-after'))
    const other = await Workspace.make(server)
    await put(other, 'good.zip', buildZip(GOOD))
    assert.equal((await entriesOf(other.client, other.id, '/good.zip')).status, 200)
    gate.resolve()
    await Promise.all(held)
    const statuses = (await Promise.all(asked)).map((reply) => reply.status).sort((a, b) => a - b)
    assert.deepEqual(statuses, [
      ...Array.from({ length: 20 * held.length }, () => 200),
      ...held.map(() => 503),
    ])
  })

  it('extracts from and into encrypted libraries', async () => {
    const space = await Workspace.make(server)
    await put(space, 'good.zip', buildZip(GOOD))
    const { id } = await createEncrypted(space.client, 4)
    const into = { p: '/good.zip', names: ['readme.txt', 'large.bin'], dst_repo_id: id }
    await openEncrypted(space.client, id)
    assert.equal((await extracted(space, into)).successful, true)
    assert.ok((await download(space.client, id, '/large.bin')).equals(LARGE))
    await uploadFile(space.client, id, '/inside.zip', buildZip(GOOD))
    const secret = new Workspace(server, space.client, id)
    assert.equal((await extracted(secret, { p: '/inside.zip', names: ['Photos'] })).successful, true)
    assert.equal(await textAt(secret, '/Photos/2020/beach.txt'), 'sand')
  })
})
