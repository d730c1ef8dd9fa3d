import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { releaseSpace } from '../../src/programs/assembly/release-space.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { rounds } from '../support/tier.ts'
import { eventually, filePart, intoRoot, postForm, uploadLink } from '../support/transfer.ts'

const MB = 1_000_000
const LARGE = { files: rounds(3, 8), bytes: 20 * MB }
const SMALL = { files: rounds(400, 4000), bytes: 10_000 }
const PER_FORM = 200
const GRACE_SECONDS = 600
/** Words that nothing else contains. */
const MARKERS = ['Zwetschgendatschi', 'Quarkkeulchen']
const TABLES = [
  'activity',
  'commit_object',
  'condemned_block',
  'condemned_object',
  'condemned_reference',
  'file_edit',
  'first_seen',
  'fs_object',
  'library',
  'library_block',
  'library_usage',
  'path_origin',
  'received_object',
  'small_block',
  'trash_item',
  'uncommitted_block',
]

let clock = 1_754_000_000

describe('the space of purged data', () => {
  it('is free again, and no content is left in any file', async () => {
    await using server = await startServer({
      now: () => clock,
      env: { CARREL_GC_GRACE_SECONDS: String(GRACE_SECONDS) },
    })
    const user = await server.signUp()
    // Once in small, so that the folders and tables exist that any use creates.
    await fillAndPurge(server, user, { large: 1, small: 20 })
    await collectAll(server)
    const before = { bytes: await diskUse(server.data), rows: await countRows(server) }

    const stored = await fillAndPurge(server, user, { large: LARGE.files, small: SMALL.files })
    assert.ok(stored - before.bytes > LARGE.files * LARGE.bytes, `${stored} bytes were stored`)
    await collectAll(server)

    assert.deepEqual(await countRows(server), before.rows)
    const bytes = await diskUse(server.data)
    const text = `${before.bytes} bytes before, ${stored} with the data, ${bytes} after`
    assert.ok(bytes < before.bytes + 0.03 * (stored - before.bytes), text)
    if (server.databaseUrl === undefined) assert.ok(bytes < before.bytes * 1.1 + 200_000, text)
    for (const marker of MARKERS) assert.deepEqual(await filesWith(server.data, marker), [])
  })
})

/** Stores files, deletes some of them in every way, and purges the library. Resolves to the disk use before anything was deleted. */
async function fillAndPurge(
  server: TestServer,
  user: Client,
  { large, small }: { large: number; small: number },
) {
  const id = await user.createLibrary('Filled')
  const link = await uploadLink(user, id)
  const post = async (parts: ReturnType<typeof filePart>[]) => {
    const reply = await postForm(link, [intoRoot, ...parts])
    assert.equal(reply.status, 200, reply.text)
  }
  for (let n = 0; n < large; n++) await post([filePart(`large-${n}.bin`, randomBytes(LARGE.bytes))])
  for (let n = 0; n < small; n += PER_FORM) {
    const count = Math.min(PER_FORM, small - n)
    await post(
      Array.from({ length: count }, (_, i) => filePart(`small-${n + i}.bin`, randomBytes(SMALL.bytes))),
    )
  }
  const [short = '', long = ''] = MARKERS
  await post([
    filePart('short.txt', `a ${short} in a row`),
    filePart('long.txt', `a ${long} in a file\n`.repeat(9000)),
  ])
  for (const marker of MARKERS) {
    await eventually(async () => {
      const found = await user.get('/api2/search/', { q: marker })
      assert.equal(found.body?.total, 1, found.text)
    })
  }
  const stored = await diskUse(server.data)
  for (const name of ['short.txt', 'large-0.bin']) await user.delete(`/api/v2.1/repos/${id}/file/?p=/${name}`)
  assert.equal((await user.delete(`/api/v2.1/repos/${id}/trash/`)).status, 200)
  const limit = await user.put(`/api2/repos/${id}/history-limit/`, { form: { keep_days: 0 } })
  assert.ok([200, 404, 405].includes(limit.status), limit.text)
  assert.equal((await user.delete(`/api2/repos/${id}/`)).status, 200)
  assert.equal((await user.delete('/api/v2.1/deleted-repos/')).status, 200)
  return stored
}

/** As the server does every hour, until nothing is waiting. */
async function collectAll({ running }: TestServer): Promise<void> {
  const { gc, search } = running.services
  const { signal } = new AbortController()
  for (let run = 0; run < 5; run++) {
    const { condemned, waitingBytes } = await gc.runOnce()
    if (run > 1 && waitingBytes === 0 && Object.values(condemned).every((count) => count === 0)) break
    clock += GRACE_SECONDS + 1
  }
  await search.reindexing.look()
  await releaseSpace(running.services, signal, { atOnce: true })
}

async function countRows({ running }: TestServer): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of TABLES) {
    const row = await running.services.db.get<{ n: number }>(`select count(*) as n from ${table}`)
    counts[table] = row?.n ?? 0
  }
  return counts
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name))
}

/** As `du` counts: blocks that the file system uses. */
async function diskUse(folder: string): Promise<number> {
  let bytes = 0
  for (const file of await listFiles(folder)) bytes += (await stat(file)).blocks * 512
  return bytes
}

async function filesWith(folder: string, text: string): Promise<string[]> {
  const found: string[] = []
  for (const file of await listFiles(folder)) if ((await readFile(file)).includes(text)) found.push(file)
  return found
}
