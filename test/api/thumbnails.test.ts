import assert from 'node:assert/strict'
import { readdir, readFile, utimes } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import sharp from 'sharp'
import { storesOf } from '../../src/libraries/library/for-server.ts'
import { colored, coloredPdf, mp3With, packageWith, svgOf } from '../support/preview-files.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { uploadFile } from '../support/transfer.ts'
import { assertError, assertReply, Workspace } from './folders-support.ts'
import { PASSWORD, shareLink, visit } from './links-support.ts'

const UNKNOWN = '11111111-2222-4333-8444-555555555555'

describe('thumbnails', () => {
  let server: TestServer
  let space: Workspace
  before(async () => {
    server = await startServer()
    space = await Workspace.make(server)
    const picture = sharp({ create: { width: 400, height: 200, channels: 4, background: '#c0410099' } })
    await uploadFile(space.client, space.id, '/pics/wide ü.png', await picture.clone().png().toBuffer())
    await uploadFile(space.client, space.id, '/pics/a.jpg', await picture.clone().jpeg().toBuffer())
    await uploadFile(space.client, space.id, '/pics/a.gif', await picture.clone().gif().toBuffer())
    await uploadFile(space.client, space.id, '/pics/a.webp', await picture.clone().webp().toBuffer())
    await uploadFile(space.client, space.id, '/pics/broken.png', 'this is no picture')
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>1</script></svg>'
    await uploadFile(space.client, space.id, '/pics/disguised.png', svg)
    await uploadFile(space.client, space.id, '/pics/a.svg', svg)
    await uploadFile(space.client, space.id, '/pics/note.txt', 'text')
    await uploadFile(space.client, space.id, '/outside.png', await picture.clone().png().toBuffer())
  })
  after(async () => server[Symbol.asyncDispose]())

  const fetched = async (url: string, headers: Record<string, string> = {}) => {
    const response = await fetch(server.url + url, { headers })
    const bytes = Buffer.from(await response.arrayBuffer())
    return {
      status: response.status,
      type: response.headers.get('content-type'),
      headers: response.headers,
      bytes,
    }
  }
  const withToken = () => ({ Authorization: `Token ${space.client.token}` })

  it('are JPEGs whose longer side is the requested size, or the next of the list', async () => {
    for (const name of ['wide ü.png', 'a.jpg', 'a.gif', 'a.webp']) {
      const url = space.v2(`thumbnail/?p=${encodeURIComponent(`/pics/${name}`)}&size=128`)
      const { status, type, bytes } = await fetched(url, withToken())
      assert.deepEqual([status, type], [200, 'image/jpeg'], name)
      const { width, height, format } = await sharp(bytes).metadata()
      assert.deepEqual([width, height, format], [128, 64, 'jpeg'], name)
    }
  })

  it('show a photo in HEIC, a drawing, a page, a cover and the preview in a document', async () => {
    const blue = await colored('#3366cc')
    const files = {
      'photo.heic': await readFile(path.join(import.meta.dirname, '../fixtures/photo.heic')),
      'drawing.svg': svgOf('#3366cc'),
      'paper.pdf': coloredPdf('0.2 0.4 0.8'),
      'song.mp3': mp3With(blue),
      'letter.docx': packageWith('docProps/thumbnail.jpeg', blue),
    }
    for (const [name, bytes] of Object.entries(files)) {
      await uploadFile(space.client, space.id, `/kinds/${name}`, bytes)
      const { status, bytes: image } = await fetched(
        space.v2(`thumbnail/?p=/kinds/${name}&size=48`),
        withToken(),
      )
      assert.equal(status, 200, name)
      const { data, info } = await sharp(image).raw().toBuffer({ resolveWithObject: true })
      assert.equal(Math.max(info.width, info.height), 48, name)
      assert.deepEqual(
        [...data.subarray(0, 3)].map((byte) => Math.round(byte / 51)),
        [1, 2, 4],
        name,
      )
    }
    // Only what certainly has a picture is linked, because a client may show a broken image for the rest.
    const { body } = await space.client.get(space.v21('dir/'), { p: '/kinds', with_thumbnail: 'true' })
    const linked = body.dirent_list.filter((entry: Record<string, string>) => entry['encoded_thumbnail_src'])
    const names = linked.map((entry: { name: string }) => entry.name).toSorted()
    assert.deepEqual(names, ['drawing.svg', 'paper.pdf', 'photo.heic'])
    const plain = packageWith('word/document.xml', Buffer.from('<document/>'))
    await uploadFile(space.client, space.id, '/kinds/plain.docx', plain)
    await uploadFile(space.client, space.id, '/kinds/damaged.docx', Buffer.from('not a package'))
    // Most documents contain no picture, so that is not an error.
    for (const name of ['plain.docx', 'damaged.docx']) {
      const reply = await space.client.get(space.v2('thumbnail/'), { p: `/kinds/${name}`, size: '48' })
      assert.equal(reply.status, 204, name)
    }
  })

  it('are never enlarged, and are cached for the second request', async () => {
    const url = space.v2('thumbnail/?p=/pics/a.jpg&size=1000')
    const first = await fetched(url, withToken())
    assert.equal((await sharp(first.bytes).metadata()).width, 400)
    const again = await fetched(url, { ...withToken(), 'If-None-Match': first.headers.get('etag') ?? '' })
    assert.equal(again.status, 304)
    const kept = await readdir(path.join(server.data, 'thumbnails'), { recursive: true })
    assert.ok(kept.some((name) => name.endsWith('-1024.jpg')))
    assert.ok(!kept.some((name) => name.includes('.tmp')))
  })

  it('are limited to a short list of sizes, whatever is requested', async () => {
    const picture = sharp({ create: { width: 300, height: 300, channels: 3, background: '#123456' } })
    await uploadFile(space.client, space.id, '/sizes.png', await picture.png().toBuffer())
    const { body } = await space.client.get(space.v2('file/detail/'), { p: '/sizes.png' })
    const asked = [
      ...Array.from({ length: 40 }, (_, n) => n + 1),
      97,
      100,
      200,
      257,
      300,
      999,
      1025,
      2047,
      2048,
    ]
    const etags = new Set<string | null>()
    for (const size of asked) {
      const { status, headers } = await fetched(space.v2(`thumbnail/?p=/sizes.png&size=${size}`), withToken())
      assert.equal(status, 200)
      etags.add(headers.get('etag'))
    }
    const files = await readdir(path.join(server.data, 'thumbnails'), { recursive: true })
    const sizes = files.flatMap((name) => new RegExp(`${body.id}-(\\d+)\\.jpg$`).exec(name)?.[1] ?? [])
    const numbers = sizes.map(Number).toSorted((a, b) => a - b)
    assert.deepEqual(numbers, [48, 128, 256, 384, 1024, 2048])
    assert.equal(etags.size, numbers.length)
  })

  it('are rejected with the messages clients know', async () => {
    const get = (query: Record<string, string>) => space.client.get(space.v2('thumbnail/'), query)
    const p = '/pics/a.jpg'
    assertError(await get({ p }), 400, 'Size is missing.')
    for (const size of ['x', '0', '-1', '99999', '1e3'])
      assertError(await get({ p, size }), 400, 'Invalid size.')
    assertError(await get({ size: '48' }), 400, 'Wrong path.')
    assertError(await get({ p: '/gone.png', size: '48' }), 400, 'Wrong path.')
    assertError(await get({ p: '/pics', size: '48' }), 400, 'Wrong path.')
    assertError(await get({ p: '/pics/note.txt', size: '48' }), 400, 'Invalid argument')
    for (const name of ['broken.png', 'disguised.png']) {
      const reply = await get({ p: `/pics/${name}`, size: '48' })
      assertError(reply, 422, 'Failed to generate thumbnail.', name)
    }
    const unknown = await space.client.get(`/api2/repos/${UNKNOWN}/thumbnail/`, { p, size: '48' })
    assertError(unknown, 404, 'Library not found.')
    const stranger = await server.signUp()
    assertError(await stranger.get(space.v2('thumbnail/'), { p, size: '48' }), 403, 'Permission denied.')
  })

  it('are created where the web interface requests them', async () => {
    const create = `/thumbnail/${space.id}/create/`
    const reply = await space.client.get(create, { path: '/pics/wide ü.png', size: '64' })
    const src = `thumbnail/${space.id}/64/pics/wide%20%C3%BC.png`
    assertReply(reply, 200, { encoded_thumbnail_src: src })
    const image = await fetched(`/${src}`, withToken())
    assert.deepEqual([image.status, image.type], [200, 'image/jpeg'])
    assert.ok(image.headers.get('last-modified'))
    assert.equal((await fetched(`/${src}`)).status, 403)
    assert.equal((await fetched(`/thumbnail/${space.id}/64/pics/broken.png`, withToken())).status, 404)
    assert.equal((await fetched(`/thumbnail/${space.id}/64/pics/%zz.png`, withToken())).status, 404)
    assert.equal((await fetched(`/thumbnail/${space.id}/64/`, withToken())).status, 404)
    assertReply(await space.client.get(create, { path: '/pics/broken.png' }), 422, {
      err_msg: 'Failed to create thumbnail.',
    })
    assertReply(await space.client.get(create, {}), 400, { error: 'Invalid arguments.' })
    assertReply(await space.client.get(create, { path: '/pics/a.jpg', size: 'x' }), 400, {
      error: 'Invalid size.',
    })
  })

  it('are linked in listings on request', async () => {
    const list = async (query: Record<string, string>) => {
      const { body } = await space.client.get(space.v21('dir/'), { p: '/pics', ...query })
      return body.dirent_list.map((entry: Record<string, string>) => entry['encoded_thumbnail_src'])
    }
    const srcs = (await list({ with_thumbnail: 'true', thumbnail_size: '48' })).filter(Boolean)
    assert.equal(srcs.length, 7)
    assert.ok(srcs.includes(`thumbnail/${space.id}/48/pics/wide%20%C3%BC.png`))
    assert.deepEqual((await list({})).filter(Boolean), [])
    assert.ok((await list({ with_thumbnail: 'true' })).includes(`thumbnail/${space.id}/256/pics/a.gif`))
  })

  it('below a link are served to its visitors, and no others', async () => {
    const { token } = await shareLink(space, '/pics')
    const listed = await visit(server, `/api/v2.1/share-links/${token}/dirents/?thumbnail_size=48`)
    const [image] = listed.body.dirent_list.filter((one: { file_name: string }) => one.file_name === 'a.gif')
    assert.equal(image.encoded_thumbnail_src, `thumbnail/${token}/48/a.gif`)
    const { status, type } = await fetched(`/${image.encoded_thumbnail_src}`)
    assert.deepEqual([status, type], [200, 'image/jpeg'])
    const made = await visit(server, `/thumbnail/${token}/create/?path=/a.jpg&size=48`)
    assertReply(made, 200, { encoded_thumbnail_src: `thumbnail/${token}/48/a.jpg` })
    for (const rest of ['../outside.png', '%2e%2e/outside.png', 'pics/a.jpg', '%00', 'gone.png']) {
      const response = await fetched(`/thumbnail/${token}/48/${rest}`)
      assert.notEqual(response.status, 200, rest)
    }
    const secret = await shareLink(space, '/', { password: PASSWORD })
    assert.equal((await fetched(`/thumbnail/${secret.token}/48/outside.png`)).status, 403)
    const headers = { 'X-Link-Password': PASSWORD }
    assert.equal((await fetched(`/thumbnail/${secret.token}/48/outside.png`, headers)).status, 200)
    assert.equal((await fetched(`/thumbnail/${'ab'.repeat(10)}/48/a.jpg`)).status, 400)
  })

  it('that were not used for long are evicted', async () => {
    const folder = path.join(server.data, 'thumbnails')
    const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.jpg'))
    const [old = '', ...others] = files
    await utimes(path.join(folder, old), 1, 1)
    await server.running.services.thumbnails.deleteStale()
    const left = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.jpg'))
    assert.deepEqual(left.toSorted(), others.toSorted())
  })

  it('are deleted once no version of the library has the file, and with a purged library', async () => {
    const { thumbnails, core } = server.running.services
    const { objects } = storesOf(core)
    const deleteUnreferenced = () =>
      thumbnails.deleteUnreferenced((libraryKey, ids) => objects.findStored(libraryKey, ids))
    const folder = path.join(server.data, 'thumbnails')
    const list = async () =>
      (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.jpg')).toSorted()
    const before = await list()
    const other = await server.signUp()
    const id = await other.createLibrary()
    const picture = sharp({ create: { width: 9, height: 9, channels: 3, background: '#123' } })
    await uploadFile(other, id, '/own.png', await picture.png().toBuffer())
    assert.equal((await other.get(`/api2/repos/${id}/thumbnail/`, { p: '/own.png', size: '48' })).status, 200)
    assert.equal((await list()).length, before.length + 1)
    assert.equal(await deleteUnreferenced(), 0)
    await other.delete(`/api2/repos/${id}/`)
    assert.equal(await deleteUnreferenced(), 0)
    assert.equal((await other.delete('/api/v2.1/deleted-repos/')).status, 200)
    assert.equal(await deleteUnreferenced(), 1)
    assert.deepEqual(await list(), before)
  })

  it('are rejected for a picture of too many pixels, whatever its file size', async () => {
    const bomb = sharp({
      create: { width: 9000, height: 9000, channels: 3, background: '#fff' },
      limitInputPixels: false,
    })
    await uploadFile(space.client, space.id, '/bomb.png', await bomb.png({ compressionLevel: 1 }).toBuffer())
    const reply = await space.client.get(space.v2('thumbnail/'), { p: '/bomb.png', size: '48' })
    assertError(reply, 422, 'Failed to generate thumbnail.')
  })
})
