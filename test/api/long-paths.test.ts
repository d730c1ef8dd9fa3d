import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import sharp from 'sharp'
import { createLogger } from '../../src/base/logging.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { SyncClient, type TreeSpec } from '../support/sync-client.ts'
import { eventually } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'
import { shareWith } from './sharing-support.ts'

// Longer than an index entry of PostgreSQL, 2,704 bytes, may be. PostgreSQL compresses them, so the names have to be random.
const digits = (seed: string) => hash('sha512', seed, 'base64url') + hash('sha512', `${seed}+`, 'base64url')
/** 85 characters of 3 bytes, as many as a name may have. */
const wideName = (seed: string) =>
  Array.from({ length: 85 }, (_, at) =>
    String.fromCharCode(0x4e00 + (Number.parseInt(hash('sha1', `${seed} ${at}`).slice(0, 8), 16) % 20_000)),
  ).join('')

/** The longest path that is accepted has 16,384 characters, in 190 folders, and 48 KiB. */
const WIDE = Array.from({ length: 190 }, (_, level) => wideName(`wide ${level}`))
const WIDE_FILE = `needle ${'w'.repeat(16_384 - 190 * 86 - 1 - 'needle .jpg'.length)}.jpg`
/** The longest path that fits in the URL of a request. */
const NARROW = Array.from({ length: 83 }, (_, level) => digits(`narrow ${level}`))
const NARROW_FILE = 'needle.jpg'
const pathOf = (top: string, names: readonly string[], file?: string) =>
  `/${[top, ...names.slice(1), ...(file === undefined ? [] : [file])].join('/')}`

function nested(names: readonly string[], inside: TreeSpec): TreeSpec {
  return names.reduceRight<TreeSpec>((tree, name) => ({ [name]: tree }), inside)
}

describe('a photo at the longest path', () => {
  const errors: string[] = []
  let server: TestServer
  let space: Workspace
  let ann: Client
  let sync: SyncClient
  const wide = pathOf(WIDE[0] ?? '', WIDE, WIDE_FILE)
  const narrow = pathOf(NARROW[0] ?? '', NARROW, NARROW_FILE)

  before(async () => {
    const destination = { write: (line: string) => errors.push(line) }
    server = await startServer({ logger: createLogger('error', { pretty: false, destination }) })
    space = await Workspace.make(server)
    ann = space.client
    sync = await SyncClient.link(ann, space.id)
    await push('#3366cc')
  })
  after(() => server[Symbol.asyncDispose]())

  async function push(background: string): Promise<void> {
    const photo = await sharp({ create: { width: 60, height: 40, channels: 3, background } })
      .jpeg()
      .toBuffer()
    const tree = { ...nested(WIDE, { [WIDE_FILE]: photo }), ...nested(NARROW, { [NARROW_FILE]: photo }) }
    await sync.push(tree)
  }

  /** Resolves once every consumer of commits is at the head. */
  async function settle(): Promise<void> {
    const { services } = server.running
    await eventually(async () => {
      const rows = await dbOf(services.core).all<{ name: string; seq: number; head_seq: number }>(
        `select f.name, f.seq, l.head_seq from library l join follower f on f.library_key = l.key where l.id = ?
         union all select 'photos', p.seq, l.head_seq from library l join photo_library p on p.library_key = l.key where l.id = ?`,
        space.id,
        space.id,
      )
      const names = new Set(rows.map(({ name }) => name))
      assert.deepEqual(
        ['activity', 'paths', 'photos'].filter((name) => !names.has(name)),
        [],
      )
      for (const { name, seq, head_seq } of rows) assert.equal(seq, head_seq, `${name} is behind`)
    })
    await Promise.all(server.nodes.map((node) => node.services.photos.settled()))
    assert.deepEqual(errors, [])
  }

  async function photos(client: Client): Promise<string[]> {
    const reply = await client.get('/api/v2.1/photos/')
    assert.equal(reply.status, 200, reply.text)
    return reply.body.photos.map((one: { path: string }) => one.path).sort()
  }

  const ok = ({ status, text }: { status: number; text: string }) =>
    assert.ok(status >= 200 && status < 300, `${status} ${text.slice(0, 300)}`)

  it('has the length that the test is about', () => {
    assert.equal(wide.length, 16_384)
    assert.ok(Buffer.byteLength(wide) > 48_000)
    assert.ok(narrow.length > 14_000)
  })

  it('is shown by the timeline, search and activities', async () => {
    await settle()
    assert.deepEqual(await photos(ann), [narrow, wide].sort())
    await eventually(async () => {
      const found = await ann.get('/api2/search/', { q: 'needle' })
      assert.deepEqual(
        found.body.results.map((one: { fullpath: string }) => one.fullpath).sort(),
        [narrow, wide].sort(),
      )
    })
    await push('#cc6633')
    await settle()
    assert.deepEqual(await photos(ann), [narrow, wide].sort())
    const { body } = await ann.get('/api/v2.1/activities/')
    assert.ok(body.events.some((event: { path: string }) => event.path === wide))
  })

  it('can be starred, locked, linked, tagged, commented on and shared', async () => {
    const tag = await ann.post(space.v21('repo-tags/'), { form: { name: 'Far', color: 'red' } })
    ok(tag)
    for (const path of [wide, narrow]) {
      ok(await ann.post('/api/v2.1/starred-items/', { form: { repo_id: space.id, path } }))
      ok(await ann.put(space.v2('file/'), { form: { p: path, operation: 'lock' } }))
      ok(await ann.put(space.v2('file/'), { form: { p: path, operation: 'unlock' } }))
      ok(await ann.post('/api/v2.1/share-links/', { form: { repo_id: space.id, path } }))
      const { repo_tag_id } = tag.body.repo_tag
      ok(await ann.post(space.v21('file-tags/'), { form: { file_path: path, repo_tag_id } }))
    }
    const upload = { repo_id: space.id, path: pathOf(WIDE[0] ?? '', WIDE) }
    ok(await ann.post('/api/v2.1/upload-links/', { form: upload }))
    ok(await ann.post(space.v2('file/comments/'), { query: { p: narrow }, form: { comment: 'far away' } }))
    const smart = { repo_id: space.id, path: narrow, is_dir: 'false' }
    ok(await ann.get('/api/v2.1/smart-link/', smart))
    ok(await ann.get(space.v2('file/history/'), { p: narrow }))
    assert.deepEqual(errors, [])
  })

  it('is in the timeline of a guest with whom its folder, or only it, is shared', async () => {
    const friend = await server.signUp()
    const form = { share_type: 'user', username: friend.email, permission: 'r' }
    ok(await ann.put(space.v21('file/shared-items/'), { query: { p: narrow }, form }))
    assert.deepEqual(await photos(friend), [`/${NARROW_FILE}`])
    // Folders just below and just above the maximum length of an indexed path, and the deepest one.
    for (const levels of [4, 5, 6, 7, 40, NARROW.length]) {
      const guest = await server.signUp()
      await shareWith(ann, space.id, guest, {
        path: `/${NARROW.slice(0, levels).join('/')}`,
        permission: 'r',
      })
      assert.deepEqual(await photos(guest), [`/${[...NARROW.slice(levels), NARROW_FILE].join('/')}`])
    }
  })

  it('is moved, deleted and in the trash like others', async () => {
    const form = { operation: 'rename', newname: 'elsewhere' }
    ok(await ann.post(space.v21('dir/'), { query: { p: `/${WIDE[0]}` }, form }))
    await settle()
    assert.deepEqual(await photos(ann), [narrow, pathOf('elsewhere', WIDE, WIDE_FILE)].sort())
    const away = { operation: 'move', dst_repo: space.id, dst_dir: '/' }
    ok(await ann.post(space.v21('file/'), { query: { p: narrow }, form: away }))
    ok(await ann.delete(space.v21('dir/'), { query: { p: '/elsewhere' } }))
    await settle()
    assert.deepEqual(await photos(ann), [`/${NARROW_FILE}`])
    const trash = await ann.get(space.v21('trash/'), { path: '/' })
    ok(trash)
    assert.match(trash.text, /elsewhere/)
    const info = await dbOf(server.running.services.core).get<{ n: number }>(
      'select count(*) as n from photo',
    )
    assert.equal(info?.n, 1)
  })

  it('leaves text of every length in what is indexed', async () => {
    const text = Array.from({ length: 20 }, (_, part) => wideName(`text ${part}`)).join('')
    const url = `https://example.org/${text.slice(0, 1000)}`
    const refused = await ann.post(space.v21('webhooks/'), { form: { url } })
    assert.equal(refused.status, 400, refused.text)
    const action = { action: 'login', objectKind: 'account', objectId: text } as const
    await server.running.services.audit.append({ actor: text, address: '' }, action)
    assert.deepEqual(errors, [])
  })
})
