import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { findProgram } from '../../bin/system-programs.ts'
import type { Client } from '../support/client.ts'
import { randomBytesFrom } from '../support/import-bytes.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { storedBytes, uploadFile } from '../support/transfer.ts'
import { type ClientUser, clientUser } from './support.ts'

const TIME = 1_700_000_000
const SECRET = 'davSecret-1'
const LARGE = randomBytesFrom('import', 2_500_000)
const UNICODE = 'größe – 大 😀 & %.txt'

describe('carrel import', () => {
  let server: TestServer
  let ann: Client
  let user: ClientUser
  before(async () => {
    server = await startServer()
    ann = await server.signUp({ email: 'ann@example.org' })
    await ann.put('/api/v2.1/webdav-secret/', { form: { secret: SECRET } })
    user = await clientUser(ann)
  })
  after(async () => {
    await user[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
  })

  /** The entries of a folder by name: seconds of files, 'dir' for folders. */
  const timesIn = async (library: string, folder: string) => {
    const { status, body, text } = await ann.get(`/api2/repos/${library}/dir/`, { p: folder })
    assert.equal(status, 200, text)
    return Object.fromEntries(
      (body as { name: string; type: string; mtime: number }[]).map(({ name, type, mtime }) => [
        name,
        type === 'dir' ? 'dir' : mtime,
      ]),
    )
  }
  const idOf = async (name: string): Promise<string> => {
    const { body } = await ann.get('/api/v2.1/repos/', { type: 'mine' })
    return body.repos.find((one: { repo_name: string }) => one.repo_name === name)?.repo_id
  }

  it('dir: keeps times, names what it leaves out, and goes on', async () => {
    const source = path.join(user.folder, 'source')
    await mkdir(path.join(source, 'deep/empty'), { recursive: true })
    for (const [name, content] of [
      ['a.txt', 'one'],
      [UNICODE, 'unicode'],
      ['deep/large.bin', LARGE],
      ['back\\slash.txt', 'refused'],
    ] as const) {
      await writeFile(path.join(source, name), content)
      await utimes(path.join(source, name), TIME, TIME)
    }
    await symlink('a.txt', path.join(source, 'link'))
    await mkdir(path.join(source, 'empty\u0085'))
    const dryRun = ['import', 'dir', source, 'Imported:/in', '--dry-run']
    const planned = await user.json([...dryRun, '--create'], 9)
    assert.equal(await idOf('Imported'), undefined)
    await user.run(dryRun, 6)

    await user.run(['import', 'dir', source, 'Imported:/in'], 6)
    const first = await user.json(['import', 'dir', source, 'Imported:/in', '--create'], 9)
    assert.deepEqual(planned, first, 'the dry run said so')
    assert.deepEqual([first.files, first.bytes, first.present], [3, 3 + 7 + LARGE.length, 0])
    assert.deepEqual(first.skipped, [
      { path: path.join(source, 'link'), reason: 'it is neither a file nor a folder' },
    ])
    assert.deepEqual(
      first.failed.map((one: { item: string }) => one.item),
      [path.join(source, 'back\\slash.txt'), path.join(source, 'empty\u0085')],
    )
    const library = await idOf('Imported')
    assert.deepEqual(await timesIn(library, '/in'), { deep: 'dir', 'a.txt': TIME, [UNICODE]: TIME })
    assert.deepEqual(await timesIn(library, '/in/deep'), { empty: 'dir', 'large.bin': TIME })
    assert.deepEqual(await storedBytes(server, library, '/in/deep/large.bin'), LARGE)

    await writeFile(path.join(source, 'a.txt'), 'two!')
    const plannedAgain = await user.json(dryRun, 9)
    assert.notEqual(String(await storedBytes(server, library, '/in/a.txt')), 'two!')
    const again = await user.json(['import', 'dir', source, 'Imported:/in', '--create'], 9)
    assert.deepEqual(plannedAgain, again, 'the dry run said so')
    assert.deepEqual([again.files, again.bytes, again.present], [1, 4, 2])
    assert.equal(String(await storedBytes(server, library, '/in/a.txt')), 'two!')
  })

  it('webdav: brings over a folder of another server with its times', async () => {
    const from = await ann.createLibrary('At the other server')
    const lastModify = new Date(TIME * 1000).toISOString()
    await uploadFile(ann, from, `/docs/${UNICODE}`, 'unicode', { lastModify })
    await uploadFile(ann, from, '/docs/deep/large.bin', LARGE, { lastModify })
    await uploadFile(ann, from, '/docs/deep/zero.txt', '', { lastModify })
    await ann.post(`/api2/repos/${from}/dir/`, { query: { p: '/docs/empty' }, form: { operation: 'mkdir' } })
    const url = `${server.url}/dav/At%20the%20other%20server/docs`
    const args = ['import', 'webdav', url, 'From WebDAV:/', '--create', '--user', ann.email]
    await user.run(args, 4, 'wrong\n')
    const done = await user.json(args, 0, `${SECRET}\n`)
    assert.deepEqual([done.files, done.bytes, done.present], [3, 7 + LARGE.length, 0])
    const library = await idOf('From WebDAV')
    assert.deepEqual(await timesIn(library, '/'), { deep: 'dir', empty: 'dir', [UNICODE]: TIME })
    assert.deepEqual(await timesIn(library, '/deep'), { 'large.bin': TIME, 'zero.txt': TIME })
    assert.deepEqual(await storedBytes(server, library, '/deep/large.bin'), LARGE)
    const again = await user.json(args, 0, `${SECRET}\n`)
    assert.deepEqual([again.files, again.present], [0, 3])
    await user.run(
      ['import', 'webdav', `${server.url}/dav/nothing`, 'From WebDAV:/', '--user', ann.email],
      6,
      SECRET,
    )
    await user.run(['import', 'webdav', 'https://ann:secret@files.example.org/', 'From WebDAV:/'], 2)
  })

  it('webdav: takes only names from a server, and none that leave the folder', async () => {
    const library = await ann.createLibrary('Hostile')
    const file = (href: string, size: number | string = 2) =>
      `<D:response><D:href>${href}</D:href><D:propstat><D:prop><D:getcontentlength>${size}</D:getcontentlength></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`
    const folder = (href: string) =>
      `<D:response><D:href>${href}</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>`
    const listings: Record<string, string> = {
      '/base/': [
        folder('/base/'),
        file('/base/ok.txt'),
        file('http://elsewhere.example/base/proxied.txt'),
        file('/other/outside.txt'),
        file('/base/../up.txt'),
        file('/base/deep/er.txt'),
        file('/base/a%2Fb.txt'),
        file('/base/latin%E9.txt'),
        file('/base/shorter.txt', 1),
        file('/base/longer.txt', 3),
        file('/base/unknown.txt', -1),
        folder('/base/loop/'),
        folder('/base/closed/'),
      ].join(''),
      '/base/loop/': folder('/base/loop/') + folder('/base/'),
    }
    const requested: string[] = []
    const other = createServer((request, response) => {
      requested.push(`${request.method} ${request.url}`)
      const listing = listings[request.url ?? '']
      if (request.method === 'GET') return void response.end('ok')
      if (listing === undefined) return void response.writeHead(403).end()
      response.writeHead(207, { 'Content-Type': 'application/xml' })
      response.end(`<?xml version="1.0"?><D:multistatus xmlns:D="DAV:">${listing}</D:multistatus>`)
    }).listen(0, '127.0.0.1')
    await once(other, 'listening')
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}/base`
    try {
      const done = await user.json(['import', 'webdav', url, 'Hostile:/'], 9)
      assert.equal(done.files, 2)
      assert.deepEqual(Object.keys(await timesIn(library, '/')).sort(), ['loop', 'ok.txt', 'proxied.txt'])
      assert.deepEqual(done.failed.map((one: { item: string }) => one.item).sort(), [
        '/closed',
        '/longer.txt',
        '/shorter.txt',
      ])
      assert.equal(done.skipped.length, 7)
      assert.ok(requested.every((one) => !/outside|\/up\.txt|\/er\.txt/.test(one)))
      listings['/base/'] = '<!DOCTYPE x [<!ENTITY a "b">]>'
      assert.match((await user.run(['import', 'webdav', url, 'Hostile:/'], 1)).stderr, /not a list of WebDAV/)
    } finally {
      other.closeAllConnections()
      other.close()
    }
  })

  it('rclone: brings over what a remote of rclone has, with its times', async (t) => {
    if (findProgram('rclone') === undefined) return t.skip('rclone is not installed')
    const source = path.join(user.folder, 'remote')
    await mkdir(path.join(source, 'deep'), { recursive: true })
    for (const [name, content] of [
      [UNICODE, 'unicode'],
      ['deep/large.bin', LARGE],
    ] as const) {
      await writeFile(path.join(source, name), content)
      await utimes(path.join(source, name), TIME, TIME)
    }
    const args = ['import', 'rclone', `:local:${source}`, 'From rclone:/in', '--create']
    const done = await user.json(args)
    assert.deepEqual([done.files, done.bytes], [2, 7 + LARGE.length])
    const library = await idOf('From rclone')
    assert.deepEqual(await timesIn(library, '/in'), { deep: 'dir', [UNICODE]: TIME })
    assert.deepEqual(await storedBytes(server, library, '/in/deep/large.bin'), LARGE)
    assert.equal((await user.json(args)).present, 2)
    await rm(source, { recursive: true })
    const unknown = await user.run(['import', 'rclone', 'no-such-remote:', 'From rclone:/in'], 1)
    assert.match(unknown.stderr, /rclone cannot be used/)
  })
})
