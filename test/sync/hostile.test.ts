import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { Dir } from '../../src/base/objects/dir.ts'
import { dirDirent, fileDirent } from '../../src/base/objects/dirent.ts'
import { type DirId, EMPTY_ID, type FileId } from '../../src/base/objects/ids.ts'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { makeTree, packet, packets, SyncClient, sha1 } from '../support/sync-client.ts'
import { namesIn } from '../support/transfer.ts'

let server: TestServer
let ann: Client
before(async () => {
  server = await startServer()
  ann = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

async function linked(): Promise<SyncClient> {
  return SyncClient.link(ann, await ann.createLibrary())
}

/** A dir as JSON that no encoder would produce. */
function dirJson(dirents: readonly unknown[], more: object = {}): Buffer {
  return Buffer.from(JSON.stringify({ dirents, type: 3, version: 1, ...more }))
}

const entry = (name: string, more: object = {}) => ({
  id: EMPTY_ID,
  mode: 33188,
  modifier: 'a@b.c',
  mtime: 1,
  name,
  size: 0,
  ...more,
})

describe('received objects', () => {
  const unsound: [string, Buffer][] = [
    ['names in the wrong order', dirJson([entry('a'), entry('b')])],
    ['duplicate names', dirJson([entry('a'), entry('a')])],
    ['a parent reference as a name', dirJson([entry('..')])],
    ['a name with a slash', dirJson([entry('a/b')])],
    ['an empty name', dirJson([entry('')])],
    ['a name of 256 bytes', dirJson([entry('ä'.repeat(128))])],
    ['a symbolic link', dirJson([entry('a', { mode: 40960 })])],
    ['an entry without an id', dirJson([entry('a', { id: undefined })])],
    ['an entry with a truncated id', dirJson([entry('a', { id: 'ab' })])],
    ['a negative size', dirJson([entry('a', { size: -1 })])],
    ['a time that is not a number', dirJson([entry('a', { mtime: 'now' })])],
    ['a file without blocks', Buffer.from('{"block_ids": [], "size": 0, "type": 1, "version": 1}')],
    ['an invalid block id', Buffer.from('{"block_ids": ["x"], "size": 1, "type": 1, "version": 1}')],
    ['a dir without entries', dirJson([])],
    ['an unknown type', dirJson([entry('a')], { type: 2 })],
    ['invalid JSON', Buffer.from('hello')],
    ['JSON that is not an object', Buffer.from('[[[[1]]]]')],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['unclosed brackets', Buffer.from('['.repeat(200_000))],
  ]
  for (const [what, json] of unsound) {
    it(`are rejected for ${what}`, async () => {
      const sync = await linked()
      const reply = await sync.call('POST', 'recv-fs/', packets(new Map([[sha1(json), json]])))
      assert.equal(reply.status, 400, reply.text)
      const missing = await sync.call('POST', 'check-fs/', JSON.stringify([sha1(json)]))
      assert.deepEqual(missing.body, [sha1(json)])
    })
  }

  it('are rejected for a wrong hash, a wrong format or a truncated body', async () => {
    const sync = await linked()
    const json = dirJson([entry('a')])
    const id = sha1(json)
    const whole = packet(id, deflateSync(json))
    const sent: [string, Buffer][] = [
      ['another id', packet('a'.repeat(40), deflateSync(json))],
      ['invalid zlib data', packet(id, json)],
      ['an empty object', packet(id, Buffer.alloc(0))],
      ['an invalid id', packet('x'.repeat(40), deflateSync(json))],
      ['a truncated header', whole.subarray(0, 20)],
      ['a truncated object', whole.subarray(0, whole.length - 1)],
      ['a length beyond the body', Buffer.concat([Buffer.from(id), Buffer.from([255, 255, 255, 255]), json])],
      ['truncated zlib data', packet(id, deflateSync(json).subarray(0, 10))],
    ]
    for (const [what, bytes] of sent) {
      assert.equal((await sync.call('POST', 'recv-fs/', bytes)).status, 400, what)
    }
    assert.deepEqual((await sync.call('POST', 'check-fs/', JSON.stringify([id]))).body, [id])
  })

  it('are stored up to the first rejected one', async () => {
    const sync = await linked()
    const [first, second] = [dirJson([entry('a')]), dirJson([entry('b')])]
    const bytes = Buffer.concat([
      packet(sha1(first), deflateSync(first)),
      packet(sha1(second), Buffer.from('no zlib')),
    ])
    assert.equal((await sync.call('POST', 'recv-fs/', bytes)).status, 400)
    const missing = await sync.call('POST', 'check-fs/', JSON.stringify([sha1(first), sha1(second)]))
    assert.deepEqual(missing.body, [sha1(second)])
  })

  it('are rejected when they decompress beyond the limit', async () => {
    const sync = await linked()
    const bomb = deflateSync(Buffer.alloc(200 * 2 ** 20, 0x20))
    const before = process.memoryUsage().rss
    for (let n = 0; n < 5; n++) {
      assert.equal((await sync.call('POST', 'recv-fs/', packet('a'.repeat(40), bomb))).status, 400)
    }
    assert.ok(process.memoryUsage().rss - before < 300 * 2 ** 20)
  })

  it('are stored and returned unchanged if their JSON is formatted differently', async () => {
    const sync = await linked()
    const block = randomBytes(10)
    const file = Buffer.from(`{"version":1,"type":1,"size":10,"block_ids":["${sha1(block)}"]}`)
    const dir = dirJson([entry('a.bin', { id: sha1(file), size: 10 })])
    const tree = {
      root: sha1(dir) as DirId,
      objects: new Map([
        [sha1(file), file],
        [sha1(dir), dir],
      ]),
      blocks: new Map([[sha1(block), block]]),
    }
    await sync.push(tree)
    const got = await sync.fetchObjects([sha1(file), sha1(dir)])
    assert.deepEqual([got.get(sha1(file)), got.get(sha1(dir))], [file, dir])
    assert.deepEqual((await sync.clone()).get('/a.bin'), block)
  })
})

describe('lists of ids', () => {
  it('are accepted with any content, up to a maximum length', async () => {
    const sync = await linked()
    const ids = Array.from({ length: 5000 }, () => randomBytes(20).toString('hex'))
    const reply = await sync.call('POST', 'check-fs/', JSON.stringify(ids))
    assert.deepEqual(reply.body, ids)
    assert.equal((await sync.call('POST', 'check-blocks/', JSON.stringify(ids))).body.length, 5000)
    const odd = await sync.call('POST', 'check-fs/', JSON.stringify([1, null, 'x', EMPTY_ID, ids[0], ids[0]]))
    assert.deepEqual(odd.body, [ids[0]])
    for (const bad of ['', '{', '{}', 'null', '"x"']) {
      assert.equal((await sync.call('POST', 'check-fs/', bad)).status, 400, bad)
      assert.equal((await sync.call('POST', 'check-blocks/', bad)).status, 400, bad)
      assert.equal((await sync.call('POST', 'pack-fs/', bad)).status, 400, bad)
    }
    const deep = `${'['.repeat(1000)}${']'.repeat(1000)}`
    const many = `[${'{},'.repeat(300_000)}{}]`
    for (const bad of [deep, many]) {
      assert.equal((await sync.call('POST', 'check-fs/', bad)).status, 400)
      for (const url of ['folder-perm', 'locked-files', 'head-commits-multi/']) {
        const init = { method: 'POST', body: bad.slice(0, 60_000) }
        assert.equal((await fetch(`${server.url}/seafhttp/repo/${url}`, init)).status, 400)
      }
    }
    assert.equal((await sync.call('POST', 'pack-fs/', '["x"]')).status, 400)
    assert.equal((await sync.call('POST', 'pack-fs/', '[]')).status, 400)
    assert.equal((await sync.call('POST', 'pack-fs/', JSON.stringify([ids[0]]))).status, 500)
    const million = `[${'"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",'.repeat(1_000_000)}""]`
    await assert.rejects(
      sync.call('POST', 'check-fs/', million).then(({ status }) => assert.equal(status, 200)),
    )
  })

  it('are rejected for unknown heads', async () => {
    const sync = await linked()
    const [head, unknown] = [await sync.head(), 'a'.repeat(40)]
    const ask = async (query: string) => sync.call('GET', `fs-id-list/?${query}`)
    const bad = await ask('server-head=x')
    assert.deepEqual([bad.status, bad.text], [400, 'Invalid server-head parameter.'])
    assert.equal((await ask('')).status, 400)
    assert.equal((await ask(`server-head=${head}&client-head=x`)).status, 400)
    assert.equal((await ask(`server-head=${unknown}`)).status, 500)
    assert.equal((await ask(`server-head=${head}&client-head=${unknown}`)).status, 200)
  })
})

describe('blocks', () => {
  it('are stored only under the hash of their bytes', async () => {
    const sync = await linked()
    for (const size of [10, 65_535, 65_536, 3_000_000]) {
      const bytes = randomBytes(size)
      assert.equal((await sync.call('PUT', `block/${sha1('other')}`, bytes)).status, 400)
      assert.equal((await sync.call('PUT', `block/${sha1(bytes)}`, bytes)).status, 200)
      assert.equal((await sync.call('PUT', `block/${sha1(bytes)}`, bytes)).status, 200)
      assert.deepEqual(await sync.bytes(`block/${sha1(bytes)}`), bytes)
    }
    assert.equal((await sync.call('PUT', `block/${sha1('')}`, '')).status, 400)
    assert.equal((await sync.call('GET', `block/${sha1('nothing')}`)).status, 500)
    assert.equal((await sync.call('GET', 'block/x')).status, 404)
  })

  it('of another library can neither be read, referred to nor found', async () => {
    const [sync, other] = [await linked(), await linked()]
    const secret = randomBytes(1000)
    const tree = makeTree({ 'secret.bin': secret }, ann.email)
    await other.push(tree)
    assert.deepEqual((await sync.call('POST', 'check-blocks/', JSON.stringify([sha1(secret)]))).body, [
      sha1(secret),
    ])
    assert.equal((await sync.call('GET', `block/${sha1(secret)}`)).status, 500)
    const head = await sync.head()
    const commit = sync.makeCommit(tree.root, head)
    await sync.putCommit(commit)
    assert.equal((await sync.putHead(commit.id)).status, 400, 'its objects do not exist')
    await sync.sendObjects(tree)
    const reply = await sync.putHead(commit.id)
    assert.deepEqual([reply.status, reply.body], [446, ['secret.bin']])
    assert.equal(await sync.head(), head)
    assert.equal((await other.call('GET', `commit/${commit.id}`)).status, 404)
    await sync.sendBlocks(tree)
    assert.equal((await sync.putHead(commit.id)).status, 200)
  })
})

describe('commits', () => {
  it('are rejected if they are invalid or of another library', async () => {
    const [sync, other] = [await linked(), await linked()]
    const head = await sync.head()
    const changes: Record<string, unknown>[] = [
      { root_id: 'x' },
      { repo_id: other.library },
      { repo_id: 'x' },
      { parent_id: 'x' },
      { creator: 'x' },
      { ctime: 'now' },
      { version: 0 },
      { version: undefined },
      { commit_id: 'b'.repeat(40) },
      { encrypted: 'true', enc_version: 2, magic: 'short', key: '' },
      { description: 1 },
    ]
    for (const change of changes) {
      const { json } = sync.makeCommit(EMPTY_ID, head, change)
      const url = `commit/${'c'.repeat(40)}`
      const body = JSON.stringify('commit_id' in change ? json : { ...json, commit_id: 'c'.repeat(40) })
      assert.equal((await sync.call('PUT', url, body)).status, 400, JSON.stringify(change))
    }
    for (const body of ['', '{', '[]', 'null', Buffer.from([0xff])]) {
      assert.equal((await sync.call('PUT', `commit/${'c'.repeat(40)}`, body)).status, 400)
    }
    assert.equal((await sync.call('GET', `commit/${'c'.repeat(40)}`)).status, 404)
  })

  it('keep their id and cannot be replaced', async () => {
    const sync = await linked()
    const commit = sync.makeCommit(EMPTY_ID, await sync.head())
    assert.equal((await sync.putCommit(commit)).status, 200)
    assert.equal((await sync.putCommit(commit)).status, 200)
    const forged = { ...commit, json: { ...commit.json, description: 'another' } }
    assert.equal((await sync.putCommit(forged)).status, 400)
    const head = await sync.head()
    const over = { id: head, json: { ...commit.json, commit_id: head } }
    assert.equal((await sync.putCommit(over)).status, 400)
  })

  it('become the head only with a stored commit, a parent and a complete tree', async () => {
    const sync = await linked()
    const head = await sync.push({ 'a.txt': 'a' })
    const refuse = async (commit: ReturnType<SyncClient['makeCommit']>, status: number) => {
      assert.equal((await sync.putCommit(commit)).status, 200)
      const reply = await sync.putHead(commit.id)
      assert.equal(reply.status, status, reply.text)
      assert.equal(await sync.head(), head)
    }
    assert.equal((await sync.putHead('x')).status, 400)
    assert.equal((await sync.call('PUT', 'commit/HEAD', '')).status, 400)
    assert.equal((await sync.putHead('f'.repeat(40))).status, 500)
    await refuse(sync.makeCommit(EMPTY_ID, 'f'.repeat(40)), 400)
    await refuse(sync.makeCommit(EMPTY_ID, null), 400)
    await refuse(sync.makeCommit('f'.repeat(40), head), 400)
    const own = sync.makeCommit(EMPTY_ID, head)
    await refuse({ ...own, json: { ...own.json, parent_id: own.id } }, 400)
  })

  it('are rejected with an inconsistent tree', async () => {
    const sync = await linked()
    const whole = makeTree({ folder: { 'a.txt': 'a'.repeat(10) } }, ann.email)
    const head = await sync.push(whole)
    const file = [...whole.objects].find(([, json]) => json.includes('block_ids'))?.[0] as FileId
    const folder = [...whole.objects.keys()].find((id) => id !== whole.root && id !== file) as DirId
    const wrongSize = Buffer.from(
      `{"block_ids": ["${sha1('a'.repeat(10))}"], "size": 11, "type": 1, "version": 1}`,
    )
    const at = { mtime: 1, modifier: ann.email }
    const trees: [string, Dir, Buffer?][] = [
      [
        'a dir listed as a file',
        Dir.of([fileDirent({ id: folder as string as FileId, name: 'a', size: 1, ...at })]),
      ],
      ['a file listed as a dir', Dir.of([dirDirent({ id: file as string as DirId, name: 'a', mtime: 1 })])],
      ['an unknown dir', Dir.of([dirDirent({ id: 'e'.repeat(40) as DirId, name: 'a', mtime: 1 })])],
      ['an unknown file', Dir.of([fileDirent({ id: 'e'.repeat(40) as FileId, name: 'a', size: 1, ...at })])],
      [
        'a file larger than its blocks',
        Dir.of([fileDirent({ id: sha1(wrongSize) as FileId, name: 'a', size: 11, ...at })]),
        wrongSize,
      ],
    ]
    for (const [what, dir, more] of trees) {
      const objects = new Map<string, Buffer>([[dir.id, dir.encoded()]])
      if (more !== undefined) objects.set(sha1(more), more)
      const id = await sync.send({ root: dir.id, objects, blocks: new Map() }, head)
      assert.equal((await sync.putHead(id)).status, 400, what)
      assert.equal(await sync.head(), head, what)
    }
    // A file as the root.
    const asRoot = sync.makeCommit(file, head)
    await sync.putCommit(asRoot)
    assert.equal((await sync.putHead(asRoot.id)).status, 400)
    assert.equal(await sync.head(), head)
  })

  it('are rejected with a few dirs that expand to more files than a number can count', async () => {
    const sync = await linked()
    const head = await sync.head()
    const objects = new Map<string, Buffer>()
    let below: DirId = EMPTY_ID
    let dir = Dir.of([fileDirent({ id: EMPTY_ID, name: 'a', size: 0, mtime: 1, modifier: 'x' })])
    for (let level = 0; level < 60; level++) {
      objects.set(dir.id, dir.encoded())
      below = dir.id
      dir = Dir.of(['l', 'r'].map((name) => dirDirent({ id: below, name, mtime: 1 })))
    }
    objects.set(dir.id, dir.encoded())
    const id = await sync.send({ root: dir.id, objects, blocks: new Map() }, head)
    assert.equal((await sync.putHead(id)).status, 400)
    assert.equal(await sync.head(), head)
  })

  it('may have a tree of a thousand levels', async () => {
    const sync = await linked()
    const objects = new Map<string, Buffer>()
    let dir = Dir.of([fileDirent({ id: EMPTY_ID, name: 'a', size: 0, mtime: 1, modifier: 'x' })])
    for (let level = 0; level < 1000; level++) {
      objects.set(dir.id, dir.encoded())
      dir = Dir.of([dirDirent({ id: dir.id, name: 'd', mtime: 1 })])
    }
    objects.set(dir.id, dir.encoded())
    await sync.push({ root: dir.id, objects, blocks: new Map() })
    assert.equal((await sync.listIds(await sync.head())).length, 1001)
  })
})

describe('a dropped connection', () => {
  it('never moves a head, at any stage, and leaves the library consistent', async () => {
    const sync = await linked()
    const head = await sync.push({ 'a.txt': 'a' })
    const tree = makeTree({ 'a.txt': 'a', 'b.bin': randomBytes(200_000) }, ann.email)
    const commit = sync.makeCommit(tree.root, head)
    const [[block, bytes]] = [...tree.blocks].filter(([, one]) => one.length > 1000) as [[string, Buffer]]
    const stages: [string, string, Buffer][] = [
      ['PUT', `commit/${commit.id}`, Buffer.from(JSON.stringify(commit.json))],
      ['POST', 'recv-fs/', packets(tree.objects)],
      ['PUT', `block/${block}`, bytes],
    ]
    for (const [method, path, body] of stages) await cut(sync, method, path, body)
    assert.equal(await sync.head(), head)
    assert.deepEqual((await sync.call('POST', 'check-blocks/', JSON.stringify([block]))).body, [block])
    await sync.putCommit(commit)
    await sync.sendObjects(tree)
    assert.equal((await sync.putHead(commit.id)).status, 446)
    await sync.sendBlocks(tree)
    assert.equal((await sync.putHead(commit.id)).status, 200)
    assert.deepEqual(await namesIn(ann, sync.library), ['a.txt', 'b.bin'])
  })
})

/** Sends half of a body and closes the connection. */
function cut(sync: SyncClient, method: string, path: string, body: Buffer): Promise<void> {
  const { hostname, port } = new URL(sync.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const head = `${method} /seafhttp/repo/${sync.library}/${path} HTTP/1.1\r\nHost: x\r\nSeafile-Repo-Token: ${sync.token}\r\nContent-Length: ${body.length}\r\n\r\n`
      socket.write(head)
      socket.write(body.subarray(0, body.length / 2), () => socket.destroy())
    })
    socket.once('close', () => resolve())
    socket.once('error', reject)
  })
}
