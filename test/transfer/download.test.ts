import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readlink } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { FileId } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { removeOne } from '../../src/libraries/edits/entries.ts'
import { dbOf } from '../../src/libraries/library/core.ts'
import type { TicketOperation } from '../../src/sharing/access/tickets.ts'
import type { Client } from '../support/client.ts'
import { at } from '../support/core.ts'
import { rawGet } from '../support/raw-get.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { bytesOf, openLibrary, SIZES, storeFile } from '../support/stored-files.ts'
import { eventually } from '../support/transfer.ts'

const TIME = 1_700_000_000
let now = TIME + 1000
let server: TestServer
let client: Client
let library: string

before(async () => {
  server = await startServer({ now: () => now })
  client = await server.signUp()
  library = await client.createLibrary()
})
after(() => server[Symbol.asyncDispose]())

async function linkTo(path: string, reuse = 1): Promise<string> {
  const reply = await client.get(`/api2/repos/${library}/file/`, { p: path, reuse })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** A link of any kind. */
async function ticketFor(operation: TicketOperation, id?: string, reusable = true): Promise<string> {
  const opened = await openLibrary(server, client, library)
  const object = id === undefined ? {} : { objectId: id as FileId }
  return server.running.services.tickets.issue(opened, { operation, path: at('/x'), ...object, reusable })
}

describe('a download', () => {
  it('returns the exact bytes for every size', async () => {
    for (const size of SIZES) {
      const bytes = bytesOf(size)
      await storeFile(server, client, library, `/${size}.bin`, bytes)
      const reply = await rawGet(await linkTo(`/${size}.bin`))
      assert.equal(reply.status, 200)
      assert.equal(reply.headers['content-length'], String(size))
      assert.ok(reply.bytes.equals(bytes), `${size} bytes`)
      assert.equal(reply.isCut, false)
    }
  })

  it('has headers that describe the file', async () => {
    const id = await storeFile(server, client, library, '/a b.txt', Buffer.from('hello'), TIME)
    const link = await linkTo('/a b.txt')
    for (const method of ['GET', 'HEAD']) {
      const reply = await rawGet(link, { method, headers: { authorization: 'Token nonsense' } })
      assert.equal(reply.status, 200)
      const { date: _date, 'x-request-id': _id, connection: _connection, ...headers } = reply.headers
      assert.deepEqual(headers, {
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
        'cross-origin-resource-policy': 'cross-origin',
        'referrer-policy': 'no-referrer',
        'cache-control': 'max-age=3600',
        'access-control-allow-origin': '*',
        'content-disposition': `attachment;filename*=utf-8''a%20b.txt;filename="a b.txt"`,
        'accept-ranges': 'bytes',
        etag: `"${id}"`,
        'last-modified': new Date(TIME * 1000).toUTCString(),
        'content-type': 'text/plain; charset=utf-8',
        'content-length': '5',
      })
      assert.equal(reply.bytes.toString(), method === 'GET' ? 'hello' : '')
    }
  })

  const names: [name: string, type: string][] = [
    ['a.html', 'application/octet-stream'],
    ['a.SVG', 'application/octet-stream'],
    ['a.xml', 'application/octet-stream'],
    ['a.xhtml', 'application/octet-stream'],
    ['a.png', 'image/png'],
    ['a.tar.gz', 'application/octet-stream'],
    ['a.json', 'text/plain; charset=utf-8'],
    ['none', 'application/octet-stream'],
    ['.html', 'application/octet-stream'],
    ['a.', 'application/octet-stream'],
    ['a.constructor', 'application/octet-stream'],
  ]
  for (const [name, type] of names) {
    it(`of ${name} is ${type}`, async () => {
      const id = await storeFile(server, client, library, '/typed', Buffer.from('x'))
      for (const operation of ['download', 'view'] as const) {
        const ticket = await ticketFor(operation, id)
        const { status, headers } = await rawGet(`${server.url}/seafhttp/files/${ticket}/${name}`)
        assert.equal(status, 200)
        assert.equal(headers['content-type'], type)
        const isInline = operation === 'view' && type !== 'application/octet-stream'
        assert.match(String(headers['content-security-policy']), /^sandbox; default-src 'none'/)
        assert.match(headers['content-disposition'] ?? '', isInline ? /^inline;/ : /^attachment;/)
      }
    })
  }

  const hostile: [segment: string, encoded: string, plain: string][] = [
    ['%0D%0ASet-Cookie:%20a=b', '%0D%0ASet-Cookie%3A%20a%3Db', '__Set-Cookie: a=b'],
    ['%22;filename=%22x.exe', '%22%3Bfilename%3D%22x.exe', '__filename=_x.exe'],
    ['a%5C%22b', 'a%5C%22b', 'a__b'],
    ['%E6%96%87%E4%BB%B6.txt', '%E6%96%87%E4%BB%B6.txt', '__.txt'],
    ['%F0%9F%98%80%27%28%29%2A', '%F0%9F%98%80%27%28%29%2A', "_'()*"],
    ['%00%7F', '%00%7F', '__'],
    ['a%2541', 'a%2541', 'a_41'],
  ]
  for (const [segment, encoded, plain] of hostile) {
    it(`has a safe name for a link that ends in ${segment}`, async () => {
      const id = await storeFile(server, client, library, '/named', Buffer.from('x'))
      const ticket = await ticketFor('download', id)
      const { status, headers } = await rawGet(`${server.url}/seafhttp/files/${ticket}/${segment}`)
      assert.equal(status, 200)
      assert.equal(
        headers['content-disposition'],
        `attachment;filename*=utf-8''${encoded};filename="${plain}"`,
      )
      assert.equal(headers['set-cookie'], undefined)
    })
  }

  it('keeps the content and the time of its link', async () => {
    await storeFile(server, client, library, '/kept.txt', Buffer.from('old'), TIME)
    const link = await linkTo('/kept.txt')
    await storeFile(server, client, library, '/kept.txt', Buffer.from('new'), TIME + 500)
    const changed = await rawGet(link)
    assert.equal(changed.bytes.toString(), 'old')
    assert.equal(changed.headers['last-modified'], new Date(TIME * 1000).toUTCString())
    assert.equal((await rawGet(await linkTo('/kept.txt'))).bytes.toString(), 'new')
    const opened = await openLibrary(server, client, library)
    await removeOne(server.running.services.core, opened.editable(ROOT), at('/kept.txt'))
    assert.equal((await rawGet(link)).bytes.toString(), 'old')
  })
})

describe('a disconnected client', () => {
  it('leaves no open descriptor behind', { skip: process.platform !== 'linux' }, async () => {
    await storeFile(server, client, library, '/left.bin', bytesOf(30 * 2 ** 20))
    const link = await linkTo('/left.bin')
    const openBlocks = async () => {
      const names = await readdir('/proc/self/fd')
      const files = await Promise.all(names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')))
      return files.filter((file) => file.startsWith(path.join(server.data, 'blocks'))).length
    }
    const before = await openBlocks()
    const leaving = Array.from({ length: 20 }, async () => {
      const [reply] = (await once(get(link, { agent: false }), 'response')) as [IncomingMessage]
      await once(reply, 'readable')
      reply.destroy()
    })
    await Promise.all(leaving)
    await eventually(async () => assert.equal(await openBlocks(), before))
    assert.equal((await rawGet(link)).bytes.length, 30 * 2 ** 20)
  })
})

describe('a download link', () => {
  it('is valid for one response of any kind, unless it was requested as reusable', async () => {
    const id = await storeFile(server, client, library, '/once.txt', Buffer.from('hello'))
    const requests: { method?: string; headers?: Record<string, string> }[] = [
      {},
      { method: 'HEAD' },
      { headers: { range: 'bytes=1-2' } },
      { headers: { range: 'bytes=9-' } },
      { headers: { 'if-none-match': `"${id}"` } },
    ]
    for (const request of requests) {
      const link = await linkTo('/once.txt', 0)
      assert.ok((await rawGet(link, request)).status < 417)
      const second = await rawGet(link)
      assert.deepEqual([second.status, second.bytes.toString()], [403, 'Access token not found'])
      assert.equal(second.headers['content-type'], 'text/plain; charset=utf-8')
    }
    const reusable = await linkTo('/once.txt')
    for (const request of [...requests, {}]) assert.notEqual((await rawGet(reusable, request)).status, 403)
  })

  it('is consumed by exactly one of many concurrent requests', async () => {
    await storeFile(server, client, library, '/race.bin', bytesOf(3_000_000))
    const link = await linkTo('/race.bin', 0)
    const replies = await Promise.all(Array.from({ length: 8 }, () => rawGet(link)))
    const statuses = replies.map((reply) => reply.status).sort((a, b) => a - b)
    assert.deepEqual(statuses, [200, 403, 403, 403, 403, 403, 403, 403])
    assert.equal(replies.find((reply) => reply.status === 200)?.bytes.length, 3_000_000)
  })

  it('expires', async () => {
    await storeFile(server, client, library, '/late.txt', Buffer.from('x'))
    const link = await linkTo('/late.txt')
    now += 3599
    assert.equal((await rawGet(link)).status, 200)
    now += 2
    assert.equal((await rawGet(link)).status, 403)
  })

  it('is rejected once its account cannot read the library', async () => {
    const other = await server.signUp()
    const theirs = await other.createLibrary()
    await storeFile(server, other, theirs, '/secret.txt', Buffer.from('x'))
    const link = (await other.get(`/api2/repos/${theirs}/file/`, { p: '/secret.txt', reuse: 1 })).body
    const { core, accounts } = server.running.services
    const { key } = await accounts.get(client.email)
    await dbOf(core).write((tx) => tx.run('update library set owner_key = ? where id = ?', key, theirs))
    const reply = await rawGet(link)
    assert.deepEqual([reply.status, reply.bytes.toString()], [403, 'Permission denied.'])
    await dbOf(core).write((tx) => tx.run('update account set active = 0 where email = ?', other.email))
    assert.equal((await rawGet(link)).bytes.toString(), 'Access token not found')
  })

  it('is rejected with a plain message when it is invalid', async () => {
    const id = await storeFile(server, client, library, '/x', Buffer.from('x'))
    const download = await ticketFor('download', id)
    const refused: [path: string, status: number, text: string][] = [
      ['files/nonsense/x', 403, 'Access token not found'],
      [`files/${'0'.repeat(1000)}/x`, 403, 'Access token not found'],
      ['files/%00/x', 403, 'Access token not found'],
      [`files/${await ticketFor('upload')}/x`, 403, 'Operation does not match access token.'],
      [`files/${await ticketFor('archive')}/x`, 403, 'Operation does not match access token.'],
      [`files/${await ticketFor('download')}/x`, 400, 'Invalid file id'],
      [`files/${download}`, 400, 'Invalid URL'],
      [`files/${download}/`, 400, 'Invalid URL'],
      [`files/${download}/a%2Fb`, 400, 'Invalid URL'],
    ]
    for (const [path, status, text] of refused) {
      const reply = await rawGet(`${server.url}/seafhttp/${path}`)
      assert.deepEqual([path, reply.status, reply.bytes.toString()], [path, status, text])
    }
    for (const method of ['POST', 'PUT', 'DELETE']) {
      assert.equal((await rawGet(`${server.url}/seafhttp/files/${download}/x`, { method })).status, 405)
    }
    assert.equal((await rawGet(`${server.url}/seafhttp/files/${download}/a/b`)).status, 404)
  })

  it('to a file of an encrypted library requires the password', async () => {
    const encrypted = await client.createLibrary('Encrypted')
    const id = await storeFile(server, client, encrypted, '/x', Buffer.from('x'))
    await server.running.services.db.write((tx) =>
      tx.run(
        `update library set enc_version = 2, magic = ?, random_key = ? where id = ?`,
        'a'.repeat(64),
        'b'.repeat(96),
        encrypted,
      ),
    )
    const opened = await openLibrary(server, client, encrypted)
    assert.ok(opened.info.encryption)
    const options = {
      operation: 'download',
      path: at('/x'),
      objectId: id as FileId,
      reusable: false,
    } as const
    const ticket = await server.running.services.tickets.issue(opened, options)
    for (const _ of [1, 2]) {
      const reply = await rawGet(`${server.url}/seafhttp/files/${ticket}/x`)
      const text = 'Repo is encrypted. Please provide password to view it.'
      assert.deepEqual([reply.status, reply.bytes.toString()], [400, text])
    }
  })
})

describe('conditions', () => {
  it('avoid sending a cached representation again', async () => {
    const id = await storeFile(server, client, library, '/cond.txt', Buffer.from('hello'), TIME)
    const link = await linkTo('/cond.txt')
    const cases: [headers: Record<string, string>, status: number][] = [
      [{ 'if-none-match': `"${id}"` }, 304],
      [{ 'if-none-match': id }, 304],
      [{ 'if-none-match': `W/"${id}"` }, 304],
      [{ 'if-none-match': `"x", "${id}"` }, 304],
      [{ 'if-none-match': '*' }, 304],
      [{ 'if-none-match': '"x"' }, 200],
      [{ 'if-none-match': '"x"', 'if-modified-since': new Date(0).toUTCString() }, 200],
      [{ 'if-modified-since': new Date(0).toUTCString() }, 200],
      [{ 'if-modified-since': new Date(TIME * 1000).toUTCString() }, 304],
      [{ 'if-modified-since': 'whenever' }, 200],
      [{ 'if-match': '"x"' }, 412],
      [{ 'if-unmodified-since': new Date(0).toUTCString() }, 412],
      [{ 'if-none-match': `"${id}"`, range: 'bytes=0-1' }, 304],
      [{ range: 'bytes=0-1', 'if-range': `"${id}"` }, 206],
      [{ range: 'bytes=0-1', 'if-range': id }, 206],
      [{ range: 'bytes=0-1', 'if-range': `W/"${id}"` }, 200],
      [{ range: 'bytes=0-1', 'if-range': '"x"' }, 200],
      [{ range: 'bytes=9-', 'if-range': '"x"' }, 200],
      [{ range: 'bytes=0-1', 'if-range': new Date(TIME * 1000).toUTCString() }, 206],
      [{ range: 'bytes=0-1', 'if-range': new Date(TIME * 1000 + 1000).toUTCString() }, 200],
    ]
    for (const [headers, status] of cases) {
      const reply = await rawGet(link, { headers })
      assert.deepEqual([headers, reply.status], [headers, status])
      const expected = { 200: 'hello', 206: 'he', 304: '', 412: 'Precondition failed.' }[status]
      assert.equal(reply.bytes.toString(), expected)
      if (status === 304) assert.equal(reply.headers.etag, `"${id}"`)
      if (status === 304) assert.equal(reply.headers['content-length'], undefined)
    }
  })
})

describe('digests', () => {
  const base64 = (algorithm: string, bytes: Buffer) => createHash(algorithm).update(bytes).digest('base64')

  it('are sent on request, of the whole file and of the returned part', async () => {
    const bytes = bytesOf(9 * 2 ** 20)
    await storeFile(server, client, library, '/digest.bin', bytes)
    const link = await linkTo('/digest.bin')
    const cases: [headers: Record<string, string>, repr?: string, content?: string][] = [
      [{}],
      [{ 'want-repr-digest': 'sha-256=5' }, `sha-256=:${base64('sha256', bytes)}:`],
      [{ 'want-repr-digest': 'sha-256=1, sha-512=9' }, `sha-512=:${base64('sha512', bytes)}:`],
      [{ 'want-repr-digest': 'sha-512=0, md5=10, sha-256=1' }, `sha-256=:${base64('sha256', bytes)}:`],
      [{ 'want-repr-digest': 'sha-256=0' }],
      [{ 'want-repr-digest': 'nonsense' }],
      [{ 'want-content-digest': 'sha-256=1' }, undefined, `sha-256=:${base64('sha256', bytes)}:`],
      [
        { 'want-content-digest': 'sha-256=1', 'want-repr-digest': 'sha-256=1', range: 'bytes=5-9' },
        `sha-256=:${base64('sha256', bytes)}:`,
        `sha-256=:${base64('sha256', bytes.subarray(5, 10))}:`,
      ],
    ]
    for (const [headers, repr, content] of cases) {
      const reply = await rawGet(link, { headers })
      assert.equal(reply.headers['repr-digest'], repr)
      assert.equal(reply.headers['content-digest'], content)
    }
    const head = await rawGet(link, { method: 'HEAD', headers: { 'want-repr-digest': 'sha-256=1' } })
    assert.equal(head.headers['repr-digest'], `sha-256=:${base64('sha256', bytes)}:`)
  })
})
