import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import sharp from 'sharp'
import type { LibraryId } from '../../src/base/objects/index.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import { libraryRows } from '../../src/libraries/registry/index.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { Workspace } from './folders-support.ts'
import { shareWith } from './sharing-support.ts'

const URL = '/api/v2.1/photos/'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server[Symbol.asyncDispose]())

/** A JPEG that says when it was taken. */
function photo(taken: string, color = '#3366cc'): Promise<Buffer> {
  return sharp({ create: { width: 60, height: 40, channels: 3, background: color } })
    .jpeg()
    .withExif({ IFD2: { DateTimeOriginal: taken, OffsetTimeOriginal: '+02:00' } })
    .toBuffer()
}

const settle = () => server.running.services.photos.settled()

async function taken(client: Client, query: Record<string, string> = {}): Promise<Record<string, string>> {
  const { body, status, text } = await client.get(URL, query)
  assert.equal(status, 200, text)
  const photos = body.photos as { path: string; taken: string }[]
  return Object.fromEntries(photos.map((one) => [one.path, one.taken]))
}

const correct = (client: Client, id: string, dates: Record<string, string | null>) =>
  client.put(`${URL}dates/`, {
    json: { photos: Object.entries(dates).map(([path, one]) => ({ repo_id: id, path, taken: one })) },
  })

describe('corrected dates of photos', () => {
  it('move photos in the timeline, follow the file, survive a new index, and are undone by the answer', async () => {
    const space = await Workspace.make(server)
    const { client: ann, id } = space
    await uploadFile(ann, id, '/a.jpg', await photo('2019:07:04 18:30:00'))
    await uploadFile(ann, id, '/trip/b.jpg', await photo('2020:01:01 10:00:00', '#993300'))
    await uploadFile(ann, id, '/trip/clip.mp4', 'not decoded by the server')
    await settle()
    const reply = await correct(ann, id, {
      '/a.jpg': '2021-03-04T05:06:07',
      '/trip/b.jpg': '2021-03-05T05:06:07',
      '/trip/clip.mp4': '2021-03-06T05:06:07',
    })
    assert.equal(reply.status, 200, reply.text)
    const moved = {
      '/trip/clip.mp4': '2021-03-06T05:06:07',
      '/trip/b.jpg': '2021-03-05T05:06:07',
      '/a.jpg': '2021-03-04T05:06:07',
    }
    assert.deepEqual(Object.entries(await taken(ann)), Object.entries(moved))
    assert.deepEqual((await ann.get(`${URL}days/`)).body.days, [
      ['2021-03-06', 1],
      ['2021-03-05', 1],
      ['2021-03-04', 1],
    ])

    const library = await libraryRows.find(dbOf(server.running.services.core), id as LibraryId)
    if (library === undefined) assert.fail('no library')
    await server.running.services.photos.rebuildLibrary(library)
    await settle()
    assert.deepEqual(await taken(ann), moved)
    for await (const fault of server.running.services.photos.faultsOf(library)) assert.fail(fault.reason)

    // Renamed with its folder, then deleted and restored.
    await ann.post(`/api/v2.1/repos/${id}/dir/`, {
      query: { p: '/trip' },
      form: { operation: 'rename', newname: 'tour' },
    })
    await settle()
    assert.equal((await taken(ann))['/tour/b.jpg'], '2021-03-05T05:06:07')

    // Another content at the path has its own date.
    await uploadFile(ann, id, '/a.jpg', await photo('2010:01:01 10:00:00', '#00ff00'), { replace: true })
    await settle()
    assert.equal((await taken(ann))['/a.jpg'], '2010-01-01T10:00:00+02:00')

    const undone = await correct(ann, id, { '/tour/b.jpg': null, '/tour/clip.mp4': '2021-03-06T05:06:08' })
    assert.deepEqual(
      undone.body.photos.map((one: { taken: string }) => one.taken),
      ['2021-03-05T05:06:07', '2021-03-06T05:06:07'],
    )
    assert.equal((await taken(ann))['/tour/b.jpg'], '2020-01-01T10:00:00+02:00')
    const again = await ann.put(`${URL}dates/`, { json: undone.body })
    assert.equal(again.status, 200, again.text)
    assert.equal((await taken(ann))['/tour/b.jpg'], '2021-03-05T05:06:07')
  })

  it('need the right to write, and are all made or none', async () => {
    const space = await Workspace.make(server)
    const { client: ann, id } = space
    await uploadFile(ann, id, '/a.jpg', await photo('2019:07:04 18:30:00'))
    await uploadFile(ann, id, '/note.txt', 'no photo')
    await settle()
    const bob = await server.signUp()
    const date = { '/a.jpg': '2021-03-04T05:06:07' }
    assert.equal((await correct(bob, id, date)).status, 403)
    await shareWith(ann, id, bob, { permission: 'r' })
    assert.equal((await correct(bob, id, date)).status, 403)
    for (const bad of ['/note.txt', '/gone.jpg']) {
      assert.equal((await correct(ann, id, { ...date, [bad]: '2021-03-04T05:06:07' })).status, 404)
    }
    for (const bad of ['2021-02-30T05:06:07', '2021-03-04', 'yesterday', '0000-01-01T00:00:00']) {
      assert.equal((await correct(ann, id, { '/a.jpg': bad })).status, 400)
    }
    assert.equal((await ann.put(`${URL}dates/`, { json: { photos: [] } })).status, 400)
    assert.equal((await ann.put(`${URL}dates/`, { json: { photos: [{ repo_id: id }] } })).status, 400)
    assert.deepEqual(await taken(ann), { '/a.jpg': '2019-07-04T18:30:00+02:00' })
  })
})

describe('starred photos', () => {
  it('are a timeline of their own, as far as they may still be read', async () => {
    const space = await Workspace.make(server)
    const { client: ann, id } = space
    for (const day of ['01', '02', '03']) {
      await uploadFile(ann, id, `/p/${day}.jpg`, await photo(`2018:05:${day} 12:00:00`, `#0000${day}`))
    }
    await uploadFile(ann, id, '/p/note.txt', 'no photo')
    await settle()
    const bob = await server.signUp()
    await shareWith(ann, id, bob, { permission: 'r' })
    for (const client of [ann, bob]) {
      for (const path of ['/p/01.jpg', '/p/03.jpg', '/p/note.txt'])
        assert.equal(
          (await client.post('/api/v2.1/starred-items/', { form: { repo_id: id, path } })).status,
          200,
        )
    }
    for (const client of [ann, bob]) {
      assert.deepEqual(Object.keys(await taken(client, { starred: 'true' })), ['/p/03.jpg', '/p/01.jpg'])
      assert.deepEqual((await client.get(`${URL}days/`, { starred: 'true' })).body.days, [
        ['2018-05-03', 1],
        ['2018-05-01', 1],
      ])
    }
    const { body } = await ann.get(URL)
    assert.deepEqual(
      body.photos.map((one: { starred: boolean }) => one.starred),
      [true, false, true],
    )
    const first = await ann.get(URL, { starred: 'true', limit: 1 })
    assert.equal(first.body.photos.length, 1)
    const second = await ann.get(URL, { starred: 'true', limit: 1, after: first.body.next })
    assert.equal(second.body.photos[0].path, '/p/01.jpg')
    await ann.delete(`/api2/repos/${id}/`)
    assert.deepEqual(await taken(bob, { starred: 'true' }), {})
    assert.deepEqual((await bob.get(`${URL}days/`, { starred: 'true' })).body.days, [])
  })
})
