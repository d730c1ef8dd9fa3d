import { argon2, createCipheriv, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { LibraryId } from '../objects/ids.ts'
import type { LibraryEncryption } from './library-info.ts'

const derive = promisify(pbkdf2)
const deriveArgon2 = promisify(argon2)

// The fixed salt of version 2, as every client knows it.
const VERSION_2_SALT = Buffer.from('da9045c306c7cc26', 'hex')

/** The version a library gets when the server makes it from a password: the one all clients can open. */
export const PASSWORD_ENCRYPTION_VERSION = 2

/** The values of a new encrypted library made from a password, which is not kept. */
export async function encryptionFromPassword(
  id: LibraryId,
  password: string,
  secret: Buffer = randomBytes(32),
): Promise<LibraryEncryption> {
  const { key, iv } = await keyFrom(Buffer.from(password, 'utf8'))
  const cipher = createCipheriv('aes-256-cbc', key, iv)
  const randomKey = Buffer.concat([cipher.update(secret), cipher.final()])
  const check = await keyFrom(Buffer.from(id + password, 'utf8'))
  return {
    version: PASSWORD_ENCRYPTION_VERSION,
    magic: check.key.toString('hex'),
    randomKey: randomKey.toString('hex'),
    salt: '',
    pwdHash: '',
    pwdHashAlgo: '',
    pwdHashParams: '',
  }
}

/** Whether a client that knows the password would send this check value (`magic`, or what replaces it). */
export function checkMagic(encryption: LibraryEncryption, magic: string): boolean {
  return sameHex(Buffer.from(magic, 'hex'), encryption.pwdHash || encryption.magic)
}

/** Whether this is the password of the library. */
export async function checkPassword(
  id: LibraryId,
  encryption: LibraryEncryption,
  password: string,
): Promise<boolean> {
  const input = Buffer.from(id + password, 'utf8')
  const salt = encryption.version >= 3 ? Buffer.from(encryption.salt, 'hex') : VERSION_2_SALT
  if (encryption.pwdHash === '') {
    return sameHex(await derive(input, salt, ROUNDS, 32, 'sha256'), encryption.magic)
  }
  const cost = parsePasswordHashCost(encryption.pwdHashAlgo, encryption.pwdHashParams)
  if (cost === undefined) return false
  // The fixed salt is filled up to the length of a library's own.
  const hash = await passwordHash(input, Buffer.concat([salt], 32), cost)
  return sameHex(hash, encryption.pwdHash)
}

/** What it costs to hash a password, as a library's `pwd_hash_params` say. */
export type PasswordHashCost =
  | { readonly algorithm: 'pbkdf2_sha256'; readonly rounds: number }
  | {
      readonly algorithm: 'argon2id'
      readonly passes: number
      /** KiB. */
      readonly memory: number
      readonly parallelism: number
    }

const ROUNDS = 1000
const MOST_ROUNDS = 1_000_000
const MOST_PASSES = 10
const MOST_MEMORY_KIB = 262_144
const MOST_LANES = 16

/** The cost; undefined for an algorithm we do not know, or more work than a server should do for a guess. */
export function parsePasswordHashCost(algorithm: string, params: string): PasswordHashCost | undefined {
  if (algorithm === 'pbkdf2_sha256') {
    const rounds = numbersIn(params || '1000', 1)?.[0] ?? 0
    return rounds >= 1 && rounds <= MOST_ROUNDS ? { algorithm, rounds } : undefined
  }
  if (algorithm !== 'argon2id') return undefined
  const [passes = 0, memory = 0, parallelism = 0] = numbersIn(params || '2,102400,8', 3) ?? []
  const bearable = passes <= MOST_PASSES && memory <= MOST_MEMORY_KIB && parallelism <= MOST_LANES
  const defined = passes >= 1 && parallelism >= 1 && memory >= 8 * parallelism
  return bearable && defined ? { algorithm, passes, memory, parallelism } : undefined
}

function numbersIn(params: string, count: number): number[] | undefined {
  return /^\d{1,9}(?:,\d{1,9})*$/.test(params) && params.split(',').length === count
    ? params.split(',').map(Number)
    : undefined
}

function passwordHash(message: Buffer, salt: Buffer, cost: PasswordHashCost): Promise<Buffer> {
  if (cost.algorithm === 'pbkdf2_sha256') return derive(message, salt, cost.rounds, 32, 'sha256')
  const { passes, memory, parallelism } = cost
  return deriveArgon2('argon2id', { message, nonce: salt, tagLength: 32, passes, memory, parallelism })
}

function sameHex(bytes: Buffer, hex: string): boolean {
  const expected = Buffer.from(hex, 'hex')
  return expected.length > 0 && expected.length === bytes.length && timingSafeEqual(expected, bytes)
}

async function keyFrom(input: Buffer): Promise<{ key: Buffer; iv: Buffer }> {
  const key = await derive(input, VERSION_2_SALT, ROUNDS, 32, 'sha256')
  const iv = await derive(key, VERSION_2_SALT, 10, 16, 'sha256')
  return { key, iv }
}
