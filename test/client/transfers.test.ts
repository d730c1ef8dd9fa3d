import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
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

  it('receive many small files by few requests, each under its name with its time', async () => {
    const library = await client.createLibrary('Many')
    const files = new Map<string, Buffer<ArrayBuffer>>([
      ['/large.bin', large.subarray(0, 1_200_000)],
      ['/empty.txt', Buffer.alloc(0)],
      ['/text.txt', Buffer.alloc(50_000, 'text ')],
      ['/names/A.txt', Buffer.from('upper')],
      ['/names/a.txt', Buffer.from('lower')],
      ['/names/a (1).txt', Buffer.from('third')],
    ])
    for (let n = 0; n < 60; n += 1) files.set(`/deep/${n % 20}/in/${n}.bin`, randomBytes(100 + n))
    const modifiedAt = new Date(1_700_000_000_000)
    for (const [at, content] of files) {
      const [folder, name] = [path.posix.dirname(at), path.posix.basename(at)]
      await sdk(server.url).upload({ library, folder }, { name, content, modifiedAt })
    }
    await sdk(server.url).createFolders(library, ['/deep/none'])
    const requests: string[] = []
    let isCut = false
    await using proxy = await startProxy(server.url, (_method, url) => {
      requests.push(url)
      return isCut && url.includes('/zip-task/') ? 'drop' : 'pass'
    })
    await using user = await clientUser(new Client(proxy.url, client.token))
    const received = async (name: string, options: readonly string[] = []) => {
      const root = path.join(user.folder, name)
      const { files: count, skipped } = await user.json(['cp', '-r', 'Many:/', root, ...options])
      for (const [at, content] of files) {
        assert.ok((await readFile(root + at)).equals(content), at)
        assert.equal((await stat(root + at)).mtimeMs, modifiedAt.getTime(), at)
      }
      const names = await readdir(root, { recursive: true })
      assert.ok(names.includes(path.join('deep', 'none')))
      assert.ok(!names.some((one) => one.includes('.carrel-part')))
      return [count, skipped]
    }
    assert.deepEqual(await received('first'), [66, 0])
    const single = requests.filter((url) => url.includes('/seafhttp/files/'))
    assert.equal(single.length, 1, 'only the large file')
    const listings = requests.filter((url) => /\/dir\//.test(url))
    assert.ok(requests.length - listings.length < 40, `${requests.length} requests`)

    requests.length = 0
    await rm(path.join(user.folder, 'first/deep/1/in'), { recursive: true })
    assert.deepEqual(await received('first', ['--update']), [3, 63])
    assert.ok(requests.filter((url) => url.includes('/seafhttp/')).length <= 3)

    // An archive has other names for files that some systems would unpack elsewhere.
    for (const [name, text] of [
      ['c:a.txt', 'a'],
      ['c_a.txt', 'b'],
    ] as const) {
      files.set(`/names/${name}`, Buffer.from(text))
      const file = { name, content: Buffer.from(text), modifiedAt }
      await sdk(server.url).upload({ library, folder: '/names' }, file)
    }
    assert.deepEqual(await received('third'), [68, 0])
    isCut = true
    assert.deepEqual(await received('second'), [68, 0], 'without archives')
  })

  it('take one round trip for every 200 small files sent, and for every 500 received', async () => {
    const [count, folders] = [1100, 11]
    const requests: string[] = []
    await using proxy = await startProxy(server.url, (method, url) => {
      const resource = /\/(upload-api|zip-task|zip|files)\//.exec(url)?.[1]
      if (resource !== undefined) requests.push(`${method} ${resource}`)
      return 'pass'
    })
    await using user = await clientUser(new Client(proxy.url, client.token))
    const library = await client.createLibrary('Round trips')
    for (const at of ['flat', ...Array.from({ length: folders }, (_, n) => `deep/${n}`)])
      await mkdir(path.join(user.folder, at), { recursive: true })
    for (let n = 0; n < count; n += 1) {
      for (const at of ['flat', `deep/${n % folders}`])
        await writeFile(path.join(user.folder, at, `${n}`), `file ${n}`)
    }
    const made = async (...args: string[]) => {
      requests.length = 0
      const { files } = await user.json(['cp', '-r', ...args])
      assert.equal(files, count)
      return Object.fromEntries(
        [...Map.groupBy(requests, (one) => one)].map(([one, all]) => [one, all.length]),
      )
    }
    const local = (name: string) => path.join(user.folder, name)
    const inOneFolder = Math.ceil(count / 200)
    assert.deepEqual(await made(local('flat'), 'Round trips:/'), { 'POST upload-api': inOneFolder })
    // A request sends files to one folder.
    assert.deepEqual(await made(local('deep'), 'Round trips:/'), { 'POST upload-api': folders })
    const archives = Math.ceil(count / 500)
    const received = { 'POST zip-task': archives, 'GET zip': archives }
    assert.deepEqual(await made('Round trips:/flat', local('flat again')), received)
    assert.deepEqual(await made('Round trips:/deep', local('deep again')), received)
    for (const at of ['flat', 'deep/0'])
      assert.deepEqual((await readdir(local(at))).length, (await namesIn(client, library, `/${at}`)).length)
  })
})
