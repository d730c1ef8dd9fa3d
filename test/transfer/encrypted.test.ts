import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import * as fc from 'fast-check'
import { sha1Hex } from '../../src/base/objects/ids.ts'
import { archiveOf } from '../support/archives.ts'
import { Client } from '../support/client.ts'
import {
  createEncrypted,
  createVersion1,
  download,
  downloadLink,
  type EncryptedLibrary,
  openEncrypted,
  PASSWORD,
  readAsClient,
  VERSION_1_PASSWORD,
} from '../support/encrypted.ts'
import { rawGet } from '../support/raw-get.ts'
import { ADMIN, startServer, type TestServer } from '../support/server.ts'
import { bytesOf, openLibrary } from '../support/stored-files.ts'
import { expectNothingLeft, postForm, updateLink, uploadFile, uploadLink } from '../support/transfer.ts'

const NEEDED = 'Repo is encrypted. Please provide password to view it.'
const BIG = 25 * 2 ** 20 + 7
const big = bytesOf(BIG)

let server: TestServer
let user: Client
let time = 1_754_000_000
before(async () => {
  server = await startServer({ now: () => time })
  user = await server.signUp()
})
after(() => server[Symbol.asyncDispose]())

for (const version of [2, 3, 4] as const) {
  describe(`an encrypted library of version ${version}`, () => {
    let library: EncryptedLibrary
    before(async () => {
      library = await createEncrypted(user, version)
      await openEncrypted(user, library.id)
      await uploadFile(user, library.id, '/big.bin', big)
    })

    it('stores and returns files of every size, readable for a sync client', async () => {
      for (const size of [0, 1, 15, 16, 17, 31, 32, 33, 65_519, 65_520, 65_535, 65_536, 300_000]) {
        const bytes = bytesOf(size)
        const item = await uploadFile(user, library.id, `/${size}.bin`, bytes)
        assert.equal(item.size, size)
        assert.deepEqual(await download(user, library.id, `/${size}.bin`), bytes)
        assert.deepEqual(await readAsClient(user, library, `/${size}.bin`), bytes)
        const detail = await user.get(`/api2/repos/${library.id}/file/detail/`, { p: `/${size}.bin` })
        assert.equal(detail.body.size, size)
      }
      assert.deepEqual(await download(user, library.id, '/big.bin'), big)
      assert.deepEqual(await readAsClient(user, library, '/big.bin'), big)
    })

    it('returns the same id for the same content, and stores it once', async () => {
      const bytes = randomBytes(70_000)
      const first = await uploadFile(user, library.id, '/same.bin', bytes)
      const again = await uploadFile(user, library.id, '/same.bin', bytes)
      assert.deepEqual([again.id, again.name], [first.id, 'same (1).bin'])
      const plain = await user.createLibrary()
      assert.notEqual((await uploadFile(user, plain, '/same.bin', bytes)).id, first.id)
    })

    it('accepts many files in one request, and updates, from clients and browsers', async () => {
      const [a, b] = [randomBytes(1000), randomBytes(100_000)]
      const link = await uploadLink(user, library.id)
      const sent = await postForm(link.replace('upload-api', 'upload-aj'), [
        ['parent_dir', '/'],
        ['relative_path', 'many'],
        { filename: 'a', bytes: a },
        { filename: 'b', bytes: b },
      ])
      assert.equal(sent.status, 200, sent.text)
      assert.deepEqual(await download(user, library.id, '/many/a'), a)
      assert.deepEqual(await download(user, library.id, '/many/b'), b)
      for (const route of ['update-api', 'update-aj']) {
        const bytes = randomBytes(90_000)
        const update = (await updateLink(user, library.id)).replace('update-api', route)
        const reply = await postForm(update, [['target_file', '/many/a'], { filename: 'a', bytes }])
        assert.equal(reply.status, 200, reply.text)
        assert.deepEqual(await readAsClient(user, library, '/many/a'), bytes)
        assert.deepEqual(await download(user, library.id, '/many/a'), bytes)
      }
    })

    it('accepts a file in overlapping chunks and as a whole', async () => {
      const bytes = randomBytes(1_500_000)
      const link = await uploadLink(user, library.id)
      for (const [start, end] of [
        [0, 500_003],
        [400_001, 1_000_000],
        [1_000_000, 1_500_000],
      ] as const) {
        const reply = await sendChunk(link, 'chunks.bin', bytes, start, end)
        assert.equal(reply.status, 200, reply.text)
      }
      const whole = await sendChunk(link, 'whole.bin', bytes, 0, bytes.length)
      assert.equal(whole.status, 200, whole.text)
      for (const name of ['chunks.bin', 'whole.bin']) {
        assert.deepEqual(await download(user, library.id, `/${name}`), bytes)
        assert.deepEqual(await readAsClient(user, library, `/${name}`), bytes)
      }
      await expectNothingLeft(server)
    })

    it('returns exactly the bytes of a range, wherever it begins and ends', async () => {
      const link = await downloadLink(user, library.id, '/big.bin')
      const point = fc.oneof(
        fc.nat(BIG - 1),
        fc.nat(70),
        fc.nat(70).map((n) => BIG - 1 - n),
      )
      await fc.assert(
        fc.asyncProperty(point, fc.oneof(fc.nat(100), fc.nat(2 * 2 ** 20)), async (start, length) => {
          const end = Math.min(BIG - 1, start + length)
          const reply = await rawGet(link, { headers: { range: `bytes=${start}-${end}` } })
          assert.equal(reply.status, 206)
          assert.equal(reply.headers['content-range'], `bytes ${start}-${end}/${BIG}`)
          assert.ok(reply.bytes.equals(big.subarray(start, end + 1)), `${start}-${end}`)
        }),
        { numRuns: 40 },
      )
      const tail = await rawGet(link, { headers: { range: 'bytes=-33' } })
      assert.deepEqual(tail.bytes, big.subarray(BIG - 33))
      const beyond = await rawGet(link, { headers: { range: `bytes=${BIG}-` } })
      assert.equal(beyond.status, 416)
    })

    it('answers HEAD, conditions, several ranges and digests like an unencrypted one', async () => {
      const bytes = randomBytes(200_000)
      const { id } = await uploadFile(user, library.id, '/r.bin', bytes)
      const link = await downloadLink(user, library.id, '/r.bin')
      const head = await rawGet(link, { method: 'HEAD' })
      assert.deepEqual(
        [head.status, head.headers['content-length'], head.headers.etag],
        [200, '200000', `"${id}"`],
      )
      assert.equal((await rawGet(link, { headers: { 'if-none-match': `"${id}"` } })).status, 304)
      const range = 'bytes=5-20'
      const same = await rawGet(link, { headers: { range, 'if-range': `"${id}"` } })
      assert.deepEqual([same.status, same.bytes], [206, bytes.subarray(5, 21)])
      const other = await rawGet(link, { headers: { range, 'if-range': '"x"' } })
      assert.deepEqual([other.status, other.bytes.length], [200, 200_000])
      const several = await rawGet(link, { headers: { range: 'bytes=17-18,100000-100040,-3' } })
      assert.equal(several.status, 206)
      for (const part of [bytes.subarray(17, 19), bytes.subarray(100_000, 100_041), bytes.subarray(-3)]) {
        assert.ok(several.bytes.includes(part))
      }
      const digest = await rawGet(link, { headers: { 'want-repr-digest': 'sha-256=1' } })
      const expected = createHash('sha256').update(bytes).digest('base64')
      assert.equal(digest.headers['repr-digest'], `sha-256=:${expected}:`)
    })

    it('checks the digest of an upload against the sent bytes, not the stored ones', async () => {
      const bytes = randomBytes(100_000)
      const send = (digest: string) =>
        uploadLink(user, library.id).then((link) =>
          postForm(link, [['parent_dir', '/'], { filename: 'digest.bin', bytes }], {
            headers: { 'Repr-Digest': `sha-256=:${digest}:` },
          }),
        )
      assert.equal((await send(createHash('sha256').update(bytes).digest('base64'))).status, 200)
      assert.equal((await send(createHash('sha256').update('x').digest('base64'))).status, 400)
    })

    it('is decrypted into archives', async () => {
      await uploadFile(user, library.id, '/folder/note.txt', 'a note '.repeat(5000))
      await uploadFile(user, library.id, '/folder/deep/long.bin', big)
      await user.post(`/api/v2.1/repos/${library.id}/file/`, {
        query: { p: '/folder/empty' },
        form: { operation: 'create' },
      })
      const files = await archiveOf(server, user, library.id, '/', ['folder'])
      assert.equal(files.get('folder/note.txt')?.toString(), 'a note '.repeat(5000))
      assert.ok(files.get('folder/deep/long.bin')?.equals(big))
      assert.equal(files.get('folder/empty')?.length, 0)
    })

    it('accepts blocks encrypted by a client without the password, and serves their plaintext in ranges', async () => {
      const parts = [100_001, 16, 65_536, 3, 250_000].map((size) => randomBytes(size))
      const plain = Buffer.concat(parts)
      await user.delete(`/api/v2.1/repos/${library.id}/set-password/`)
      await uploadBlocks(
        library,
        'client.bin',
        parts.map((part) => library.cipher.encrypt(part)),
        plain.length,
      )
      assert.deepEqual(await readAsClient(user, library, '/client.bin'), plain)
      const link = await downloadLink(user, library.id, '/client.bin')
      assert.equal((await rawGet(link)).status, 400)
      await openEncrypted(user, library.id)
      for (const [start, end] of [
        [0, plain.length - 1],
        [100_000, 100_001],
        [100_016, 100_018],
        [165_550, 165_560],
        [plain.length - 1, plain.length - 1],
      ] as const) {
        const reply = await rawGet(link, { headers: { range: `bytes=${start}-${end}` } })
        assert.deepEqual([reply.status, reply.bytes], [206, plain.subarray(start, end + 1)])
      }
      assert.deepEqual(await download(user, library.id, '/client.bin'), plain)
    })

    it('returns no garbage for blocks that were encrypted with another key', async () => {
      for (const [name, size] of [
        ['one', 96],
        ['two', 70_000],
      ] as const) {
        const blocks = [randomBytes(size - (size % 16)), randomBytes(160)]
        const stored = blocks.reduce((sum, block) => sum + block.length, 0)
        await uploadBlocks(library, `${name}.bin`, blocks, stored - 20)
        const reply = await rawGet(await downloadLink(user, library.id, `/${name}.bin`))
        assert.deepEqual([reply.status, reply.bytes.toString()], [500, 'Internal error'])
      }
    })
  })
}

describe('an encrypted library of version 1', () => {
  it('is unlocked with its password, read and written', async () => {
    const library = await createVersion1(server, user)
    const wrong = await user.post(`/api2/repos/${library.id}/`, { form: { password: 'x' } })
    assert.deepEqual([wrong.status, wrong.body], [400, { error_msg: 'Incorrect password' }])
    await openEncrypted(user, library.id, VERSION_1_PASSWORD)
    const plain = Buffer.from('The quick brown fox jumps over the lazy dog.\n')
    await uploadBlocks(library, 'fox', [library.cipher.encrypt(plain)], plain.length)
    assert.deepEqual(await download(user, library.id, '/fox'), plain)
    await uploadFile(user, library.id, '/more.bin', big)
    assert.ok((await readAsClient(user, library, '/more.bin')).equals(big))
    const reply = await user.put(`/api/v2.1/repos/${library.id}/set-password/`, {
      form: { old_password: VERSION_1_PASSWORD, new_password: 'new' },
    })
    const words = 'The password of a library of encryption version 1 can not be changed.'
    assert.deepEqual([reply.status, reply.body], [400, { error_msg: words }])
  })
})

describe('the key of an encrypted library', () => {
  let library: EncryptedLibrary
  let link: string
  before(async () => {
    library = await createEncrypted(user, 2)
    await openEncrypted(user, library.id)
    await uploadFile(user, library.id, '/a.bin', big)
    link = await downloadLink(user, library.id, '/a.bin')
  })

  it('is required for all content, in both directions, with the messages clients know', async () => {
    await user.delete(`/api/v2.1/repos/${library.id}/set-password/`)
    for (const options of [{}, { headers: { range: 'bytes=0-1' } }]) {
      const reply = await rawGet(link, options)
      assert.deepEqual([reply.status, reply.bytes.toString()], [400, NEEDED])
    }
    const file = { filename: 'a', bytes: 'x' }
    const uploads = await uploadLink(user, library.id)
    const update = await updateLink(user, library.id)
    for (const reply of [
      await postForm(uploads, [['parent_dir', '/'], file]),
      await postForm(uploads.replace('-api', '-aj'), [['parent_dir', '/'], file]),
      await postForm(update, [['target_file', '/a.bin'], file]),
      await sendChunk(uploads, 'a', Buffer.from('abc'), 0, 2),
    ]) {
      assert.deepEqual([reply.status, reply.body], [400, { error: NEEDED }])
    }
    await expectNothingLeft(server)
  })

  it('expires after an hour, used or not, and the same link works after unlocking again', async () => {
    await openEncrypted(user, library.id)
    link = await downloadLink(user, library.id, '/a.bin')
    time += 3599
    assert.equal((await rawGet(link, { headers: { range: 'bytes=0-9' } })).status, 206)
    time += 1
    link = await downloadLink(user, library.id, '/a.bin')
    const late = await rawGet(link)
    assert.deepEqual([late.status, late.bytes.toString()], [400, NEEDED])
    await openEncrypted(user, library.id)
    assert.ok((await rawGet(link)).bytes.equals(big))
  })

  it('may expire during a download or an upload that began with it', async () => {
    await openEncrypted(user, library.id)
    const fetched = await fetch(await downloadLink(user, library.id, '/a.bin'))
    const reader = fetched.body?.getReader() ?? assert.fail()
    const pieces = [Buffer.from((await reader.read()).value ?? [])]
    const { promise: goOn, resolve } = Promise.withResolvers<void>()
    const sending = fetch(await uploadLink(user, library.id), {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
      body: slowForm(goOn, big),
      duplex: 'half',
    })
    const opened = await openLibrary(server, user, library.id)
    // The upload holds the key once its first bytes were received.
    await untilStored(server)
    await server.running.services.core.keys.forgetLibrary(opened.info.id)
    resolve()
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      pieces.push(Buffer.from(step.value))
    }
    assert.ok(Buffer.concat(pieces).equals(big))
    const sent = await sending
    assert.equal(sent.status, 200, await sent.text())
    assert.ok((await readAsClient(user, library, '/slow.bin')).equals(big))
  })

  it('is per account: a new owner must enter the password, and the old one can read no more', async () => {
    const mine = await createEncrypted(user, 2)
    await openEncrypted(user, mine.id)
    await uploadFile(user, mine.id, '/a.txt', 'secret')
    const old = await downloadLink(user, mine.id, '/a.txt')
    const other = await server.signUp()
    const handed = await user.put(`/api2/repos/${mine.id}/owner/`, { form: { owner: other.email } })
    assert.equal(handed.status, 200, handed.text)
    const theirs = await downloadLink(other, mine.id, '/a.txt')
    const refused = await rawGet(theirs)
    assert.deepEqual([refused.status, refused.bytes.toString()], [400, NEEDED])
    assert.equal((await rawGet(old)).status, 403)
    await openEncrypted(other, mine.id)
    assert.equal((await rawGet(theirs)).bytes.toString(), 'secret')
  })

  it('survives a password change for the account that made it, and for running downloads', async () => {
    await openEncrypted(user, library.id)
    const fetched = await fetch(await downloadLink(user, library.id, '/a.bin'))
    const reader = fetched.body?.getReader() ?? assert.fail()
    const pieces = [Buffer.from((await reader.read()).value ?? [])]
    const form = { old_password: PASSWORD, new_password: 'another one' }
    const reply = await user.put(`/api/v2.1/repos/${library.id}/set-password/`, { form })
    assert.deepEqual([reply.status, reply.body], [200, { success: true }])
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      pieces.push(Buffer.from(step.value))
    }
    assert.ok(Buffer.concat(pieces).equals(big))
    assert.ok((await download(user, library.id, '/a.bin')).equals(big))
    await user.delete(`/api/v2.1/repos/${library.id}/set-password/`)
    const older = await user.post(`/api2/repos/${library.id}/`, { form: { password: PASSWORD } })
    assert.equal(older.status, 400)
    await openEncrypted(user, library.id, 'another one')
    assert.ok((await download(user, library.id, '/a.bin')).equals(big))
  })
})

describe('a restart', () => {
  it('drops all keys, and a resumable upload continues after unlocking again', async () => {
    const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-encrypted-'))
    const bytes = randomBytes(700_000)
    try {
      let library: EncryptedLibrary
      {
        await using first = await startServer({ data })
        const admin = await first.admin()
        library = await createEncrypted(admin, 4)
        await openEncrypted(admin, library.id)
        await uploadFile(admin, library.id, '/a.txt', 'secret')
        const taken = await sendChunk(await uploadLink(admin, library.id), 'c.bin', bytes, 0, 400_000)
        assert.equal(taken.status, 200, taken.text)
      }
      await using second = await startServer({ data })
      const admin = await Client.signIn(second.url, ADMIN.email, ADMIN.password)
      const reply = await rawGet(await downloadLink(admin, library.id, '/a.txt'))
      assert.deepEqual([reply.status, reply.bytes.toString()], [400, NEEDED])
      await openEncrypted(admin, library.id)
      assert.equal((await download(admin, library.id, '/a.txt')).toString(), 'secret')
      const rest = await sendChunk(await uploadLink(admin, library.id), 'c.bin', bytes, 400_000, 700_000)
      assert.equal(rest.status, 200, rest.text)
      assert.deepEqual(await readAsClient(admin, library, '/c.bin'), bytes)
    } finally {
      await rm(data, { recursive: true, force: true })
    }
  })
})

function sendChunk(link: string, name: string, bytes: Buffer, start: number, end: number) {
  const part = { filename: 'part', bytes: bytes.subarray(start, end) }
  return postForm(link, [['parent_dir', '/'], part], {
    headers: {
      'Content-Range': `bytes ${start}-${end - 1}/${bytes.length}`,
      'Content-Disposition': `attachment; filename="${name}"`,
    },
  })
}

async function uploadBlocks(library: EncryptedLibrary, name: string, blocks: Buffer[], size: number) {
  const links = (await user.post(`/api2/repos/${library.id}/upload-blks-link/`, { form: { blklist: '' } }))
    .body
  const ids = blocks.map((block) => sha1Hex(block))
  const raw = await postForm(
    links.rawblksurl,
    blocks.map((bytes, index) => ({ filename: ids[index] ?? '', bytes })),
  )
  assert.equal(raw.status, 200, raw.text)
  const reply = await postForm(links.commiturl, [
    ['parent_dir', '/'],
    ['file_name', name],
    ['file_size', String(size)],
    ['blockids', JSON.stringify(ids)],
  ])
  assert.equal(reply.status, 200, reply.text)
}

/** A form with one file, whose second half is held back. */
async function* slowForm(goOn: Promise<void>, bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="parent_dir"\r\n\r\n/\r\n')
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="slow.bin"\r\n\r\n')
  yield bytes.subarray(0, BIG / 2)
  await goOn
  yield bytes.subarray(BIG / 2)
  yield Buffer.from('\r\n--b--\r\n')
}

async function untilStored({ data }: TestServer): Promise<void> {
  while ((await readdir(path.join(data, 'blocks/tmp'))).length === 0) await new Promise(setImmediate)
}
