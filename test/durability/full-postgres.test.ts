import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, open, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { type PostgresServer, PostgresUnavailable, startPostgres } from '../support/postgres.ts'
import { ADMIN } from '../support/server.ts'
import { eventually, namesIn, postForm, uploadLink } from '../support/transfer.ts'

const DISK_MB = 160

/** A PostgreSQL of its own whose files are in `folder`. */
async function startIn(folder: string): Promise<PostgresServer | undefined> {
  const { CARREL_TEST_POSTGRES: shared, TMPDIR: before } = process.env
  delete process.env['CARREL_TEST_POSTGRES']
  process.env['TMPDIR'] = folder
  try {
    return await startPostgres({ fsync: false })
  } catch (error) {
    if (!(error instanceof PostgresUnavailable) || process.env['CI'] === 'true') throw error
    return undefined
  } finally {
    if (shared !== undefined) process.env['CARREL_TEST_POSTGRES'] = shared
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  }
}

/** Takes all space that is left. */
async function fill(file: string): Promise<void> {
  await using handle = await open(file, 'a')
  for (let size = 1_000_000; size >= 4096; ) {
    try {
      const { bytesWritten } = await handle.write(Buffer.alloc(size))
      if (bytesWritten < size) size = Math.floor(size / 2)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      size = Math.floor(size / 2)
    }
  }
}

it('a PostgreSQL without space loses nothing acknowledged, files can be read, and it goes on when there is space', async (t) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-full-postgres-'))
  const [disk, data] = [path.join(folder, 'disk'), path.join(folder, 'data')]
  spawnSync('mkdir', ['-p', disk, data])
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=1777`, 'carrel', disk])
  try {
    if (mounted.status !== 0) return t.skip('a tmpfs cannot be mounted here (needs root)')
    await chmod(folder, 0o755)
    await using postgres = await startIn(disk)
    if (postgres === undefined) return t.skip('PostgreSQL cannot be started here')
    const env = { CARREL_DATABASE: await postgres.createDatabase(), CARREL_LOG: 'silent' }
    await using server = await spawnServer(data, env)
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    const library = await client.createLibrary('Full')
    const link = await uploadLink(client, library)
    const kept = new Map<string, Buffer>()
    const send = async (name: string, size: number) => {
      const bytes = randomBytes(size)
      const { status, text } = await postForm(link, [['parent_dir', '/'], { filename: name, bytes }])
      if (status === 200) kept.set(name, bytes)
      return { status, text }
    }
    const expectAll = async () => {
      assert.deepEqual(await namesIn(client, library), [...kept.keys()].toSorted())
      for (const [name, bytes] of kept) {
        const { body, status, text } = await client.get(`/api2/repos/${library}/file/`, { p: `/${name}` })
        assert.equal(status, 200, text)
        assert.ok(Buffer.from(await (await fetch(body)).arrayBuffer()).equals(bytes), name)
      }
    }
    for (const size of [1000, 60_000, 2_000_000]) assert.equal((await send(`${size}.bin`, size)).status, 200)
    await fill(path.join(disk, 'ballast'))
    // Pages of the tables that are free take some rows still.
    let refused = 0
    for (let number = 0; number < 60 && refused < 5; number++) {
      const { status, text } = await send(`more ${number}.bin`, 60_000)
      if (status === 200) continue
      refused += 1
      assert.equal(status, 507, text)
      assert.match(text, /no disk space left/)
    }
    assert.equal(refused, 5)
    const ready = await fetch(`${server.url}/readyz`)
    assert.deepEqual(
      [ready.status, ((await ready.json()) as { checks: object }).checks],
      [200, { database: 'ok', disk: 'full', writers: 'ok' }],
    )
    await expectAll()
    await rm(path.join(disk, 'ballast'))
    await eventually(async () => assert.equal((await send('again.bin', 60_000)).status, 200))
    await expectAll()
    assert.equal(await server.stop(), 0)
  } finally {
    if (mounted.status === 0) spawnSync('umount', ['-l', disk])
    await rm(folder, { recursive: true, force: true })
  }
})
