import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Carrel, CarrelError } from '../../sdk/src/index.ts'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { namesIn, storedBytes, uploadFile } from '../support/transfer.ts'
import { clientUser, startProxy } from './support.ts'

describe('transfers of the SDK and the client', () => {
  let server: TestServer
  let client: Client
  before(async () => {
    server = await startServer()
    client = await server.signUp()
  })
  after(() => server[Symbol.asyncDispose]())

  const large = randomBytes(20_000_000)
  const sdk = (url: string) => new Carrel({ url, token: client.token ?? '', firstDelayMs: 1 })

  it('repeat what a busy server refuses and what a lost connection interrupts', async () => {
    const library = await client.createLibrary('Retries')
    const seen = new Map<string, number>()
    await using proxy = await startProxy(server.url, (method, url) => {
      const count = (seen.get(method + url) ?? 0) + 1
      seen.set(method + url, count)
      return count === 1 ? 'busy' : count === 2 && method !== 'POST' ? 'drop' : 'pass'
    })
    const carrel = sdk(proxy.url)
    await carrel.createFolders(library, ['/a'])
    const names: string[] = []
    for await (const entry of carrel.list(library, '/')) names.push(entry.name)
    assert.deepEqual(names, ['a'])
    await assert.rejects(
      new Carrel({ url: proxy.url, token: client.token ?? '', maxAttempts: 1 }).head(library),
      (error) => error instanceof CarrelError && error.kind === 'busy' && error.status === 503,
    )
  })

  it('do not repeat a change whose response was lost, unless it is idempotent', async () => {
    const library = await client.createLibrary('Lost')
    await using proxy = await startProxy(server.url, (method) =>
      method === 'POST' ? 'drop-response' : 'pass',
    )
    await uploadFile(client, library, '/x/a.txt', 'a')
    await assert.rejects(
      sdk(proxy.url).copyFile(library, '/x/a.txt', { library, folder: '/x' }),
      (error) => error instanceof CarrelError && error.kind === 'unreachable',
    )
    assert.deepEqual(await namesIn(client, library, '/x'), ['a (1).txt', 'a.txt'])
  })

  it('continue an upload in chunks where it stopped, also of another process', async () => {
    const library = await client.createLibrary('Chunks')
    const file = { name: 'large.bin', content: new Blob([large]), modifiedAt: new Date(1_700_000_000_000) }
    const to = { library, folder: '/new' }
    const sha256 = async () => createHash('sha256').update(large).digest()
    const stop = new AbortController()
    const onProgress = (done: number) => done >= 8_000_000 && stop.abort(new Error('stopped'))
    await assert.rejects(
      sdk(server.url).upload(to, file, { onProgress, signal: stop.signal, sha256 }),
      /stopped/,
    )
    const offsets: number[] = []
    await sdk(server.url).upload(to, file, { sha256, onProgress: (done) => void offsets.push(done) })
    assert.deepEqual(offsets, [8_000_000, 16_000_000, 20_000_000])
    assert.ok((await storedBytes(server, library, '/new/large.bin')).equals(large))
  })

  it('start an upload over if the stored part is of another content', async () => {
    const library = await client.createLibrary('Other')
    const to = { library, folder: '/' }
    const stop = new AbortController()
    const other = { name: 'f', content: new Blob([randomBytes(large.length)]) }
    const onProgress = (done: number) => done >= 8_000_000 && stop.abort(new Error('stopped'))
    await assert.rejects(sdk(server.url).upload(to, other, { onProgress, signal: stop.signal }), /stopped/)
    const sha256 = async () => createHash('sha256').update(large).digest()
    await sdk(server.url).upload(to, { name: 'f', content: new Blob([large]) }, { sha256 })
    assert.ok((await storedBytes(server, library, '/f')).equals(large))
  })

  it('find a file whose last response was lost instead of sending it again', async () => {
    const library = await client.createLibrary('Last')
    let posts = 0
    await using proxy = await startProxy(server.url, (method, url) => {
      if (method !== 'POST' || !url.includes('/seafhttp/')) return 'pass'
      posts += 1
      return posts === 3 ? 'drop-response' : 'pass'
    })
    const file = { name: 'f', content: new Blob([large]), modifiedAt: new Date(1_700_000_000_000) }
    await sdk(proxy.url).upload({ library, folder: '/' }, file)
    assert.equal(posts, 3)
    assert.deepEqual(await namesIn(client, library), ['f'])
    assert.ok((await storedBytes(server, library, '/f')).equals(large))
  })

  it('continue a download after a lost connection, and after a killed process', async () => {
    const library = await client.createLibrary('Down')
    await uploadFile(client, library, '/f', large)
    let cuts = 0
    await using proxy = await startProxy(server.url, (_method, url) =>
      url.includes('/seafhttp/files/') && cuts++ < 2 ? 'cut-response' : 'pass',
    )
    const proxied = new Client(proxy.url, client.token)
    await using user = await clientUser(proxied)
    const target = path.join(user.folder, 'f')
    await user.run(['cp', 'Down:/f', target])
    assert.ok((await readFile(target)).equals(large))
    assert.deepEqual((await readdir(user.folder)).sort(), ['f'])
    assert.ok(cuts >= 3)

    const carrel = sdk(server.url)
    const entry = (await carrel.find(library, '/f')) ?? assert.fail()
    const name = `.carrel-part-${entry.id.slice(0, 20)}-${createHash('sha1').update('f').digest('hex').slice(0, 12)}`
    await writeFile(path.join(user.folder, name), large.subarray(0, 15_000_000))
    await user.run(['cp', 'Down:/f', target])
    assert.ok((await readFile(target)).equals(large))
    assert.deepEqual((await readdir(user.folder)).sort(), ['f'])
  })
})
