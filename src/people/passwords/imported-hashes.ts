import { pbkdf2, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const pbkdf2Async = promisify(pbkdf2)

/** A password hash of another server: PBKDF2 with SHA-256. */
export interface ImportedHash {
  readonly rounds: number
  readonly salt: Buffer
  readonly tag: Buffer
}

/** More rounds would let one sign-in occupy a thread for minutes. */
const MAX_ROUNDS = 10_000_000
const TAG_BYTES = 32

/** `PBKDF2SHA256$10000$<salt in hex>$<tag in hex>`, as Seafile writes it. */
const SEAFILE = /^PBKDF2SHA256\$(\d{1,8})\$((?:[0-9a-f]{2})+)\$([0-9a-f]{64})$/i
/** `pbkdf2_sha256$600000$<salt as text>$<tag in Base64>`, as Django writes it. */
const DJANGO = /^pbkdf2_sha256\$(\d{1,8})\$([^$]+)\$([A-Za-z0-9+/]{43}=)$/

/** Undefined if it is not the hash of a server that can be imported. */
export function parseImportedHash(text: string): ImportedHash | undefined {
  const seafile = SEAFILE.exec(text)
  const django = seafile === null ? DJANGO.exec(text) : null
  const [, rounds = '', salt = '', tag = ''] = seafile ?? django ?? []
  const found = {
    rounds: Number(rounds),
    salt: seafile === null ? Buffer.from(salt) : Buffer.from(salt, 'hex'),
    tag: Buffer.from(tag, seafile === null ? 'base64' : 'hex'),
  }
  return found.rounds >= 1 && found.rounds <= MAX_ROUNDS && found.tag.length === TAG_BYTES ? found : undefined
}

/** Runs on the thread pool. The other servers hash the bytes as they were typed, without normalization. */
export function deriveImported(password: string, { rounds, salt }: ImportedHash): Promise<Buffer> {
  return pbkdf2Async(password, salt, rounds, TAG_BYTES, 'sha256')
}

/** Whether a hash of another server is the hash of `password`. */
export async function matchesImported(password: string, hash: ImportedHash): Promise<boolean> {
  return timingSafeEqual(await deriveImported(password, hash), hash.tag)
}
