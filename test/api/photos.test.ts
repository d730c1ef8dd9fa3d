import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import sharp from 'sharp'
import { PhotoIndex } from '../../src/derived/photos/photo-index.ts'
import { CommitConsumer } from '../../src/libraries/consumers/index.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { Client } from '../support/client.ts'
import { createEncrypted, openEncrypted } from '../support/encrypted.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { assertError, Workspace } from './folders-support.ts'
import { shareWith, unshare } from './sharing-support.ts'

const URL = '/api/v2.1/photos/'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

/** A JPEG of one color that says when it was taken. */
function photo(taken: string, offset?: string): Promise<Buffer> {
  const exif = { DateTimeOriginal: taken, ...(offset && { OffsetTimeOriginal: offset }) }
  return sharp({ create: { width: 60, height: 40, channels: 3, background: '#3366cc' } })
    .jpeg()
    .withExif({ IFD2: exif })
    .toBuffer()
}

interface Shown {
  readonly path: string
  readonly repo_id: string
  readonly taken: string
  readonly type: string
  readonly width?: number
  readonly height?: number
  readonly thumbhash?: string
}

/** Resolves once everything that was uploaded is indexed and read. */
function settle(): Promise<void> {
  return server.running.services.photos.settled()
}

async function days(client: Client): Promise<[string, number][]> {
  const reply = await client.get(`${URL}days/`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.days
}

async function page(client: Client, query: Record<string, string | number> = {}) {
  const reply = await client.get(URL, query)
  assert.equal(reply.status, 200, reply.text)
  return reply.body as { photos: Shown[]; repos: Record<string, unknown>; next: string | null }
}

const paths = async (client: Client, query = {}) => (await page(client, query)).photos.map((one) => one.path)

describe('the timeline of photos', () => {
  it('orders photos of all libraries by the local time of the camera', async () => {
    const first = await Workspace.make(server)
    const ann = first.client
    const second = await Workspace.make(server, ann, 'Second')
    await uploadFile(ann, first.id, '/old.jpg', await photo('2019:07:04 18:30:00', '+02:00'))
    await uploadFile(ann, first.id, '/pics/new.jpg', await photo('2021:01:02 03:04:05'))
    await uploadFile(ann, second.id, '/between.jpg', await photo('2020:02:29 23:59:59', '-08:00'))
    await uploadFile(ann, second.id, '/note.txt', 'no photo')
    await settle()
    const { photos, repos, next } = await page(ann)
    assert.deepEqual(
      photos.map(({ path: at, repo_id, taken, type, width, height }) => [
        at,
        repo_id,
        taken,
        type,
        width,
        height,
      ]),
      [
        ['/pics/new.jpg', first.id, '2021-01-02T03:04:05', 'image', 60, 40],
        ['/between.jpg', second.id, '2020-02-29T23:59:59-08:00', 'image', 60, 40],
        ['/old.jpg', first.id, '2019-07-04T18:30:00+02:00', 'image', 60, 40],
      ],
    )
    assert.deepEqual(repos, {
      [first.id]: { repo_name: 'Plans', permission: 'rw' },
      [second.id]: { repo_name: 'Second', permission: 'rw' },
    })
    assert.equal(next, null)
    for (const { thumbhash = '' } of photos) assert.ok(Buffer.from(thumbhash, 'base64').length > 4, thumbhash)
    assert.deepEqual(await days(ann), [
      ['2021-01-02', 1],
      ['2020-02-29', 1],
      ['2019-07-04', 1],
    ])
    const { body } = await ann.get(first.v21('thumbhashes/'), { p: '/pics' })
    assert.deepEqual(body, { thumbhashes: { 'new.jpg': photos[0]?.thumbhash } })
  })

  it('continues after the last photo of a page, and starts at a day', async () => {
    const { client: ann, id } = await Workspace.make(server)
    for (const day of ['01', '02', '03', '04', '05']) {
      await uploadFile(ann, id, `/${day}.jpg`, await photo(`2018:05:${day} 12:00:00`))
    }
    await settle()
    const first = await page(ann, { limit: 2 })
    const second = await page(ann, { limit: 2, after: first.next ?? '' })
    const third = await page(ann, { limit: 2, after: second.next ?? '' })
    assert.deepEqual(
      [first, second, third].map(({ photos }) => photos.map((one) => one.path)),
      [['/05.jpg', '/04.jpg'], ['/03.jpg', '/02.jpg'], ['/01.jpg']],
    )
    assert.equal(third.next, null)
    assert.deepEqual(await paths(ann, { from: '2018-05-02', to: '2018-05-03' }), ['/03.jpg', '/02.jpg'])
    assert.deepEqual(await paths(ann, { to: '2018-05-04', after: first.next ?? '' }), [
      '/03.jpg',
      '/02.jpg',
      '/01.jpg',
    ])
    for (const query of [{ from: '2018-13-40' }, { to: 'x' }, { after: '1' }, { after: '1_2_3' }]) {
      const [name = ''] = Object.keys(query)
      assertError(await ann.get(URL, query), 400, `${name} invalid.`)
    }
  })

  it('follows renames and deletions', async () => {
    const space = await Workspace.make(server)
    const { client: ann, id } = space
    await space.folder('/a')
    await uploadFile(ann, id, '/a/one.jpg', await photo('2017:01:01 10:00:00'))
    await uploadFile(ann, id, '/a/two.jpg', await photo('2017:01:02 10:00:00'))
    await settle()
    const rename = async (p: string, newname: string) => {
      const reply = await ann.post(space.v21('dir/'), {
        query: { p },
        form: { operation: 'rename', newname },
      })
      assert.equal(reply.status, 200, reply.text)
    }
    await rename('/a', 'b')
    await settle()
    const renamed = (await page(ann)).photos
    assert.deepEqual(
      renamed.map(({ path: at, taken, thumbhash }) => [at, taken, thumbhash !== undefined]),
      [
        ['/b/two.jpg', '2017-01-02T10:00:00', true],
        ['/b/one.jpg', '2017-01-01T10:00:00', true],
      ],
    )
    await ann.delete(space.v2('file/'), { query: { p: '/b/two.jpg' } })
    await settle()
    assert.deepEqual(await days(ann), [['2017-01-01', 1]])
    assert.deepEqual(await paths(ann), ['/b/one.jpg'])
    await ann.delete(space.v2('dir/'), { query: { p: '/b' } })
    await settle()
    assert.deepEqual(await days(ann), [])
    assert.deepEqual(await paths(ann), [])
  })

  it('shows a damaged image and a video at their modification time', async () => {
    const { client: ann, id } = await Workspace.make(server)
    await uploadFile(ann, id, '/broken.jpg', 'this is no picture')
    await uploadFile(ann, id, '/clip.mp4', 'a video')
    const heic = await readFile(path.join(import.meta.dirname, '../fixtures/photo.heic'))
    await uploadFile(ann, id, '/photo.heic', heic)
    await settle()
    const { photos } = await page(ann)
    const shown = new Map(photos.map((one) => [one.path, one]))
    assert.equal(shown.get('/broken.jpg')?.thumbhash, undefined)
    assert.equal(shown.get('/clip.mp4')?.type, 'video')
    assert.notEqual(shown.get('/photo.heic')?.thumbhash, undefined)
  })

  it('counts many photos in queries of at most 1,000, whatever the number of a day', async (t) => {
    const space = await Workspace.make(server)
    await uploadFile(space.client, space.id, '/one.jpg', await photo('1970:01:01 00:00:00'))
    await settle()
    const db = dbOf(server.running.services.core)
    const [one = assert.fail()] = await db.all<{ library_key: number; file_id: Uint8Array; seq: number }>(
      'select library_key, file_id, seq from photo where taken_at = 0 and name = ?',
      'one.jpg',
    )
    // One day has more photos than a query counts, one exactly as many, and one ends in the middle of a query.
    const perDay = [300, 1000, 2500, 700, 1]
    const rows = perDay.flatMap((count, index) =>
      Array.from({ length: count }, (_, number) => {
        const day = index + 1
        const takenAt = day * 86_400 + (number % 86_400)
        return [one.library_key, '/', `${day}-${number}.jpg`, one.file_id, 0, 1, 0, takenAt, day, one.seq]
      }),
    )
    const columns = [
      'library_key',
      'parent',
      'name',
      'file_id',
      'kind',
      'size',
      'mtime',
      'taken_at',
      'day',
      'seq',
    ]
    await db.write((tx) => tx.insert('photo', columns, rows))
    const counted: number[] = []
    const all = db.all.bind(db)
    t.mock.method(db, 'all', async (sql: string, ...values: never[]) => {
      const found = await all<{ photos?: number }>(sql, ...values)
      if (sql.includes('as photos')) counted.push(found.reduce((sum, { photos = 0 }) => sum + photos, 0))
      return found
    })
    const expected = [1, ...perDay].map((count, day) => [
      new Date(day * 86_400_000).toISOString().slice(0, 10),
      count,
    ])
    assert.deepEqual(await days(space.client), expected.toReversed())
    assert.ok(counted.length > 4 && Math.max(...counted) === 1000, counted.join(' '))
  })

  it('leaves out encrypted libraries', async () => {
    const ann = await server.signUp()
    const { id } = await createEncrypted(ann, 2)
    await openEncrypted(ann, id)
    await uploadFile(ann, id, '/secret.jpg', await photo('2016:01:01 10:00:00'))
    await settle()
    assert.deepEqual([await days(ann), await paths(ann)], [[], []])
    const { body } = await ann.get(`/api/v2.1/repos/${id}/thumbhashes/`, { p: '/' })
    assert.deepEqual(body, { thumbhashes: {} })
  })
})

describe('the timeline of a shared folder', () => {
  it('shows what is in the folder now, as long as it is shared', async () => {
    const space = await Workspace.make(server)
    const { client: ann, id } = space
    for (const folder of ['/team', '/team/deep', '/team2']) await space.folder(folder)
    await uploadFile(ann, id, '/team/in.jpg', await photo('2015:01:01 10:00:00'))
    await uploadFile(ann, id, '/team/deep/in.jpg', await photo('2015:01:02 10:00:00'))
    await uploadFile(ann, id, '/team2/out.jpg', await photo('2015:01:03 10:00:00'))
    await uploadFile(ann, id, '/out.jpg', await photo('2015:01:04 10:00:00'))
    await settle()
    const guest = await server.signUp()
    assert.deepEqual(await paths(guest), [])
    const view = await shareWith(ann, id, guest, { path: '/team', permission: 'r' })
    assert.deepEqual(
      (await page(guest)).photos.map((one) => [one.path, one.repo_id]),
      [
        ['/deep/in.jpg', view],
        ['/in.jpg', view],
      ],
    )
    assert.deepEqual(await days(guest), [
      ['2015-01-02', 1],
      ['2015-01-01', 1],
    ])
    const { body } = await guest.get(`/api/v2.1/repos/${view}/thumbhashes/`, { p: '/deep' })
    assert.deepEqual(Object.keys(body.thumbhashes), ['in.jpg'])
    // Moved out: gone at once, whether or not the index has seen it.
    const move = { operation: 'move', dst_repo: id, dst_dir: '/team2' }
    const moved = await ann.post(space.v21('file/'), { query: { p: '/team/in.jpg' }, form: move })
    assert.equal(moved.status, 200, moved.text)
    assert.deepEqual(await paths(guest), ['/deep/in.jpg'])
    await unshare(ann, id, guest, '/team')
    assert.deepEqual([await paths(guest), await days(guest)], [[], []])
    assert.equal((await guest.get(`/api/v2.1/repos/${view}/thumbhashes/`)).status, 403)
  })

  it('discloses no day or time of another folder that had its path, while the index is behind', async (t) => {
    const space = await Workspace.make(server)
    const { client: ann, id } = space
    await space.folder('/team')
    await uploadFile(ann, id, '/team/private.jpg', await photo('2014:01:01 10:00:00'))
    await uploadFile(ann, id, '/team/in.jpg', await photo('2013:01:01 10:00:00'))
    await settle()
    t.mock.method(CommitConsumer.prototype, 'wake', () => {})
    t.mock.method(PhotoIndex.prototype, 'catchUp', async () => {})
    const rename = (p: string, newname: string) =>
      ann.post(space.v21('dir/'), { query: { p }, form: { operation: 'rename', newname } })
    assert.equal((await rename('/team', 'private')).status, 200)
    await space.folder('/team')
    const move = { operation: 'move', dst_repo: id, dst_dir: '/team' }
    const moved = await ann.post(space.v21('file/'), { query: { p: '/private/in.jpg' }, form: move })
    assert.equal(moved.status, 200, moved.text)
    const guest = await server.signUp()
    await shareWith(ann, id, guest, { path: '/team', permission: 'r' })
    assert.deepEqual(await days(guest), [['2013-01-01', 1]])
    const { photos, next } = await page(guest, { limit: 1 })
    assert.deepEqual(
      photos.map((one) => one.path),
      ['/in.jpg'],
    )
    assert.doesNotMatch(String(next), new RegExp(String(Date.UTC(2014, 0, 1, 10) / 1000)))
    t.mock.restoreAll()
    await settle()
  })

  it('shows a photo once that is readable in two ways', async () => {
    const space = await Workspace.make(server)
    const { client: ann, id } = space
    await space.folder('/team')
    await uploadFile(ann, id, '/team/in.jpg', await photo('2014:01:01 10:00:00'))
    await settle()
    const guest = await server.signUp()
    await shareWith(ann, id, guest, { path: '/team' })
    await shareWith(ann, id, guest)
    assert.deepEqual(
      (await page(guest)).photos.map((one) => [one.path, one.repo_id]),
      [['/team/in.jpg', id]],
    )
    assert.deepEqual(await days(guest), [['2014-01-01', 1]])
  })
})
