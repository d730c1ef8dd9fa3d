import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { it } from 'node:test'
import { startArchive, waitForArchive } from '../support/archives.ts'
import { spawnServer } from '../support/child-server.ts'
import { Client } from '../support/client.ts'
import { createEncrypted, download, openEncrypted } from '../support/encrypted.ts'
import { ADMIN } from '../support/server.ts'
import { eventually, postForm, uploadFile, uploadLink } from '../support/transfer.ts'

const PIECE = 24

it('a killed server leaves no plaintext of uploads, chunks and archives of an encrypted library on disk', async () => {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-encrypted-kill-'))
  // Not to be deflated, so that it would be seen in an archive.
  const secret = randomBytes(3_000_000)
  try {
    const library = await (async () => {
      await using server = await spawnServer(data)
      const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
      const made = await createEncrypted(client, 2)
      await openEncrypted(client, made.id)
      await uploadFile(client, made.id, '/small.jpg', secret.subarray(0, 50_000))
      await uploadFile(client, made.id, '/d/large.jpg', secret)
      const chunk = await postForm(
        await uploadLink(client, made.id),
        [['parent_dir', '/'], { filename: 'x', bytes: secret.subarray(0, 2_000_000) }],
        {
          headers: {
            'Content-Range': 'bytes 0-1999999/3000000',
            'Content-Disposition': 'attachment; filename="chunks.jpg"',
          },
        },
      )
      assert.equal(chunk.status, 200, chunk.text)
      const archive = await startArchive(client, made.id, '/', ['d', 'small.jpg'])
      await waitForArchive(client, archive)
      const stop = new AbortController()
      const underWay = fetch(await uploadLink(client, made.id), {
        method: 'POST',
        headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
        body: unfinishedForm(secret),
        duplex: 'half',
        signal: stop.signal,
      }).catch(() => {})
      await eventually(async () => {
        assert.notDeepEqual(await readdir(path.join(data, 'blocks/tmp')), [])
      })
      await server.kill()
      stop.abort()
      await underWay
      return made
    })()
    assert.notDeepEqual(await readdir(path.join(data, 'archives')), [])
    assert.deepEqual(await filesWith(data, secret), [])

    await using server = await spawnServer(data)
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    await openEncrypted(client, library.id)
    assert.deepEqual(await download(client, library.id, '/d/large.jpg'), secret)
    const rest = await postForm(
      await uploadLink(client, library.id),
      [['parent_dir', '/'], { filename: 'x', bytes: secret.subarray(2_000_000) }],
      {
        headers: {
          'Content-Range': 'bytes 2000000-2999999/3000000',
          'Content-Disposition': 'attachment; filename="chunks.jpg"',
        },
      },
    )
    assert.equal(rest.status, 200, rest.text)
    assert.deepEqual(await download(client, library.id, '/chunks.jpg'), secret)
    assert.equal(await server.stop(), 0)
    assert.deepEqual(await filesWith(data, secret), [])
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

it('the search for plaintext on disk finds it in a library that is not encrypted', async () => {
  const data = await mkdtemp(path.join(os.tmpdir(), 'carrel-plain-kill-'))
  const secret = randomBytes(300_000)
  try {
    await using server = await spawnServer(data)
    const client = await Client.signIn(server.url, ADMIN.email, ADMIN.password)
    await uploadFile(client, await client.createLibrary(), '/a.jpg', secret)
    await server.kill()
    assert.equal((await filesWith(data, secret)).length, 1)
  } finally {
    await rm(data, { recursive: true, force: true })
  }
})

/** Files that hold a piece of the secret, taken from all over it. */
async function filesWith(data: string, secret: Buffer): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(data, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = path.join(entry.parentPath, entry.name)
    const bytes = await readFile(file)
    for (let at = 0; at < secret.length; at += 100_003) {
      if (!bytes.includes(secret.subarray(at, at + PIECE))) continue
      found.push(file)
      break
    }
  }
  return found
}

async function* unfinishedForm(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="parent_dir"\r\n\r\n/\r\n')
  yield Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="x.jpg"\r\n\r\n')
  yield bytes
  await new Promise(() => {})
}
