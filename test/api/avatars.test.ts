import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { Client, Reply } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { BOUNDARY, formBytes, uploadFile } from '../support/transfer.ts'

const upload = '/api/v2.1/user-avatar/'
const invalid = { error_msg: 'avatar invalid.' }

const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#3366cc' } })

function send(client: Client, filename: string, bytes: Uint8Array | string, name = 'avatar'): Promise<Reply> {
  return client.post(upload, {
    raw: formBytes([{ name, filename, bytes }]),
    headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
  })
}

/** A PNG whose header claims this many pixels but which has hardly any bytes. */
function claimed(width: number, height: number, rows = 0): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const typed = Buffer.concat([Buffer.from(type, 'latin1'), data])
    const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    checksum.writeUInt32BE(crc32(typed))
    return Buffer.concat([length, typed, checksum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([1, 0, 0, 0, 0], 8)
  const line = Buffer.alloc(1 + Math.ceil(width / 8))
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(line.length * rows))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

describe('avatars', () => {
  let server: TestServer
  before(async () => {
    server = await startServer({ now: () => 1_754_000_000 })
  })
  after(() => server[Symbol.asyncDispose]())

  const where = async (client: Client, email: string, size: number | string = 72) =>
    client.get(`/api2/avatars/user/${email}/resized/${size}/`)

  it('are the default until one is uploaded, and for unknown accounts', async () => {
    const user = await server.signUp()
    for (const email of [user.email, 'nobody@example.org', 'nonsense']) {
      assert.deepEqual((await where(user, email)).body, {
        url: `${server.url}/media/avatars/default.png`,
        is_default: true,
        mtime: 0,
      })
    }
    assert.equal((await where(server.anonymous, user.email)).status, 403)
    for (const size of ['0', 'x', '-1']) assert.equal((await where(user, user.email, size)).status, 404)
  })

  it('are accepted as PNG, JPEG and GIF and served as PNG in fixed sizes', async () => {
    const user = await server.signUp()
    const viewer = await server.signUp()
    const pictures: [filename: string, bytes: Buffer][] = [
      ['me.png', await plain(300, 200).png().toBuffer()],
      ['me.JPG', await plain(20, 400).jpeg().toBuffer()],
      ['me.gif', await plain(64, 64).gif().toBuffer()],
    ]
    const urls = new Set<string>()
    for (const [filename, bytes] of pictures) {
      const reply = await send(user, filename, bytes)
      assert.equal(reply.status, 200, reply.text)
      urls.add(reply.body.avatar_url)
      for (const [asked, sent] of [
        [16, 32],
        [72, 72],
        [100, 128],
        [256, 256],
        [4000, 256],
      ]) {
        const { url, is_default: isDefault, mtime } = (await where(viewer, user.email, asked)).body
        assert.deepEqual([isDefault, mtime], [false, 1_754_000_000])
        assert.match(url, new RegExp(`/media/avatars/[0-9a-f]{32}/${asked}\\.png$`))
        // The picture itself needs no token.
        const image = await fetch(url)
        assert.deepEqual([image.status, image.headers.get('content-type')], [200, 'image/png'])
        const found = await sharp(Buffer.from(await image.arrayBuffer())).metadata()
        assert.deepEqual([found.format, found.width, found.height], ['png', sent, sent])
      }
    }
    assert.equal(urls.size, 3)
    const [first = '', , last = ''] = [...urls]
    assert.equal((await fetch(first)).status, 404)
    assert.equal((await user.get('/api2/account/info/')).body.avatar_url, last)
    const admin = await server.admin()
    assert.equal((await admin.get(`/api/v2.1/admin/users/${user.email}/`)).body.avatar_url, last)
    const library = await user.createLibrary()
    assert.equal((await user.get(`/api/v2.1/repos/${library}/`)).body.owner_avatar, last)
    await uploadFile(user, library, '/a.txt', 'a')
    const file = await user.get(`/api2/repos/${library}/file/detail/`, { p: '/a.txt' })
    assert.equal(file.body.last_modifier_avatar, last)
    const { id: group } = (await user.post('/api/v2.1/groups/', { form: { name: 'Pictured' } })).body
    const history = { path: '/a.txt' }
    const lists: [path: string, query: Record<string, string>, shown: (body: Reply['body']) => string][] = [
      ['/api/v2.1/activities/', {}, ({ events }) => events[0].avatar_url],
      [`/api/v2.1/repos/${library}/file/history/`, history, ({ data }) => data[0].creator_avatar_url],
      [`/api/v2.1/repos/${library}/file/new_history/`, history, ({ data }) => data[0].creator_avatar_url],
      [`/api/v2.1/groups/${group}/members/`, {}, ([member]) => member.avatar_url],
      [`/api/v2.1/groups/${group}/search-member/`, { q: '@' }, ([member]) => member.avatar_url],
    ]
    for (const [path, query, shown] of lists) {
      for (const [asked, file] of [
        ['128', '128.png'],
        ['20', '20.png'],
        ['x', '72.png'],
      ]) {
        const { body } = await user.get(path, { ...query, avatar_size: asked })
        assert.equal(shown(body), last.replace('72.png', file ?? ''), path)
      }
    }
    assert.equal((await user.delete(upload)).body.avatar_url, `${server.url}/media/avatars/default.png`)
    assert.equal((await fetch(last)).status, 404)
    assert.equal((await where(viewer, user.email)).body.is_default, true)
  })

  it('contain no metadata of the uploaded file', async () => {
    const user = await server.signUp()
    const bytes = await plain(50, 50)
      .jpeg()
      .withExif({ IFD0: { Copyright: 'where I live' } })
      .toBuffer()
    assert.ok(bytes.includes('where I live'))
    const { avatar_url: url } = (await send(user, 'me.jpg', bytes)).body
    const sent = Buffer.from(await (await fetch(url)).arrayBuffer())
    assert.ok(!sent.includes('where I live'))
  })

  it('reject a file that is not a picture, whatever its name', async () => {
    const user = await server.signUp()
    const png = await plain(8, 8).png().toBuffer()
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
    const cases: [filename: string, bytes: Uint8Array | string, message: string][] = [
      ['me.png', '', 'avatar invalid.'],
      ['me.png', 'not a picture', 'avatar invalid.'],
      ['me.png', svg, 'avatar invalid.'],
      ['me.png', await plain(8, 8).webp().toBuffer(), 'avatar invalid.'],
      ['me.jpg', await plain(8, 8).tiff().toBuffer(), 'avatar invalid.'],
      ['me.png', png.subarray(0, 20), 'avatar invalid.'],
      ['me.jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe0]), 'avatar invalid.'],
      ['me.gif', 'GIF89a', 'avatar invalid.'],
      [
        'me.svg',
        svg,
        '.svg is an invalid file extension. Authorized extensions are : .jpg, .jpeg, .png, .gif',
      ],
      ['me', png, ' is an invalid file extension. Authorized extensions are : .jpg, .jpeg, .png, .gif'],
      [
        'me.png.exe',
        png,
        '.exe is an invalid file extension. Authorized extensions are : .jpg, .jpeg, .png, .gif',
      ],
    ]
    for (const [filename, bytes, message] of cases) {
      const reply = await send(user, filename, bytes)
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }], filename)
    }
    const others = [
      await user.post(upload),
      await user.post(upload, { form: { avatar: 'x' } }),
      await user.post(upload, { json: { avatar: { bytes: 'x', filename: 'me.png' } } }),
      await send(user, 'me.png', png, 'picture'),
    ]
    for (const reply of others) assert.deepEqual([reply.status, reply.body], [400, invalid])
    assert.equal((await where(user, user.email)).body.is_default, true)
  })

  it('reject pictures with far more pixels than bytes', async () => {
    const user = await server.signUp()
    const started = performance.now()
    for (const bomb of [
      claimed(60_000, 60_000, 50),
      claimed(2 ** 31 - 1, 2 ** 31 - 1),
      claimed(1, 2 ** 30),
      claimed(100_000, 1000, 1000),
    ]) {
      const reply = await send(user, 'bomb.png', bomb)
      assert.deepEqual([reply.status, reply.body], [400, invalid])
    }
    assert.ok(performance.now() - started < 10_000)
    assert.equal((await user.get('/api2/auth/ping/')).status, 200)
  })

  it('reject files of more than 1 MiB', async () => {
    const user = await server.signUp()
    const noise = Buffer.alloc(1024 * 1024 + 1)
    const reply = await send(user, 'me.png', noise)
    assert.deepEqual(
      [reply.status, reply.body.error_msg],
      [400, 'Your file is too big (1.0\u00a0MB), the maximum allowed size is 1.0\u00a0MB'],
    )
    assert.equal((await send(user, 'me.png', Buffer.alloc(5 * 1024 * 1024))).status, 413)
  })

  it('are deleted with the account', async () => {
    const user = await server.signUp()
    const { avatar_url: url } = (await send(user, 'me.png', await plain(9, 9).png().toBuffer())).body
    assert.equal((await fetch(url)).status, 200)
    await (await server.admin()).delete(`/api/v2.1/admin/users/${user.email}/`)
    assert.equal((await fetch(url)).status, 404)
    const other = await server.signUp()
    assert.equal((await where(other, user.email)).body.is_default, true)
  })

  it('are not found under names and sizes that were never issued', async () => {
    const user = await server.signUp()
    const { avatar_url: url } = (await send(user, 'me.png', await plain(9, 9).png().toBuffer())).body
    const [, name = ''] = /avatars\/([0-9a-f]{32})\//.exec(url) ?? []
    for (const path of [
      `${name}/0.png`,
      `${name}/100000.png`,
      `${name}/72.jpg`,
      `${name}/72`,
      `${'0'.repeat(32)}/72.png`,
    ]) {
      assert.equal((await fetch(`${server.url}/media/avatars/${path}`)).status, 404)
    }
  })
})

describe('/api/v2.1/webdav-secret/', () => {
  it('stores a hash, and explains why a secret is rejected', async () => {
    await using server = await startServer()
    const path = '/api/v2.1/webdav-secret/'
    const user = await server.signUp()
    const { webdavSignIn, core } = server.running.services
    const client = {
      address: '127.0.0.1',
      network: '127.0.0.1',
      signal: new AbortController().signal,
      header: () => undefined,
    }
    const opens = async (secret: string) =>
      'ok' in (await webdavSignIn.authenticate({ name: user.email, secret, client }))
    const bad: [secret: string, message: string][] = [
      ['x'.repeat(30), 'Length of WebDAV password should be less than 30.'],
      ['Short1', 'Password is too short.'],
      ['allofakind', 'Password is too weak.'],
      ['has space 1A', 'Password can only contain number, upper letter, lower letter and other symbols.'],
    ]
    for (const [secret, message] of bad) {
      const reply = await user.put(path, { form: { secret } })
      assert.deepEqual([reply.status, reply.body], [400, { error_msg: message }])
    }
    assert.deepEqual((await user.put(path, { form: { secret: 'Usable-Secret1' } })).body, { success: true })
    assert.deepEqual((await user.get(path)).body, { secret: null, is_set: true })
    assert.deepEqual([await opens('Usable-Secret1'), await opens('Usable-Secret2')], [true, false])
    const rows = JSON.stringify(await dbOf(core).all('select hash from webdav_secret'))
    assert.ok(!rows.includes('Usable-Secret1'))
    await user.put(path, { form: { secret: '' } })
    assert.deepEqual((await user.get(path)).body, { secret: null, is_set: false })
    assert.equal(await opens('Usable-Secret1'), false)
  })
})
