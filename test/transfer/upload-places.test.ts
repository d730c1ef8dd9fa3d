import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  filePart,
  intoRoot,
  namesIn,
  postForm,
  type SentPart,
  storedBytes,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'

let server: TestServer
let user: Client
before(async () => {
  server = await startServer()
  user = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

describe('the target of an upload', () => {
  it('is created as a folder by an empty part without a file name', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const mark = filePart('', '')
    const orders: [parts: SentPart[], query: string][] = [
      [[intoRoot, ['relative_path', 'a/b/'], mark], 'ret-json=1'],
      [[mark, ['relative_path', 'c'], intoRoot], ''],
    ]
    for (const [parts, query] of orders) {
      // A repeated request changes nothing.
      for (let times = 0; times < 2; times++) {
        const reply = await postForm(link, parts, { query })
        assert.deepEqual([reply.status, reply.body], [200, []], reply.text)
      }
    }
    assert.deepEqual(await namesIn(user, library), ['a/', 'c/'])
    assert.deepEqual(await namesIn(user, library, '/a'), ['b/'])
    const history = await user.get(`/api/v2.1/repos/${library}/history/`)
    assert.deepEqual(
      history.body.data.map(({ description }: { description: string }) => description),
      ['Added directory "c"', 'Added directory "a/b"', 'Created library'],
    )
    const mixed = [intoRoot, ['relative_path', 'd'], mark, filePart('x.txt')] as const
    const reply = await postForm(link, mixed, { query: 'ret-json=1' })
    assert.deepEqual(
      reply.body.map((item: { name: string }) => item.name),
      ['x.txt'],
    )
    const refused: SentPart[][] = [
      [intoRoot, mark],
      [intoRoot, ['relative_path', 'e'], filePart('', 'bytes')],
      [['relative_path', 'e'], filePart('', 'bytes'), intoRoot],
    ]
    for (const parts of refused) {
      const answer = await postForm(link, parts)
      assert.deepEqual([answer.status, answer.body], [440, { error: 'Invalid filename.' }])
    }
    assert.deepEqual(await namesIn(user, library), ['a/', 'c/', 'd/'])
  })

  it('of a visitor is created as a folder too, and a file of its name stays', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/in/taken', 'x')
    const form = { repo_id: library, path: '/in' }
    const { token } = (await user.post('/api/v2.1/upload-links/', { form })).body
    const { upload_link: link } = (await server.anonymous.get(`/api/v2.1/upload-links/${token}/upload/`)).body
    for (const relative of ['sent', 'taken']) {
      const reply = await postForm(link, [
        ['parent_dir', '/in'],
        ['relative_path', relative],
        filePart('', ''),
      ])
      assert.deepEqual([reply.status, reply.body], [200, []], reply.text)
    }
    assert.deepEqual(await namesIn(user, library, '/in'), ['sent/', 'taken', 'taken (1)/'])
  })

  it('gets a number if its name is taken', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    await postForm(link, [intoRoot, ['relative_path', 'v1.2'], filePart('x')])
    const names: string[] = []
    for (const name of [
      'a.tar.gz',
      'a.tar.gz',
      'a.tar (1).gz',
      '.bashrc',
      '.bashrc',
      'README',
      'README',
      'v1.2',
    ]) {
      const reply = await postForm(link, [intoRoot, filePart(name)], { query: 'ret-json=1' })
      names.push(reply.body[0].name)
    }
    const expected =
      'a.tar.gz, a.tar (1).gz, a.tar (1) (1).gz, .bashrc, .bashrc (1), README, README (1), v1 (1).2'
    assert.equal(names.join(', '), expected)
    const twice = await postForm(link, [intoRoot, filePart('t'), filePart('t')], { query: 'ret-json=1' })
    assert.deepEqual(
      twice.body.map((item: { name: string }) => item.name),
      ['t', 't (1)'],
    )
  })

  it('is replaced on request of the form or the link, but never if it is a folder', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/folder/x', 'x')
    const link = await uploadLink(user, library)
    const replacing = await uploadLink(user, library, '/', { replace: 1 })
    const steps: [link: string, parts: SentPart[], query: string, name: string][] = [
      [link, [filePart('a.txt', '1')], '', 'a.txt'],
      [link, [filePart('a.txt', '2'), ['replace', '1']], '', 'a.txt'],
      [link, [['replace', '0'], filePart('a.txt', '3')], 'replace=1', 'a.txt'],
      [replacing, [filePart('a.txt', '4')], '', 'a.txt'],
      [replacing, [filePart('folder', '5')], '', 'folder (1)'],
      [link, [['replace', '0'], filePart('a.txt', '6')], 'replace=0', 'a (1).txt'],
      [link, [['replace', ''], filePart('a.txt', '7')], '', 'a (2).txt'],
    ]
    for (const [to, parts, query, name] of steps) {
      const reply = await postForm(to, [intoRoot, ...parts], { query: `ret-json=1&${query}` })
      assert.deepEqual([reply.status, reply.body[0]?.name], [200, name])
    }
    assert.equal((await storedBytes(server, library, '/a.txt')).toString(), '4')
    assert.deepEqual(await namesIn(user, library, '/folder'), ['x'])
  })

  it('creates the folders of its relative path, as rclone requests', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    for (const path of ['a/b/', 'a/b', 'a\\b\\', 'a//b', '']) {
      const parts: SentPart[] = [filePart('f.txt', path), intoRoot, ['relative_path', path], ['replace', '1']]
      const reply = await postForm(link, parts, { query: 'ret-json=1' })
      assert.deepEqual([reply.status, reply.body[0]?.name], [200, 'f.txt'])
    }
    assert.deepEqual(await namesIn(user, library), ['a/', 'f.txt'])
    assert.deepEqual(await namesIn(user, library, '/a/b'), ['f.txt'])
    assert.equal((await storedBytes(server, library, '/a/b/f.txt')).toString(), 'a//b')
  })

  it('finds its folder by every spelling of the path', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/dö cs/sub/x', 'x')
    const link = await uploadLink(user, library, '/dö cs/sub')
    const spellings = [
      '/dö cs/sub',
      '/dö cs/sub/',
      'dö cs/sub',
      '\\dö cs\\sub\\',
      '//dö cs//sub',
      '/do\u0308 cs/sub',
    ]
    for (const folder of spellings) {
      const reply = await postForm(link, [['parent_dir', folder], filePart('a')])
      assert.equal(reply.status, 200, folder)
    }
    assert.equal((await namesIn(user, library, '/dö cs/sub')).length, 1 + spellings.length)
  })

  it('is never replaced through upload-aj, which always returns a list', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library, '/', { from: 'web' })
    for (const name of ['a.txt', 'a (1).txt']) {
      const reply = await postForm(link, [intoRoot, ['replace', 'whatever'], filePart('a.txt')], {
        query: 'replace=1',
      })
      assert.deepEqual([reply.status, reply.body[0]?.name, reply.body.length], [200, name, 1])
    }
  })
})
