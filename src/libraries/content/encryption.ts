import { createCipheriv, createDecipheriv, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import type { LibraryId } from '../../base/objects/index.ts'
import { type CipherParts, DataKey } from './data-key.ts'
import type { LibraryEncryption } from './library-encryption.ts'
import { parsePasswordHashCost, passwordHash } from './password-hash.ts'

const deriveBytes = promisify(pbkdf2)

// The salt of versions 1 and 2, fixed in all clients.
const FIXED_SALT = Buffer.from('da9045c306c7cc26', 'hex')
const ROUNDS = 1000
const IV_ROUNDS = 10

/** The version of libraries that the server creates from a password. All clients support it. */
const PASSWORD_ENCRYPTION_VERSION = 2

/** The parameters of the key derivation, except for the password. */
type Scheme = Pick<LibraryEncryption, 'version' | 'salt'>

interface Derived {
  /** The whole derived key. Version 3 encrypts with half of it. */
  readonly key: Buffer
  readonly iv: Buffer
}

/** The parameters of a new encrypted library. The password is not stored. */
export async function encryptionFromPassword(
  id: LibraryId,
  password: string,
  secret: Buffer = randomBytes(32),
): Promise<LibraryEncryption> {
  const scheme = { version: PASSWORD_ENCRYPTION_VERSION, salt: '' }
  const unchecked = { ...scheme, magic: '', randomKey: '', pwdHash: '', pwdHashAlgo: '', pwdHashParams: '' }
  return wrap(id, unchecked, password, secret)
}

/** Whether this is the check value of the password (`magic`, or `pwdHash`), as a client would send it. */
export function checkMagic(encryption: LibraryEncryption, magic: string): boolean {
  return sameHex(Buffer.from(magic, 'hex'), encryption.pwdHash || encryption.magic)
}

/** Whether this is the password of the library. */
export async function checkPassword(
  id: LibraryId,
  encryption: LibraryEncryption,
  password: string,
): Promise<boolean> {
  const value = await checkValue(id, encryption, password)
  return value !== undefined && sameHex(value, encryption.pwdHash || encryption.magic)
}

/** The check value that a client computes for the same password and a view of the library, whose id is part of it. */
async function passwordCheckOf(
  id: LibraryId,
  encryption: LibraryEncryption,
  password: string,
): Promise<string | undefined> {
  return (await checkValue(id, encryption, password))?.toString('hex')
}

/** The encryption of a view: that of its library with another check value. Without one, no password passes the check. */
function withPasswordCheck(encryption: LibraryEncryption, check: string | undefined): LibraryEncryption {
  return { ...encryption, ...(encryption.pwdHash === '' ? { magic: check ?? '' } : { pwdHash: check ?? '' }) }
}

/** The data key of a library; undefined if the password cannot unwrap it, even if it passes the check. */
export async function dataKeyFrom(
  encryption: LibraryEncryption,
  password: string,
): Promise<DataKey | undefined> {
  if (encryption.version === 1) return new DataKey(await cipherParts(encryption, textBytes(password)))
  const secret = await unwrap(encryption, password)
  if (secret === undefined) return undefined
  const parts = await cipherParts(encryption, secret)
  secret.fill(0)
  return new DataKey(parts)
}

/** Wraps the data key with a new password; the content is unchanged. Undefined if the old password cannot unwrap it. */
export async function withNewPassword(
  id: LibraryId,
  encryption: LibraryEncryption,
  older: string,
  newer: string,
): Promise<LibraryEncryption | undefined> {
  const secret = await unwrap(encryption, older)
  if (secret === undefined) return undefined
  const wrapped = await wrap(id, encryption, newer, secret)
  secret.fill(0)
  return wrapped
}

/** Wraps the secret with a password and computes the check value, with the parameters of the library. */
async function wrap(
  id: LibraryId,
  encryption: LibraryEncryption,
  password: string,
  secret: Buffer,
): Promise<LibraryEncryption> {
  const { name, key, iv } = await cipherParts(encryption, textBytes(password))
  const cipher = createCipheriv(name, key, iv)
  const randomKey = Buffer.concat([cipher.update(secret), cipher.final()]).toString('hex')
  key.fill(0)
  const check = await passwordCheckOf(id, encryption, password)
  return withPasswordCheck({ ...encryption, randomKey }, check)
}

async function unwrap(encryption: LibraryEncryption, password: string): Promise<Buffer | undefined> {
  const { name, key, iv } = await cipherParts(encryption, textBytes(password))
  const decipher = createDecipheriv(name, key, iv)
  key.fill(0)
  try {
    const secret = Buffer.concat([
      decipher.update(Buffer.from(encryption.randomKey, 'hex')),
      decipher.final(),
    ])
    return secret.length === 32 ? secret : undefined
  } catch {
    // Invalid padding: the secret was wrapped with something else.
    return undefined
  }
}

/** The check value of a password; undefined for an unknown hash algorithm. */
async function checkValue(
  id: LibraryId,
  encryption: LibraryEncryption,
  password: string,
): Promise<Buffer | undefined> {
  const input = textBytes(id + password)
  if (encryption.pwdHash === '') return (await derive(encryption, input)).key
  const cost = parsePasswordHashCost(encryption.pwdHashAlgo, encryption.pwdHashParams)
  // The fixed salt is zero-padded to the length of a library's salt.
  return cost && passwordHash(input, Buffer.concat([saltOf(encryption)], 32), cost)
}

/** The cipher of a version, derived from a password or from the secret. */
async function cipherParts(scheme: Scheme, input: Buffer): Promise<CipherParts> {
  const { key, iv } = await derive(scheme, input)
  if (scheme.version === 1) return { name: 'aes-128-cbc', key, iv }
  if (scheme.version === 3) return { name: 'aes-128-ecb', key: key.fill(0, 16).subarray(0, 16), iv: null }
  return { name: 'aes-256-cbc', key, iv }
}

async function derive(scheme: Scheme, input: Buffer): Promise<Derived> {
  if (scheme.version === 1) return deriveVersion1(input)
  const salt = saltOf(scheme)
  const key = await deriveBytes(input, salt, ROUNDS, 32, 'sha256')
  return { key, iv: await deriveBytes(key, salt, IV_ROUNDS, 16, 'sha256') }
}

function saltOf({ version, salt }: Scheme): Buffer {
  return version >= 3 ? Buffer.from(salt, 'hex') : FIXED_SALT
}

function textBytes(text: string): Buffer {
  return Buffer.from(text, 'utf8')
}

function sameHex(bytes: Buffer, hex: string): boolean {
  const expected = Buffer.from(hex, 'hex')
  return expected.length > 0 && expected.length === bytes.length && timingSafeEqual(expected, bytes)
}

/**
 * Key and IV of encryption version 1: OpenSSL's `EVP_BytesToKey` with SHA-1 and 524288 rounds. It takes a second and has no
 * asynchronous API in Node, so it runs in a worker thread (I10).
 */
async function deriveVersion1(input: Buffer): Promise<{ key: Buffer; iv: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const worker = new Worker(new URL('./version1-key-worker.ts', import.meta.url), { workerData: input })
  worker.once('message', resolve)
  worker.once('error', reject)
  try {
    const bytes = Buffer.from(await promise)
    return { key: bytes.subarray(0, 16), iv: bytes.subarray(16, 32) }
  } finally {
    await worker.terminate()
  }
}

/** Encrypted libraries: their passwords, and what is made of them. */
export const libraryPasswords = {
  checkMagic,
  check: checkPassword,
  dataKeyFrom,
  encryptionFrom: encryptionFromPassword,
  checkOf: passwordCheckOf,
  withNew: withNewPassword,
  withCheck: withPasswordCheck,
}
