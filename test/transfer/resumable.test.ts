import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Client } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  expectNothingLeft,
  headOf,
  namesIn,
  postForm,
  type SentPart,
  storedBytes,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'

const TAKEN = '{"success": true}'
const invalidRange = [400, { error: 'Invalid Seafile-Content-Range' }]

let server: TestServer
let user: Client
before(async () => {
  server = await startServer()
  user = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

interface Chunk {
  start: number
  bytes: string | Uint8Array
  total: number
  /** The Content-Disposition of the request. */
  disposition?: string
  parts?: SentPart[]
  query?: string
}

function send(link: string, { start, bytes, total, disposition, parts, query = 'ret-json=1' }: Chunk) {
  return postForm(link, parts ?? [['parent_dir', '/'], { filename: 'part.bin', bytes }], {
    query,
    headers: {
      'Content-Range': `bytes ${start}-${start + bytes.length - 1}/${total}`,
      'Content-Disposition': disposition ?? 'attachment; filename="a.bin"',
    },
  })
}

async function storedSoFar(client: Client, library: string, name = 'a.bin'): Promise<number> {
  const query = { parent_dir: '/', file_name: name }
  return (await client.get(`/api/v2.1/repos/${library}/file-uploaded-bytes/`, query)).body.uploadedBytes
}

/** Bytes in the blocks of the unfinished uploads of files of a size. */
async function stagedBytes(total: number): Promise<number> {
  const row = await server.running.services.db.get<{ n: number }>(
    `select sum(s.length) as n from staged_block s join partial_upload p on p.key = s.upload_key where p.total = ?`,
    total,
  )
  return row?.n ?? 0
}

describe('a file uploaded in chunks', () => {
  it('exists after its last chunk, which is answered like any upload', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const head = await headOf(user, library)
    for (const [start, bytes] of [
      [0, 'abcd'],
      [4, 'efg'],
    ] as const) {
      const reply = await send(link, { start, bytes, total: 9 })
      assert.deepEqual([reply.status, reply.text], [200, TAKEN])
      assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
      assert.equal(await storedSoFar(user, library), start + bytes.length)
      assert.equal(await headOf(user, library), head)
    }
    const last = await send(link, { start: 7, bytes: 'hi', total: 9 })
    const whole = await uploadFile(user, library, '/whole.bin', 'abcdefghi')
    assert.deepEqual([last.status, last.body], [200, [{ ...whole, name: 'a.bin' }]])
    assert.equal((await storedBytes(server, library, '/a.bin')).toString(), 'abcdefghi')
    assert.equal(await storedSoFar(user, library), 0)
    await expectNothingLeft(server)
  })

  it('returns its id or a task on request', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    for (const [query, pattern] of [
      ['', /^[0-9a-f]{40}$/],
      ['need_idx_progress=true', /^[0-9a-f-]{36}$/],
    ] as const) {
      assert.equal((await send(link, { start: 0, bytes: 'ab', total: 3, query })).text, TAKEN)
      assert.match((await send(link, { start: 2, bytes: 'c', total: 3, query })).text, pattern)
    }
    const aj = link.replace('upload-api', 'upload-aj')
    assert.equal((await send(aj, { start: 0, bytes: 'ab', total: 3 })).text, TAKEN)
    assert.equal((await send(aj, { start: 2, bytes: 'c', total: 3, query: '' })).body[0].name, 'a (2).bin')
  })

  it('may be a single chunk', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    assert.equal((await send(link, { start: 0, bytes: 'old', total: 9 })).text, TAKEN)
    const reply = await send(link, { start: 0, bytes: 'abc', total: 3 })
    assert.equal(reply.body[0].size, 3)
    assert.equal(await storedSoFar(user, library), 0)
    await expectNothingLeft(server)
  })

  it('may be larger than a block', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const bytes = Buffer.alloc(23_456_789)
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * 2_654_435_761) >>> 13
    for (let start = 0; start < bytes.length; start += 8_000_000) {
      const reply = await send(link, {
        start,
        bytes: bytes.subarray(start, start + 8_000_000),
        total: bytes.length,
      })
      assert.equal(reply.status, 200)
    }
    assert(bytes.equals(await storedBytes(server, library, '/a.bin')))
    const { id } = await uploadFile(user, library, '/whole.bin', bytes)
    assert.equal((await user.get(`/api2/repos/${library}/file/detail/`, { p: '/a.bin' })).body.id, id)
  })

  const names: [disposition: string, name: string][] = [
    ['attachment; filename="a.txt"', 'a.txt'],
    ['attachment; filename=a.txt', 'a.txt'],
    ['filename="a.txt"', 'a.txt'],
    ['attachment; filename="%E4%B8%AD%20a+b.txt"', '中 a+b.txt'],
    ['attachment; filename=%e4%b8%ad.txt', '中.txt'],
    [`attachment; filename*=UTF-8''%E4%B8%AD%27.txt`, `中'.txt`],
    [`attachment; filename="x"; filename*=utf-8'en'y.txt`, 'y.txt'],
    ['attachment; filename="50%.txt"', '50%.txt'],
    ['attachment; filename="folder%2Fb.txt"', 'b.txt'],
    ['attachment; filename="C:\\\\dir\\\\c.txt"', 'c.txt'],
    [`attachment; filename="${Buffer.from('ä.txt').toString('latin1')}"`, 'ä.txt'],
    ['attachment', 'part.bin'],
  ]
  for (const [disposition, name] of names) {
    it(`is named ${name} if its chunks say ${disposition}`, async () => {
      const link = await uploadLink(user, await user.createLibrary())
      assert.equal((await send(link, { start: 0, bytes: 'ab', total: 3, disposition })).text, TAKEN)
      const reply = await send(link, { start: 2, bytes: 'c', total: 3, disposition })
      assert.deepEqual(reply.body[0]?.name, name)
    })
  }

  it('must have a valid name', async () => {
    const link = await uploadLink(user, await user.createLibrary())
    for (const disposition of [
      'attachment; filename=".."',
      'attachment; filename="%00"',
      'attachment; filename="%ff"',
    ]) {
      const reply = await send(link, { start: 0, bytes: 'ab', total: 3, disposition })
      assert.deepEqual([reply.status, reply.body], [440, { error: 'Invalid filename.' }])
    }
  })

  it('is stored at its relative path, replaces on request, and has the time of its last chunk', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/x/y/a.bin', 'old')
    const link = await uploadLink(user, library)
    const parts = (bytes: string): SentPart[] => [
      { filename: 'blob', bytes },
      ['last_modify', '2020-02-03T04:05:06Z'],
      ['replace', '1'],
      ['relative_path', 'x/y/'],
      ['parent_dir', '/'],
    ]
    await send(link, { start: 0, bytes: 'ne', total: 3, parts: parts('ne') })
    const reply = await send(link, { start: 2, bytes: 'w', total: 3, parts: parts('w') })
    assert.equal(reply.body[0].name, 'a.bin')
    assert.equal((await storedBytes(server, library, '/x/y/a.bin')).toString(), 'new')
    const detail = await user.get(`/api2/repos/${library}/file/detail/`, { p: '/x/y/a.bin' })
    assert.equal(detail.body.mtime, 1_580_702_706)
  })
})

describe('a chunk', () => {
  it('may be sent again, and overlap stored bytes', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const steps: [start: number, bytes: string, stored: number][] = [
      [0, 'abcd', 4],
      [4, 'efgh', 8],
      [4, 'EFGH', 8],
      [2, 'CD', 8],
      [6, 'ghij', 10],
    ]
    for (const [start, bytes, stored] of steps) {
      assert.equal((await send(link, { start, bytes, total: 12 })).text, TAKEN)
      assert.equal(await storedSoFar(user, library), stored)
    }
    assert.equal((await send(link, { start: 9, bytes: 'Jkl', total: 12 })).status, 200)
    assert.equal((await storedBytes(server, library, '/a.bin')).toString(), 'abCDEFghiJkl')
  })

  it('beyond the stored bytes is rejected, and changes nothing', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const first = await send(link, { start: 3, bytes: 'def', total: 9 })
    assert.deepEqual([first.status, first.body], invalidRange)
    await send(link, { start: 0, bytes: 'abc', total: 9 })
    for (const [start, bytes] of [
      [4, 'e'],
      [8, 'i'],
    ] as const) {
      const reply = await send(link, { start, bytes, total: 9 })
      assert.deepEqual([reply.status, reply.body], invalidRange)
    }
    assert.equal(await storedSoFar(user, library), 3)
  })

  it('at offset 0 starts over', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    await send(link, { start: 0, bytes: 'abcdef', total: 9 })
    assert.equal((await send(link, { start: 0, bytes: 'xy', total: 4 })).text, TAKEN)
    assert.equal(await storedSoFar(user, library), 2)
    assert.equal(await stagedBytes(4), 2)
    await send(link, { start: 2, bytes: 'zw', total: 4 })
    assert.equal((await storedBytes(server, library, '/a.bin')).toString(), 'xyzw')
  })

  it('with another total belongs to another file: the stored bytes are dropped', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    await send(link, { start: 0, bytes: 'abc', total: 9 })
    const reply = await send(link, { start: 3, bytes: 'def', total: 10 })
    assert.deepEqual([reply.status, reply.body], invalidRange)
    assert.equal(await storedSoFar(user, library), 0)
  })

  it('must have the length of its range', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    for (const bytes of ['', 'ab', 'abcd', 'x'.repeat(3_000_000)]) {
      const reply = await postForm(link, [['parent_dir', '/'], { filename: 'a.bin', bytes }], {
        headers: { 'Content-Range': 'bytes 0-2/9' },
      })
      assert.deepEqual([reply.status, reply.body], invalidRange)
    }
    assert.equal(await storedSoFar(user, library), 0)
  })

  it('belongs to its sender, whatever the link', async () => {
    const library = await user.createLibrary()
    const first = await uploadLink(user, library)
    await send(first, { start: 0, bytes: 'abc', total: 6 })
    const other = await user.createLibrary()
    const elsewhere = await send(await uploadLink(user, other), { start: 3, bytes: 'def', total: 6 })
    assert.deepEqual([elsewhere.status, elsewhere.body], invalidRange)
    const second = await send(await uploadLink(user, library), { start: 3, bytes: 'def', total: 6 })
    assert.equal(second.body[0].size, 6)
  })

  it('continues through a new link when the old one has expired', async () => {
    let now = 1_800_000_000
    await using later = await startServer({ now: () => now })
    const client = await later.signUp()
    const library = await client.createLibrary()
    const link = await uploadLink(client, library)
    await send(link, { start: 0, bytes: 'abc', total: 6 })
    now += 3601
    const refused = await send(link, { start: 3, bytes: 'def', total: 6 })
    assert.deepEqual([refused.status, refused.body], [403, { error: 'Access token not found' }])
    assert.equal(await storedSoFar(client, library), 3)
    const reply = await send(await uploadLink(client, library), { start: 3, bytes: 'def', total: 6 })
    assert.equal(reply.body[0].size, 6)
  })

  it('sent twice concurrently is added once', async () => {
    const library = await user.createLibrary()
    const link = await uploadLink(user, library)
    const size = 200_000
    const bytes = Buffer.alloc(4 * size)
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * 7919) >>> 5
    const chunk = (index: number) =>
      send(link, {
        start: index * size,
        bytes: bytes.subarray(index * size, (index + 1) * size),
        total: bytes.length,
      })
    for (const index of [0, 1, 2]) {
      const replies = await Promise.all([chunk(index), chunk(index), chunk(Math.max(1, index))])
      assert(replies.some((reply) => reply.text === TAKEN))
    }
    const last = await Promise.all([chunk(3), chunk(3), chunk(3)])
    const statuses = last.map((reply) => reply.status)
    assert.deepEqual(
      statuses.toSorted((a, b) => a - b),
      [200, 400, 400],
    )
    assert.deepEqual(await namesIn(user, library), ['a.bin'])
    assert(bytes.equals(await storedBytes(server, library, '/a.bin')))
  })

  it('that was the last may be sent again if it could not be stored', async () => {
    const library = await user.createLibrary()
    await uploadFile(user, library, '/file', 'x')
    const link = await uploadLink(user, library)
    const parts = (bytes: string): SentPart[] => [
      ['parent_dir', '/'],
      ['relative_path', 'file'],
      { filename: 'a.bin', bytes },
    ]
    await send(link, { start: 0, bytes: 'abc', total: 6, parts: parts('abc') })
    const refused = await send(link, { start: 3, bytes: 'def', total: 6, parts: parts('def') })
    assert.deepEqual([refused.status, refused.body], [400, { error: "Parent dir doesn't exist." }])
    await user.delete(`/api2/repos/${library}/file/`, { query: { p: '/file' } })
    const reply = await send(link, { start: 3, bytes: 'def', total: 6, parts: parts('def') })
    assert.equal(reply.status, 200, reply.text)
    assert.equal((await storedBytes(server, library, '/file/a.bin')).toString(), 'abcdef')
  })
})

describe('a partial upload', () => {
  it('survives a restart, while the chunks of earlier versions are removed', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-resumable-'))
    try {
      let email = ''
      let token: string | undefined
      let library = ''
      {
        await using first = await startServer({ data })
        const client = await first.signUp()
        email = client.email
        token = client.token
        library = await client.createLibrary()
        await send(await uploadLink(client, library), { start: 0, bytes: 'abc', total: 6 })
      }
      await mkdir(path.join(data, 'uploads'))
      await writeFile(path.join(data, 'uploads/left-behind'), 'x')
      {
        await using second = await startServer({ data })
        const client = new Client(second.url, token, email)
        assert(!(await readdir(data)).includes('uploads'))
        assert.equal(await storedSoFar(client, library), 3)
        const reply = await send(await uploadLink(client, library), { start: 3, bytes: 'def', total: 6 })
        assert.equal(reply.body[0].size, 6)
        assert.equal((await storedBytes(second, library, '/a.bin')).toString(), 'abcdef')
        await expectNothingLeft(second)
      }
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })

  it('starts over when a part of it was lost', async () => {
    const { db } = server.running.services
    const loseRows = async () => {
      const sql = 'delete from small_block where id in (select block_id from staged_block)'
      await db.write((tx) => tx.run(sql))
    }
    const loseFiles = async () => {
      const folder = path.join(server.data, 'blocks')
      const rows = await db.all<{ block_id: Uint8Array }>('select block_id from staged_block')
      const ids = new Set(rows.map((row) => Buffer.from(row.block_id).toString('hex')))
      for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
        const name = path.join(file.parentPath, file.name)
        if (ids.has(path.relative(folder, name).replaceAll(path.sep, ''))) await rm(name)
      }
    }
    for (const [size, lose] of [
      [3, loseRows],
      [100_000, loseFiles],
    ] as const) {
      const library = await user.createLibrary()
      const link = await uploadLink(user, library)
      const bytes = 'x'.repeat(size)
      await send(link, { start: 0, bytes, total: 2 * size })
      await lose()
      const reply = await send(link, { start: size, bytes, total: 2 * size })
      assert.deepEqual([reply.status, reply.body], invalidRange)
      assert.equal(await storedSoFar(user, library), 0)
    }
  })

  it('is removed three days after the last chunk', async () => {
    let now = 1_800_000_000
    await using later = await startServer({ now: () => now })
    const client = await later.signUp()
    const library = await client.createLibrary()
    const { quotas } = later.running.services
    await send(await uploadLink(client, library), { start: 0, bytes: 'abc', total: 9 })
    now += 2 * 86_400
    await send(await uploadLink(client, library), { start: 3, bytes: 'def', total: 9 })
    now += 3 * 86_400
    await quotas.deleteExpiredUploads()
    assert.equal(await storedSoFar(client, library), 6)
    now += 1
    await quotas.deleteExpiredUploads()
    assert.equal(await storedSoFar(client, library), 0)
    await expectNothingLeft(later)
  })
})
