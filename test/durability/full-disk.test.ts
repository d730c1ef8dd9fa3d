import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, open, readdir, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { canHaveDisk, spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { ADMIN } from '../support/server.ts'
import { eventually, namesIn, postForm, uploadLink } from '../support/transfer.ts'

const MB = 1_000_000
const DISK_MB = 80

it('a full disk loses no acknowledged write, reads continue, and writes continue once there is space', async (t) => {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-full-disk-'))
  try {
    if (!canHaveDisk(data)) {
      t.skip('a tmpfs cannot be mounted here (needs root)')
      return
    }
    await using server = await spawnServer(data, { CARREL_LOG: 'fatal' }, { diskMegabytes: DISK_MB })
    const seen = path.join('/proc', String(server.process.pid), 'root', data)
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const library = await client.createLibrary('Full')
    const link = await uploadLink(client, library)
    const kept = new Map<string, Buffer>()
    const send = async (name: string, size: number, headers: Record<string, string> = {}) => {
      const bytes = randomBytes(size)
      const { status } = await postForm(link, [['parent_dir', '/'], { filename: name, bytes }], { headers })
      if (status === 200 && headers['Content-Range'] === undefined) kept.set(name, bytes)
      return status
    }
    const check = async () => {
      assert.deepEqual(await namesIn(client, library), [...kept.keys()].sort())
      for (const [name, bytes] of kept) {
        const { body } = await client.get(`/api2/repos/${library}/file/`, { p: `/${name}` })
        assert.ok(Buffer.from(await (await fetch(body)).arrayBuffer()).equals(bytes), name)
      }
    }

    assert.equal(await send('before.bin', 2 * MB), 200)
    const shared = { repo_id: library, path: '/before.bin' }
    const { body: share } = await client.post('/api/v2.1/share-links/', { json: shared })
    // Larger than the disk: refused in its middle, and its space is free again by itself.
    assert.equal(await send('too-large.bin', DISK_MB * 1.5 * MB), 507)
    assert.equal(await send('after.bin', DISK_MB * 0.5 * MB), 200)
    await check()

    await fill(seen)
    for (let n = 0; n < 20; n++) {
      const status = await send(`small-${n}.bin`, 4096)
      assert.ok(status === 200 || status === 507, String(status))
      await fill(seen)
    }
    assert.equal(await send('medium.bin', MB), 507)
    assert.equal(await send('chunk.bin', MB, { 'Content-Range': `bytes 0-${MB - 1}/${2 * MB}` }), 507)
    await check()
    assert.equal((await fetch(`${share.link}?dl=1`)).status, 200)
    assert.equal((await client.get('/api2/ping/')).status, 200)

    await rm(path.join(seen, 'ballast'))
    await eventually(async () => assert.equal(await send('again.bin', 5 * MB), 200))
    await check()
    assert.deepEqual(await readdir(path.join(seen, 'blocks/tmp')), [])
    assert.equal(await server.stop(), 0)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

it('a full disk still lets users sign in and delete, and refuses uploads with words', async (t) => {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-full-disk-'))
  try {
    if (!canHaveDisk(data)) {
      t.skip('a tmpfs cannot be mounted here (needs root)')
      return
    }
    const env = { CARREL_LOG: 'fatal', CARREL_TEST_RESERVE_MB: '8' }
    await using server = await spawnServer(data, env, { diskMegabytes: DISK_MB })
    const seen = path.join('/proc', String(server.process.pid), 'root', data)
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const library = await client.createLibrary('Full')
    const link = await uploadLink(client, library)
    const send = (filename: string, size: number) =>
      postForm(link, [['parent_dir', '/'], { filename, bytes: randomBytes(size) }])
    assert.equal((await send('before.bin', 2 * MB)).status, 200)
    await eventually(async () => assert.equal((await stat(path.join(seen, 'reserve'))).size, 8 * MB))

    await fill(seen)
    // The first writes may still fit into pages of the database that are free.
    await eventually(async () => {
      const { status, text } = await send('small.bin', 40_000)
      assert.equal(status, 507, text)
      assert.match(text, /no disk space left/)
    })
    const again = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    assert.equal((await send('medium.bin', MB)).status, 507)
    const ready = await fetch(`${server.url}/readyz`)
    assert.deepEqual(
      [ready.status, await ready.json()],
      [200, { status: 'ok', checks: { database: 'ok', disk: 'full', writers: 'ok' } }],
    )
    const deleted = await again.delete(`/api/v2.1/repos/${library}/file/?p=/before.bin`)
    assert.equal(deleted.status, 200, deleted.text)
    assert.equal((await again.delete(`/api2/repos/${library}/`)).status, 200)

    await rm(path.join(seen, 'ballast'))
    const other = await again.createLibrary('Other').catch(() => undefined)
    await eventually(async () => {
      const id = other ?? (await again.createLibrary('Other'))
      const place = await uploadLink(again, id)
      const { status } = await postForm(place, [
        ['parent_dir', '/'],
        { filename: 'a', bytes: randomBytes(MB) },
      ])
      assert.equal(status, 200)
    })
    await eventually(async () => assert.equal((await stat(path.join(seen, 'reserve'))).size, 8 * MB))
    assert.equal(await server.stop(), 0)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

/** Takes all the space that is left on the disk of a folder. */
async function fill(folder: string): Promise<void> {
  await using file = await open(path.join(folder, 'ballast'), 'a')
  for (let size = MB; size >= 1; ) {
    try {
      await file.write(Buffer.alloc(size))
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
      size = Math.floor(size / 2)
    }
  }
}
