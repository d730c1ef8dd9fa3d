import assert from 'node:assert/strict'
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  pbkdf2Sync,
  randomBytes,
  randomUUID,
} from 'node:crypto'
import type { Client } from './client.ts'
import type { TestServer } from './server.ts'

export const PASSWORD = 'pässword & more'

/** A second implementation of the encryption, as clients do it, to verify the server's. */
export interface ClientCipher {
  encrypt(bytes: Uint8Array): Buffer
  decrypt(bytes: Uint8Array): Buffer
}

/** An encrypted library and its key material. */
export interface EncryptedLibrary {
  readonly id: string
  readonly version: number
  readonly cipher: ClientCipher
}

/** Creates an encrypted library with values chosen by the client. */
export async function createEncrypted(
  client: Client,
  version: 2 | 3 | 4,
  password = PASSWORD,
): Promise<EncryptedLibrary> {
  const id = randomUUID()
  const salt = version === 2 ? Buffer.from('da9045c306c7cc26', 'hex') : randomBytes(32)
  const secret = randomBytes(32)
  const form = {
    name: `Version ${version}`,
    repo_id: id,
    enc_version: version,
    magic: derive(Buffer.from(id + password), salt).key.toString('hex'),
    random_key: cipherWith(version, derive(Buffer.from(password), salt))
      .encrypt(secret)
      .toString('hex'),
    ...(version > 2 && { salt: salt.toString('hex') }),
  }
  const reply = await client.post('/api2/repos/', { form })
  assert.equal(reply.status, 200, reply.text)
  return { id, version, cipher: cipherWith(version, derive(secret, salt)) }
}

/** The library of the specification's test vectors. No call creates libraries of version 1 any more. */
export async function createVersion1(server: TestServer, client: Client): Promise<EncryptedLibrary> {
  const id = '3f2504e0-4f89-41d3-9a0c-0305e82c3301'
  const form = { name: 'Old', repo_id: id, magic: '0'.repeat(64), random_key: '0'.repeat(96) }
  const reply = await client.post('/api2/repos/', { form })
  assert.equal(reply.status, 200, reply.text)
  const sql = "update library set enc_version = 1, magic = ?, random_key = '' where id = ?"
  await server.running.services.db.write((tx) => tx.run(sql, '6f0ec7351f6b00c7c6cfb9a342f8de79', id))
  const key = Buffer.from('4e893e9264b082510b1346995167a30f', 'hex')
  return {
    id,
    version: 1,
    cipher: cbc('aes-128-cbc', key, Buffer.from('f61b363a045a59f56f6d82f78654672d', 'hex')),
  }
}

export const VERSION_1_PASSWORD = 's3cret-pässword'

/** Sends the password, as the web app does. */
export async function openEncrypted(client: Client, id: string, password = PASSWORD): Promise<void> {
  const reply = await client.post(`/api/v2.1/repos/${id}/set-password/`, { form: { password } })
  assert.deepEqual([reply.status, reply.body], [200, { success: true }])
}

/** Reads a file as a sync client does: fetches its stored blocks, decrypts and concatenates them. */
export async function readAsClient(
  client: Client,
  { id, cipher }: EncryptedLibrary,
  path: string,
): Promise<Buffer> {
  const { blklist, file_id } = (await client.get(`/api2/repos/${id}/file/`, { p: path, op: 'downloadblks' }))
    .body
  const pieces: Buffer[] = []
  for (const block of blklist) {
    const link = await client.get(`/api2/repos/${id}/files/${file_id}/blks/${block}/download-link/`)
    const stored = Buffer.from(await (await fetch(link.body)).arrayBuffer())
    assert.equal(createHash('sha1').update(stored).digest('hex'), block)
    pieces.push(cipher.decrypt(stored))
  }
  return Buffer.concat(pieces)
}

/** Requests a reusable download link. */
export async function downloadLink(client: Client, library: string, path: string): Promise<string> {
  const reply = await client.get(`/api2/repos/${library}/file/`, { p: path, reuse: 1 })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** Downloads a file through the web API. */
export async function download(client: Client, library: string, path: string): Promise<Buffer> {
  const response = await fetch(await downloadLink(client, library, path))
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.equal(response.status, 200, bytes.toString('utf8', 0, 200))
  return bytes
}

function cipherWith(version: number, { key, iv }: { key: Buffer; iv: Buffer }): ClientCipher {
  return version === 3 ? cbc('aes-128-ecb', key.subarray(0, 16), null) : cbc('aes-256-cbc', key, iv)
}

function cbc(name: string, key: Buffer, iv: Buffer | null): ClientCipher {
  return {
    encrypt(bytes) {
      const cipher = createCipheriv(name, key, iv)
      return Buffer.concat([cipher.update(bytes), cipher.final()])
    },
    decrypt(bytes) {
      const decipher = createDecipheriv(name, key, iv)
      return Buffer.concat([decipher.update(bytes), decipher.final()])
    },
  }
}

function derive(input: Buffer, salt: Buffer): { key: Buffer; iv: Buffer } {
  const key = pbkdf2Sync(input, salt, 1000, 32, 'sha256')
  return { key, iv: pbkdf2Sync(key, salt, 10, 16, 'sha256') }
}
