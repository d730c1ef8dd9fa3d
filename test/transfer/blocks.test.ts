import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { fileId } from '../../src/base/objects/file.ts'
import { type BlockId, sha1Hex } from '../../src/base/objects/ids.ts'
import { ROOT } from '../../src/base/paths/paths.ts'
import { fileLocks } from '../../src/libraries/library/locks.ts'
import type { Client, Params, Reply } from '../support/client.ts'
import { at } from '../support/core.ts'
import { makeReadOnly } from '../support/library-content.ts'
import { rawGet } from '../support/raw-get.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { openLibrary, storeFile } from '../support/stored-files.ts'
import {
  eventually,
  expectNothingLeft,
  formBytes,
  headOf,
  namesIn,
  postBody,
  postForm,
  storedBytes,
  uploadLink,
} from '../support/transfer.ts'

let server: TestServer
let client: Client
let library: string

before(async () => {
  server = await startServer()
  client = await server.signUp()
  library = await client.createLibrary()
})
after(() => server[Symbol.asyncDispose]())

interface Links {
  readonly rawblksurl: string
  readonly commiturl: string
  readonly blklist: string[]
}

const idOf = (bytes: Buffer) => sha1Hex(bytes)

async function linksFor(
  ids: readonly string[],
  options: { library?: string; p?: string } = {},
): Promise<Links> {
  const reply = await client.post(`/api2/repos/${options.library ?? library}/upload-blks-link/`, {
    query: { p: options.p },
    form: { blklist: ids.join(',') },
  })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

function sendBlocks(links: Links, blocks: readonly Buffer[]): Promise<Reply> {
  return postForm(
    links.rawblksurl,
    blocks.map((bytes) => ({ filename: idOf(bytes), bytes })),
  )
}

async function commit(link: string, fields: Params): Promise<Reply> {
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) body.set(name, String(value))
  return postBody(link, Buffer.from(String(body)), { 'Content-Type': 'application/x-www-form-urlencoded' })
}

function fileOf(name: string, blocks: readonly Buffer[], more: Params = {}): Params {
  return {
    parent_dir: '/',
    file_name: name,
    file_size: blocks.reduce((sum, block) => sum + block.length, 0),
    blockids: JSON.stringify(blocks.map(idOf)),
    ...more,
  }
}

describe('an upload by blocks', () => {
  it('requests the missing blocks, stores them and creates the file', async () => {
    const blocks = [randomBytes(100), randomBytes(70_000), randomBytes(9_000_000)]
    const ids = blocks.map(idOf)
    const links = await linksFor([...ids, ids[0] ?? ''])
    assert.deepEqual(Object.keys(links), ['rawblksurl', 'commiturl', 'blklist'])
    assert.match(links.rawblksurl, new RegExp(`^${server.url}/seafhttp/upload-raw-blks-api/[-0-9a-f]{36}$`))
    const token = links.rawblksurl.slice(-36)
    assert.equal(
      links.commiturl,
      `${server.url}/seafhttp/upload-blks-api/${token}?commitonly=true&ret-json=true`,
    )
    assert.deepEqual(links.blklist, ids)
    const sent = await sendBlocks(links, blocks)
    assert.deepEqual([sent.status, sent.text], [200, '"OK"'])
    assert.deepEqual((await linksFor(ids)).blklist, [])
    const reply = await commit(links.commiturl, fileOf('blocks.bin', blocks))
    const id = fileId({ blockIds: ids as BlockId[], size: 9_070_100 })
    assert.deepEqual([reply.status, reply.body], [200, { id }])
    assert.ok((await storedBytes(server, library, '/blocks.bin')).equals(Buffer.concat(blocks)))
    const { body } = await client.get(`/api/v2.1/repos/${library}/history/`)
    assert.equal(body.data[0].description, 'Added "blocks.bin"')
    const link = (await client.get(`/api2/repos/${library}/file/`, { p: '/blocks.bin' })).body
    assert.ok((await rawGet(link)).bytes.equals(Buffer.concat(blocks)))
  })

  it('may refer to a block several times, or to none', async () => {
    const block = randomBytes(50)
    const links = await linksFor([])
    assert.deepEqual(links.blklist, [])
    await sendBlocks(links, [block, block])
    assert.equal((await commit(links.commiturl, fileOf('twice', [block, block, block]))).status, 200)
    assert.ok((await storedBytes(server, library, '/twice')).equals(Buffer.concat([block, block, block])))
    const empty = await commit(links.commiturl, fileOf('empty', []))
    assert.deepEqual(empty.body, { id: '0'.repeat(40) })
    assert.equal((await storedBytes(server, library, '/empty')).length, 0)
  })

  it('is committed by any kind of form, and returns the bare id as JSON by default', async () => {
    const block = randomBytes(10)
    const links = await linksFor([])
    await sendBlocks(links, [block])
    const link = links.commiturl.replace('&ret-json=true', '')
    const fields = fileOf('form', [block], { last_modify: '2024-01-02T03:04:05Z' })
    const expected = fileId({ blockIds: [idOf(block) as BlockId], size: 10 })
    const multipart = Object.entries(fields).map(([name, value]) => [name, String(value)] as const)
    const asJson = Buffer.from(JSON.stringify({ ...fields, blockids: [idOf(block)], file_name: 'json' }))
    const replies = [
      await commit(link, fields),
      await postForm(link, multipart),
      await postBody(link, asJson, { 'Content-Type': 'application/json' }),
    ]
    for (const reply of replies) assert.deepEqual([reply.status, reply.text], [200, `"${expected}"`])
    const names = await namesIn(client, library)
    for (const name of ['form', 'form (1)', 'json']) assert.ok(names.includes(name), name)
    const { body } = await client.get(`/api2/repos/${library}/file/detail/`, { p: '/form' })
    assert.equal(body.mtime, Date.parse('2024-01-02T03:04:05Z') / 1000)
    const replaced = await commit(link, { ...fields, replace: 1 })
    assert.equal(replaced.status, 200)
    assert.ok(!(await namesIn(client, library)).includes('form (2)'))
  })

  it('cannot use a block that only another library has, until it uploads the bytes itself (I7)', async () => {
    const other = await server.signUp()
    const theirs = await other.createLibrary()
    for (const bytes of [randomBytes(500), randomBytes(100_000)]) {
      await storeFile(server, other, theirs, '/secret', bytes)
      const links = await linksFor([idOf(bytes)])
      assert.deepEqual(links.blklist, [idOf(bytes)])
      const stolen = await commit(links.commiturl, fileOf('stolen', [bytes]))
      assert.deepEqual([stolen.status, stolen.body], [446, { error: 'Block missing.' }])
      assert.equal((await sendBlocks(links, [bytes])).status, 200)
      assert.equal((await commit(links.commiturl, fileOf('mine', [bytes]))).status, 200)
    }
  })

  it('accepts encrypted blocks unchanged, and a size that padding allows', async () => {
    const encrypted = await client.createLibrary('Encrypted')
    await server.running.services.db.write((tx) =>
      tx.run(
        'update library set enc_version = 2, magic = ?, random_key = ? where id = ?',
        'a',
        'b',
        encrypted,
      ),
    )
    const blocks = [randomBytes(96), randomBytes(160), randomBytes(100)]
    const links = await linksFor([], { library: encrypted })
    assert.equal((await sendBlocks(links, blocks)).status, 200)
    const padded = blocks.slice(0, 2)
    const sizes: [size: number, status: number][] = [
      [223, 400],
      [224, 200],
      [254, 200],
      [255, 400],
      [256, 400],
    ]
    for (const [file_size, status] of sizes) {
      const reply = await commit(links.commiturl, fileOf(`e${file_size}`, padded, { file_size }))
      assert.deepEqual([file_size, reply.status], [file_size, status])
    }
    assert.equal((await commit(links.commiturl, fileOf('odd', blocks, { file_size: 340 }))).status, 400)
  })
})

describe('blocks', () => {
  it('are rejected and not stored when their hash does not match', async () => {
    const links = await linksFor([])
    const small = randomBytes(100)
    const large = randomBytes(100_000)
    const cases: [parts: { filename: string; bytes: Buffer }[], error: string][] = [
      [[], 'No file uploaded.'],
      [[{ filename: 'x', bytes: small }], 'Invalid block id.'],
      [[{ filename: idOf(small).toUpperCase(), bytes: small }], 'Invalid block id.'],
      [[{ filename: `../${idOf(small)}`, bytes: small }], 'Invalid block id.'],
      [[{ filename: idOf(small), bytes: randomBytes(100) }], 'Block does not match its id.'],
      [[{ filename: idOf(large), bytes: randomBytes(100_000) }], 'Block does not match its id.'],
      [[{ filename: idOf(Buffer.alloc(0)), bytes: Buffer.alloc(0) }], 'Block does not match its id.'],
    ]
    for (const [parts, error] of cases) {
      const reply = await postForm(links.rawblksurl, parts)
      assert.deepEqual([reply.status, reply.body], [400, { error }])
    }
    assert.deepEqual((await linksFor([idOf(small), idOf(large)])).blklist, [idOf(small), idOf(large)])
    assert.equal((await postBody(links.rawblksurl, small, { 'Content-Type': 'text/plain' })).status, 400)
  })

  it('leave nothing behind when the client disconnects', async () => {
    const links = await linksFor([])
    const block = randomBytes(9_000_000)
    const whole = formBytes([{ filename: idOf(block), bytes: block }])
    const cutShort = new ReadableStream({
      start(controller) {
        controller.enqueue(new Uint8Array(whole.subarray(0, 5_000_000)))
      },
      pull(controller) {
        controller.error(new Error('gone'))
      },
    })
    await assert.rejects(postBody(links.rawblksurl, cutShort))
    await eventually(() => expectNothingLeft(server))
    assert.deepEqual((await linksFor([idOf(block)])).blklist, [idOf(block)])
  })

  it('are rejected without a ticket for them', async () => {
    const block = randomBytes(10)
    const refused: [link: string, error: string][] = [
      [`${server.url}/seafhttp/upload-raw-blks-api/nonsense`, 'Access token not found'],
      [
        `${server.url}/seafhttp/upload-raw-blks-api/${(await uploadLink(client, library)).slice(-36)}`,
        'Operation does not match access token.',
      ],
    ]
    for (const [link, error] of refused) {
      const reply = await postForm(link, [{ filename: idOf(block), bytes: block }])
      assert.deepEqual([reply.status, reply.body], [403, { error }])
    }
  })

  it('are rejected beyond the quota', async () => {
    const small = await startServer({ env: { CARREL_DEFAULT_QUOTA_MB: '1' } })
    try {
      const owner = await small.signUp()
      const own = await owner.createLibrary()
      const ask = (form: Params) => owner.post(`/api2/repos/${own}/upload-blks-link/`, { form })
      const links: Links = (await ask({})).body
      const block = randomBytes(600_000)
      assert.equal((await sendBlocks(links, [randomBytes(1_000_000)])).status, 443)
      assert.equal((await sendBlocks(links, [block])).status, 200)
      const twice = await commit(links.commiturl, fileOf('twice', [block, block]))
      assert.deepEqual([twice.status, twice.body], [443, { error: 'Out of quota.' }])
      assert.equal((await commit(links.commiturl, fileOf('once', [block]))).status, 200)
      assert.equal((await commit(links.commiturl, fileOf('again', [block]))).status, 443)
      await small.running.services.db.write((tx) => tx.run('update library set size = 2000000'))
      const full = await ask({})
      assert.deepEqual([full.status, full.body], [500, { error_msg: 'Out of quota.' }])
    } finally {
      await small[Symbol.asyncDispose]()
    }
  })
})

describe('a commit of blocks', () => {
  it('that is invalid is rejected with the known messages, and changes nothing', async () => {
    const block = randomBytes(64)
    await client.post(`/api2/repos/${library}/dir/`, {
      query: { p: '/folder' },
      form: { operation: 'mkdir' },
    })
    const links = await linksFor([], { p: '/folder' })
    await sendBlocks(links, [block])
    const good = fileOf('a', [block], { parent_dir: '/folder/' })
    const missing = idOf(randomBytes(5))
    const cases: [change: Params, status: number, error: string][] = [
      [{ parent_dir: undefined }, 400, 'No parent dir or file name.'],
      [{ parent_dir: '' }, 400, 'No parent dir or file name.'],
      [{ file_name: undefined }, 400, 'No parent dir or file name.'],
      [{ blockids: undefined }, 400, 'No blockids.'],
      [{ blockids: '' }, 400, 'No blockids.'],
      [{ blockids: 'nonsense' }, 400, 'Invalid blockids.'],
      [{ blockids: '{}' }, 400, 'Invalid blockids.'],
      [{ blockids: '[1]' }, 400, 'Invalid blockids.'],
      [{ blockids: '["x"]' }, 400, 'Invalid blockids.'],
      [{ blockids: '["__proto__"]' }, 400, 'Invalid blockids.'],
      [{ file_size: undefined }, 400, 'Invalid file size.'],
      [{ file_size: '-1' }, 400, 'Invalid file size.'],
      [{ file_size: '1e3' }, 400, 'Invalid file size.'],
      [{ file_size: 63 }, 400, 'Invalid file size.'],
      [{ file_size: 65 }, 400, 'Invalid file size.'],
      [{ blockids: '[]' }, 400, 'Invalid file size.'],
      [{ replace: '2' }, 400, 'Invalid argument replace.'],
      [{ parent_dir: '/none' }, 400, "Parent dir doesn't exist."],
      [{ parent_dir: '/folder/..' }, 400, "Parent dir doesn't exist."],
      [{ parent_dir: '/' }, 403, 'Permission denied.'],
      [{ file_name: 'a/b' }, 440, 'Invalid filename.'],
      [{ file_name: '..' }, 440, 'Invalid filename.'],
      [{ file_name: 'a\0b' }, 440, 'Invalid filename.'],
      [{ file_name: 'a'.repeat(256) }, 440, 'Invalid filename.'],
      [{ blockids: JSON.stringify([missing]) }, 446, 'Block missing.'],
    ]
    const head = await headOf(client, library)
    for (const [change, status, error] of cases) {
      const reply = await commit(links.commiturl, { ...good, ...change })
      assert.deepEqual([change, reply.status, reply.body], [change, status, { error }])
    }
    const uncommitted = await commit(links.commiturl.replace('commitonly=true&', ''), good)
    assert.deepEqual([uncommitted.status, uncommitted.body], [400, { error: 'Only commit suppported.' }])
    const malformed = await postBody(links.commiturl, Buffer.from('{'), {
      'Content-Type': 'application/json',
    })
    assert.deepEqual([malformed.status, malformed.body], [400, { error: 'Malformed form.' }])
    const huge = await commit(links.commiturl, { ...good, blockids: 'x'.repeat(5_000_000) })
    assert.equal(huge.status, 413)
    assert.equal(await headOf(client, library), head)
    assert.equal((await commit(links.commiturl, good)).status, 200)
  })

  it('is rejected by a ticket for something else, and in a read-only library', async () => {
    const readOnly = await client.createLibrary('Read-only')
    const links = await linksFor([], { library: readOnly })
    const update = (await client.get(`/api2/repos/${readOnly}/update-blks-link/`)).body as string
    const crossed = links.commiturl.replace(links.rawblksurl.slice(-36), update.slice(-36))
    const wrong = await commit(crossed, fileOf('a', []))
    assert.deepEqual([wrong.status, wrong.body], [403, { error: 'Operation does not match access token.' }])
    await makeReadOnly(server, readOnly)
    for (const reply of [
      await commit(links.commiturl, fileOf('a', [])),
      await sendBlocks(links, [randomBytes(9)]),
    ]) {
      assert.deepEqual([reply.status, reply.body], [403, { error: 'Repo status not writable.' }])
    }
  })

  it('respects locks when it replaces a file', async () => {
    const other = await server.signUp()
    await storeFile(server, client, library, '/locked', Buffer.from('x'))
    // Without the right to write no lock is in effect.
    const shared = await client.put(`/api2/repos/${library}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: other.email, permission: 'rw' },
    })
    assert.equal(shared.status, 200, shared.text)
    const { core, accounts } = server.running.services
    const opened = await openLibrary(server, client, library)
    const { key, email } = await accounts.get(other.email)
    const theirs = Object.assign(opened.editable(ROOT), { actor: { key, email } })
    await fileLocks.lock(core, theirs, at('/locked'), 0)
    const links = await linksFor([])
    const reply = await commit(links.commiturl, fileOf('locked', [], { replace: 1 }))
    assert.deepEqual([reply.status, reply.body], [403, { error: 'Permission denied.' }])
    const update = (await client.get(`/api2/repos/${library}/update-blks-link/`)).body
    const fields = { target_file: '/locked', file_size: 0, blockids: '[]' }
    assert.equal((await commit(`${update}?commitonly`, fields)).status, 403)
  })
})

describe('an update by blocks', () => {
  it('replaces the content of a file', async () => {
    await storeFile(server, client, library, '/old.bin', randomBytes(100))
    const blocks = [randomBytes(300), randomBytes(80_000)]
    const link = (await client.get(`/api2/repos/${library}/update-blks-link/`, { p: '/' })).body as string
    assert.match(link, new RegExp(`^${server.url}/seafhttp/update-blks-api/[-0-9a-f]{36}$`))
    const rawLink = link.replace('update-blks-api', 'upload-raw-blks-api')
    assert.equal((await sendBlocks({ rawblksurl: rawLink, commiturl: '', blklist: [] }, blocks)).status, 200)
    const { file_size, blockids } = fileOf('', blocks)
    const good: Params = { target_file: '/old.bin', file_size, blockids }
    const reply = await commit(`${link}?commitonly=true`, good)
    assert.deepEqual([reply.status, reply.text.length], [200, 40])
    assert.ok((await storedBytes(server, library, '/old.bin')).equals(Buffer.concat(blocks)))
    const { body } = await client.get(`/api/v2.1/repos/${library}/history/`)
    assert.equal(body.data[0].description, 'Modified "old.bin"')
    const cases: [change: Params, status: number, error: string][] = [
      [{ target_file: undefined }, 400, 'No target file.'],
      [{ target_file: '/' }, 400, 'Invalid targe_file.'],
      [{ target_file: '/none/x' }, 400, "Parent dir doesn't exist."],
      [{ target_file: '/none' }, 441, 'File does not exist.'],
      [{ blockids: undefined }, 400, 'No blockids.'],
      [{ file_size: 1 }, 400, 'Invalid file size.'],
      [{ blockids: JSON.stringify([idOf(randomBytes(4))]) }, 446, 'Block missing.'],
    ]
    for (const [change, status, error] of cases) {
      const refused = await commit(`${link}?commitonly=true`, { ...good, ...change })
      assert.deepEqual([change, refused.status, refused.body], [change, status, { error }])
    }
  })
})

describe('the links for uploads by blocks', () => {
  const paths = ['upload-blks-link', 'update-blks-link']

  it('are rejected like other links', async () => {
    const stranger = await server.signUp()
    const unknown = '01234567-89ab-4cde-8f01-23456789abcd'
    const calls: [call: Promise<Reply>, status: number, message: string][] = paths.flatMap((path) => {
      const url = `/api2/repos/${library}/${path}/`
      return [
        [client.get(`/api2/repos/${unknown}/${path}/`), 404, `Library ${unknown} not found.`],
        [client.get(url, { p: '' }), 400, 'p invalid.'],
        [client.get(url, { p: '/none' }), 404, 'Folder /none not found.'],
        [client.get(url, { p: '/a/../b' }), 404, 'Folder /a/../b not found.'],
        [stranger.get(url), 403, 'You do not have permission to access this folder.'],
      ] as [Promise<Reply>, number, string][]
    })
    const url = `/api2/repos/${library}/upload-blks-link/`
    calls.push(
      [client.post(url, { form: { blklist: 'x' } }), 400, 'blklist invalid.'],
      [client.post(url, { query: { p: '/none' } }), 404, 'Folder /none not found.'],
      [stranger.post(url), 403, 'You do not have permission to access this folder.'],
    )
    for (const [call, status, message] of calls) {
      const reply = await call
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: message }])
    }
    for (const path of paths) {
      assert.equal((await server.anonymous.get(`/api2/repos/${library}/${path}/`)).status, 403)
    }
  })

  it('are returned in every encoding, with and without the trailing slash', async () => {
    const id = idOf(randomBytes(3))
    for (const slash of ['', '/']) {
      const url = `/api2/repos/${library}/upload-blks-link${slash}`
      for (const options of [
        { form: { blklist: id } },
        { multipart: { blklist: id } },
        { json: { blklist: id } },
      ]) {
        assert.deepEqual((await client.post(url, options)).body.blklist, [id])
      }
      assert.deepEqual((await client.post(url)).body.blklist, [])
      assert.match((await client.get(url)).body, /\/seafhttp\/upload-blks-api\/[-0-9a-f]{36}$/)
    }
  })
})

describe('a block', () => {
  it('is downloaded by a link of its own', async () => {
    const bytes = randomBytes(20 * 2 ** 20)
    const file = await storeFile(server, client, library, '/by-blocks', bytes)
    const listed = await client.get(`/api2/repos/${library}/file/`, { p: '/by-blocks', op: 'downloadblks' })
    assert.equal(listed.headers.get('oid'), file)
    assert.equal(listed.body.file_id, file)
    const pieces: Buffer[] = []
    for (const id of listed.body.blklist as string[]) {
      const path = `/api2/repos/${library}/files/${file}/blks/${id}/download-link/`
      const link = (await client.get(path, { p: '/' })).body
      assert.match(link, new RegExp(`^${server.url}/seafhttp/blks/[-0-9a-f]{36}/${id}$`))
      for (const _ of [1, 2]) assert.equal((await rawGet(link, { method: 'HEAD' })).status, 200)
      const reply = await rawGet(link)
      assert.equal(reply.headers['content-type'], 'application/octet-stream')
      assert.equal(reply.headers.etag, `"${id}"`)
      pieces.push(reply.bytes)
      const part = await rawGet(link, { headers: { range: 'bytes=10-19' } })
      assert.ok(part.bytes.equals(reply.bytes.subarray(10, 20)))
    }
    assert.ok(Buffer.concat(pieces).equals(bytes))
  })

  it('of an encrypted library is served as stored', async () => {
    const encrypted = await client.createLibrary('Encrypted')
    const file = await storeFile(server, client, encrypted, '/x', Buffer.from('ciphertext'))
    await server.running.services.db.write((tx) =>
      tx.run(
        'update library set enc_version = 2, magic = ?, random_key = ? where id = ?',
        'a',
        'b',
        encrypted,
      ),
    )
    const { blklist, ...about } = (
      await client.get(`/api2/repos/${encrypted}/file/`, { p: '/x', op: 'downloadblks' })
    ).body
    assert.deepEqual(about, { file_id: file, encrypted: true, enc_version: 2 })
    const path = `/api2/repos/${encrypted}/files/${file}/blks/${blklist[0]}/download-link/`
    assert.equal((await rawGet((await client.get(path)).body)).bytes.toString(), 'ciphertext')
  })

  it('is not served for a file, a library or an account it does not belong to (I7)', async () => {
    const bytes = randomBytes(100)
    const file = await storeFile(server, client, library, '/mine', bytes)
    const otherFile = await storeFile(server, client, library, '/other', randomBytes(100))
    const stranger = await server.signUp()
    const theirs = await stranger.createLibrary()
    const block = idOf(bytes)
    const link = (repo: string, fileIdText: string, blockId = block) =>
      `/api2/repos/${repo}/files/${fileIdText}/blks/${blockId}/download-link/`
    const cases: [reply: Reply, status: number, message: string][] = [
      [await client.get(link(library, otherFile)), 404, 'Block not found.'],
      [await client.get(link(library, '1'.repeat(40))), 404, 'File not found.'],
      [await client.get(link(library, 'x')), 404, 'Not found.'],
      [await client.get(link(library, file, 'X'.repeat(40))), 404, 'Not found.'],
      [await client.get(link(library, file), { p: '/none' }), 404, 'Folder /none not found.'],
      [await stranger.get(link(theirs, file)), 404, 'File not found.'],
      [await stranger.get(link(library, file)), 403, 'You do not have permission to access this repo.'],
    ]
    for (const [reply, status, message] of cases) {
      assert.deepEqual([reply.status, reply.body], [status, { error_msg: message }])
    }
    const good = (await client.get(link(library, file))).body as string
    const plain: [url: string, status: number, text: string][] = [
      [good.replace(block, otherFile), 404, 'Block not found'],
      [good.replace(block, 'x'), 400, 'Invalid URL'],
      [good.replace(/blks\/.{36}/, 'blks/nonsense'), 403, 'Access token not found'],
      [good.replace('/blks/', '/files/'), 403, 'Operation does not match access token.'],
    ]
    for (const [url, status, text] of plain) {
      const reply = await rawGet(url)
      assert.deepEqual([url, reply.status, reply.bytes.toString()], [url, status, text])
    }
  })
})
