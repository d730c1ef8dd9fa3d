import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { it } from 'node:test'
import type { LibraryId } from '../../src/base/objects/ids.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { getLibrary } from '../../src/libraries/library/libraries.ts'
import { Workspace } from '../api/folders-support.ts'
import { uploadLinkTo } from '../api/links-support.ts'
import type { Client, Reply } from '../support/client.ts'
import { seededRandom, testSeed } from '../support/random.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient, sha1 } from '../support/sync-client.ts'
import { postForm, uploadFile, uploadLink } from '../support/transfer.ts'

const QUOTA = 400_000
const ENTRIES = 60
const ROUNDS = 25
const AT_ONCE = 6
/** The possible responses to an upload: done, not found, out of quota, too many. */
const EXPECTED = new Set([200, 201, 301, 400, 404, 429, 440, 441, 443])

/** An uploader to a library: its owner, another account, or a visitor without one. */
interface Adder {
  readonly link: string
  readonly client: Client | undefined
  readonly sync: SyncClient | undefined
}

async function measured(server: TestServer, user: Client, library: string) {
  const { core } = server.running.services
  const { key, root } = await getLibrary(core, library as LibraryId)
  const stored = await storesOf(core).objects.getDir(key, root)
  const sum = async (sql: string) => (await dbOf(core).get<{ n: number | null }>(sql))?.n ?? 0
  return {
    used: (await user.get('/api2/account/info/')).body.usage as number,
    entries: stored.fileCount + (stored.dirCount ?? Number.NaN),
    chunks: await sum('select sum(length) as n from staged_block'),
    visitors: await sum('select sum(received) as n from partial_upload where guest = 2'),
    uncommitted: await sum('select sum(size) as n from uncommitted_block'),
  }
}

it('uploads never exceed a limit under concurrent random operations', async (t) => {
  const seed = testSeed()
  t.diagnostic(`seed ${seed}`)
  const random = seededRandom(seed)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] ?? assert.fail()
  const between = (low: number, high: number) => Math.floor(low + random() * (high - low))

  await using server = await startServer({
    env: { CARREL_MAX_LIBRARY_ENTRIES: String(ENTRIES), CARREL_MAX_COMMIT_ENTRIES: '30' },
  })
  const space = await Workspace.make(server)
  const { client: owner, id: library } = space
  const member = await server.signUp()
  const form = { share_type: 'user', username: member.email, permission: 'rw' }
  const shared = await owner.put(`/api2/repos/${library}/dir/shared_items/`, { query: { p: '/' }, form })
  assert.equal(shared.status, 200, shared.text)
  await uploadFile(owner, library, '/n/first.txt', 'first')
  const { token } = await uploadLinkTo(space, '/')
  const visit = await server.anonymous.get(`/api/v2.1/upload-links/${token}/upload/`)
  const adders: Adder[] = []
  for (const client of [owner, member]) {
    adders.push({
      client,
      link: await uploadLink(client, library),
      sync: await SyncClient.link(client, library),
    })
  }
  adders.push({ client: undefined, link: visit.body.upload_link, sync: undefined })
  await server.running.services.accounts.update(owner.email, { quota: QUOTA }, undefined)

  const names = ['n', 'a', 'b', 'c']
  const actions: (() => Promise<Reply>)[] = [
    () => {
      const bytes = randomBytes(between(1, 150_000))
      return postForm(pick(adders).link, [['parent_dir', '/'], { filename: pick(names), bytes }])
    },
    () => {
      const total = between(2, 200_000)
      const start = random() < 0.6 ? 0 : between(0, total - 1)
      const bytes = randomBytes(between(1, total - start))
      const headers = {
        'Content-Range': `bytes ${start}-${start + bytes.length - 1}/${total}`,
        'Content-Disposition': `attachment; filename="${pick(names)}"`,
      }
      return postForm(pick(adders).link, [['parent_dir', '/'], { filename: 'x', bytes }], { headers })
    },
    () => {
      const { client = owner } = pick(adders)
      const from = { src_repo_id: library, src_parent_dir: '/', src_dirents: [pick(names)] }
      const json = { ...from, dst_repo_id: library, dst_parent_dir: pick(['/', '/n']) }
      return client.post('/api/v2.1/repos/sync-batch-copy-item/', { json })
    },
    () => {
      const { sync } = pick(adders.slice(0, 2))
      const bytes = randomBytes(between(1, 150_000))
      return sync?.call('PUT', `block/${sha1(bytes)}`, bytes) ?? assert.fail()
    },
    () => {
      const { client = owner } = pick(adders)
      const kind = pick(['file', 'dir'])
      return client.delete(`/api2/repos/${library}/${kind}/`, { query: { p: `/${pick(names)}` } })
    },
  ]
  const seen = new Map<number, number>()
  for (let round = 0; round < ROUNDS; round++) {
    const replies = await Promise.all(Array.from({ length: AT_ONCE }, () => pick(actions)()))
    for (const { status, text } of replies) {
      assert.ok(EXPECTED.has(status), `${status}: ${text}`)
      seen.set(status, (seen.get(status) ?? 0) + 1)
    }
    const now = await measured(server, owner, library)
    const shown = `round ${round}: ${JSON.stringify(now)}`
    assert.ok(now.used < QUOTA, shown)
    assert.ok(now.entries <= ENTRIES, shown)
    assert.ok(now.chunks <= QUOTA, shown)
    assert.ok(now.visitors <= QUOTA / 2, shown)
    assert.ok(now.uncommitted <= QUOTA, shown)
  }
  t.diagnostic(`statuses ${JSON.stringify([...seen])}`)
  assert.ok((seen.get(200) ?? 0) > 0)
  assert.ok((seen.get(443) ?? 0) > 0)
  assert.deepEqual(await server.running.services.db.all('select key from quota_reservation'), [])
})
