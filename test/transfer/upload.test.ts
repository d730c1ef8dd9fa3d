import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  BOUNDARY,
  filePart,
  formBytes,
  headOf,
  intoRoot,
  namesIn,
  postForm,
  type SentPart,
  storedBytes,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'

const EMPTY = '0'.repeat(40)
const ID = /^[0-9a-f]{40}$/

let server: TestServer
let user: Client
before(async () => {
  server = await startServer()
  user = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

describe('an upload', () => {
  it('returns the id of the file as plain text', async () => {
    const library = await user.createLibrary()
    const reply = await postForm(await uploadLink(user, library), [intoRoot, filePart('a.txt', 'hello')])
    assert.equal(reply.status, 200)
    assert.match(reply.text, ID)
    assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
    assert.equal((await storedBytes(server, library, '/a.txt')).toString(), 'hello')
  })

  it('of a large file and small ones stores each unchanged', async () => {
    const library = await user.createLibrary()
    const files: [name: string, bytes: Buffer][] = [
      ['first', randomBytes(70_000)],
      ['long', randomBytes(40_000_001)],
      ['short', randomBytes(1000)],
      ['long again', randomBytes(21_000_000)],
      ['last', randomBytes(60_000)],
    ]
    const parts = files.map(([name, bytes]) => filePart(name, bytes))
    const reply = await postForm(await uploadLink(user, library), [intoRoot, ...parts])
    assert.equal(reply.status, 200)
    for (const [name, bytes] of files) {
      assert.ok((await storedBytes(server, library, `/${name}`)).equals(bytes), name)
    }
  })

  it('with `keep_same` can be repeated: the file that is stored already is the answer', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const at = (time: string) => ['last_modify', time] as const
    const send = (...files: [name: string, text: string, time: string][]) =>
      postForm(
        link,
        [
          intoRoot,
          ['keep_same', '1'],
          ...files.flatMap(([name, text, time]) => [at(time), filePart(name, text)]),
        ],
        { query: 'ret-json=1' },
      )
    const then = '2023-11-14T22:13:20Z'
    const named = async (...files: Parameters<typeof send>) =>
      (await send(...files)).body.map(({ name }: { name: string }) => name)
    assert.deepEqual(await named(['a.txt', 'one', then], ['b.txt', 'two', then]), ['a.txt', 'b.txt'])
    const head = await headOf(user, library)
    assert.deepEqual(await named(['b.txt', 'two', then], ['a.txt', 'one', then]), ['b.txt', 'a.txt'])
    assert.equal(await headOf(user, library), head)
    // New files, and those that differ in content or time, are stored.
    assert.deepEqual(await named(['a.txt', 'one', then], ['b.txt', 'new', then], ['c.txt', 'two', then]), [
      'a.txt',
      'b (1).txt',
      'c.txt',
    ])
    assert.deepEqual(await named(['a.txt', 'one', '2024-01-01T00:00:00Z']), ['a (1).txt'])
    // It may have got a number.
    assert.deepEqual(await named(['b.txt', 'new', then]), ['b (1).txt'])
    const names = ['a (1).txt', 'a.txt', 'b (1).txt', 'b.txt', 'c.txt']
    assert.deepEqual(await namesIn(user, library), names)
    assert.equal((await storedBytes(server, library, '/b.txt')).toString(), 'two')
  })

  it('with `keep_same` of two requests at once stores the file once, in chunks too', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const parts = [
      intoRoot,
      ['keep_same', '1'] as const,
      ['last_modify', '2023-11-14T22:13:20Z'] as const,
      filePart('a.bin', randomBytes(100_000)),
    ]
    const chunk = { headers: { 'Content-Range': 'bytes 0-99999/100000' } }
    const replies = await Promise.all([
      postForm(link, parts),
      postForm(link, parts),
      postForm(link, parts, chunk),
      postForm(link, parts, chunk),
    ])
    assert.deepEqual(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    assert.deepEqual(await namesIn(user, library), ['a.bin'])
  })

  it('of several files returns their ids in order, separated by tabs, and creates one commit', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const reply = await postForm(link, [
      filePart('b.txt', '2'),
      filePart('a.txt', '1'),
      intoRoot,
      filePart('c.txt', ''),
    ])
    const ids = reply.text.split('\t')
    assert.equal(ids.length, 3)
    assert.equal(ids[2], EMPTY)
    const history = await user.get(`/api/v2.1/repos/${library}/history/`)
    const descriptions = history.body.data.map((entry: { description: string }) => entry.description)
    assert.deepEqual(descriptions, ['Added "b.txt" and 2 more files.', 'Created library'])
    for (const [index, path] of ['/b.txt', '/a.txt'].entries()) {
      const detail = await user.get(`/api2/repos/${library}/file/detail/`, { p: path })
      assert.equal(detail.body.id, ids[index])
    }
  })

  it('names the added files in its commit', async () => {
    const library = await user.createLibrary()
    await postForm(await uploadLink(user, library), [intoRoot, ['relative_path', 'x/y'], filePart('a.txt')])
    const history = await user.get(`/api/v2.1/repos/${library}/history/`)
    assert.deepEqual(history.body.data[0].description, 'Added "a.txt".')
    assert.equal(history.body.data.length, 2)
  })

  for (const query of ['ret-json=1', 'ret-json', 'ret-json=0', 'ret-json=true&X-Progress-ID=7']) {
    it(`with ?${query} returns a list`, async () => {
      const library = await user.createLibrary()
      const link = await uploadLink(user, library)
      const reply = await postForm(link, [intoRoot, filePart('ä.txt', 'hello'), filePart('empty', '')], {
        query,
      })
      assert.equal(reply.status, 200)
      assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
      const [first, second] = reply.body
      assert.match(first.id, ID)
      assert.deepEqual(first, { name: 'ä.txt', id: first.id, size: 5 })
      assert.deepEqual(second, { name: 'empty', id: EMPTY, size: 0 })
      assert.equal(reply.body.length, 2)
    })
  }

  it('accepts its parts in any order and skips unknown ones', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const parts: SentPart[] = [
      ['relative_path', 'x'],
      intoRoot,
      ['replace', '0'],
      filePart('a.txt'),
      ['need_idx_progress', 'true'],
      ['__proto__', 'x'],
      { name: 'other', filename: 'b.txt', bytes: 'b' },
    ]
    for (const order of [parts, parts.toReversed(), [...parts.slice(3), ...parts.slice(0, 3)]]) {
      const reply = await postForm(link, order, { query: 'ret-json=1' })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.body.length, 1)
    }
    assert.deepEqual(await namesIn(user, library, '/x'), ['a (1).txt', 'a (2).txt', 'a.txt'])
    assert.deepEqual(await namesIn(user, library), ['x/'])
  })

  it('stores large and small files', async () => {
    const library = await user.createLibrary()
    for (const size of [1, 65_535, 65_536, 65_537, 200_000, 25_000_000]) {
      const bytes = Buffer.alloc(size)
      for (let at = 0; at < size; at += 1) bytes[at] = (at * at * 31 + at * 7) >> 3
      const { name } = await uploadFile(user, library, `/${size}.bin`, bytes)
      assert(bytes.equals(await storedBytes(server, library, `/${name}`)), `${size} bytes`)
    }
  })

  it('may contain delimiters of other forms', async () => {
    const library = await user.createLibrary()
    const bytes = Buffer.concat([
      formBytes([intoRoot], 'other'),
      formBytes([intoRoot], BOUNDARY.slice(0, -1)),
    ])
    await uploadFile(user, library, '/a.bin', bytes)
    assert(bytes.equals(await storedBytes(server, library, '/a.bin')))
  })

  it('keeps the given time, if it is valid', async () => {
    const library = await user.createLibrary()
    const times: [sent: string, mtime: number | undefined][] = [
      ['2020-02-03T04:05:06Z', 1_580_702_706],
      ['2020-02-03T04:05:06.789+01:30', 1_580_697_306],
      ['2020-02-03 04:05:06z', 1_580_702_706],
      ['1970-01-01T00:00:00Z', 0],
      ['1969-12-31T23:59:59Z', undefined],
      ['2020-02-03', undefined],
      ['2020-13-03T04:05:06Z', undefined],
      ['yesterday', undefined],
      ['', undefined],
    ]
    for (const [sent, mtime] of times) {
      const { name } = await uploadFile(user, library, '/a.txt', sent, { lastModify: sent })
      const detail = await user.get(`/api2/repos/${library}/file/detail/`, { p: `/${name}` })
      const isNow = Math.abs(detail.body.mtime - Date.now() / 1000) < 60
      assert.equal(isNow ? undefined : detail.body.mtime, mtime, sent)
    }
  })

  it('of several files keeps the time that precedes each of them', async () => {
    const library = await user.createLibrary()
    const time = (text: string): SentPart => ['last_modify', text]
    const parts = [intoRoot, filePart('first'), time('2001-02-03T04:05:06Z'), filePart('second')]
    const more = [filePart('third'), time('2020-02-03T04:05:06Z'), filePart('fourth', 'x'.repeat(200_000))]
    await postForm(await uploadLink(user, library), [...parts, ...more])
    const { body } = await user.get(`/api2/repos/${library}/dir/`, { p: '/' })
    const times = body.map((entry: { name: string; mtime: number }) => [entry.name, entry.mtime])
    assert.deepEqual(Object.fromEntries(times), {
      // Without one before it, the last of the form counts, as it does for clients that send one after the files.
      first: 1_580_702_706,
      second: 981_173_106,
      third: 981_173_106,
      fourth: 1_580_702_706,
    })
  })

  it('may use any link of its folder any number of times, with any credentials', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    for (const authorization of ['Token 0000', 'Basic x', `Token ${(await server.signUp()).token}`]) {
      const reply = await postForm(link, [intoRoot, filePart('a')], {
        headers: { Authorization: authorization },
      })
      assert.equal(reply.status, 200)
    }
    const other = link.replace('upload-api', 'upload-aj')
    assert.equal((await postForm(other, [intoRoot, filePart('a')])).status, 200)
  })

  it('is not lost among many concurrent ones', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const uploads = Array.from({ length: 40 }, (_, index) =>
      postForm(link, [intoRoot, filePart(`${index % 20}.txt`, String(index))], { query: 'ret-json=1' }),
    )
    const names = (await Promise.all(uploads)).map((reply) => reply.body[0].name)
    assert.equal(new Set(names).size, 40)
    assert.deepEqual((await namesIn(user, library)).length, 40)
  })

  it('of ten thousand files creates one commit', async () => {
    const library = await user.createLibrary()
    const files = Array.from({ length: 9999 }, (_, index) => filePart(`${index}.txt`, `content of ${index}`))
    const reply = await postForm(await uploadLink(user, library), [intoRoot, ...files], {
      query: 'ret-json=1',
    })
    assert.deepEqual([reply.status, reply.body.length], [200, 9999])
    assert.equal((await storedBytes(server, library, '/9876.txt')).toString(), 'content of 9876')
  })
})

describe('upload URLs', () => {
  const cors = {
    'access-control-allow-origin': '*',
    'access-control-allow-headers':
      'x-requested-with, content-type, content-range, content-disposition, accept, origin, authorization',
    'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE, OPTIONS',
    'access-control-max-age': '86400',
  }
  const corsOf = (headers: Headers) =>
    Object.fromEntries(Object.keys(cors).map((name) => [name, headers.get(name)]))

  for (const path of ['upload-api', 'upload-aj', 'update-api', 'update-aj']) {
    it(`allow browsers of any origin to post to ${path}`, async () => {
      const reply = await server.anonymous.call('OPTIONS', `/seafhttp/${path}/whatever`)
      assert.deepEqual([reply.status, reply.text], [200, ''])
      assert.deepEqual(corsOf(reply.headers), cors)
      const refused = await server.anonymous.post(`/seafhttp/${path}/whatever`)
      assert.equal(refused.status, 403)
      assert.deepEqual(corsOf(refused.headers), cors)
    })
  }

  it('send the CORS headers with successful responses, too', async () => {
    const link = await uploadLink(user, await user.createLibrary())
    assert.deepEqual(corsOf((await postForm(link, [intoRoot, filePart('a')])).headers), cors)
  })
})
