import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { type CipherParts, DataKey } from './data-key.ts'

const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16
const CIPHER = 'aes-256-gcm'

/**
 * Encrypts a data key so that only a holder of `credential` can open it. The server stores no more of a credential than its hash, so a copy of the
 * database and the server secret does not open it. `purpose` separates uses of one credential. A credential has at least 128 random bits.
 */
export function sealKey(key: DataKey, credential: string, purpose: string): Buffer {
  const salt = randomBytes(SALT_BYTES)
  const nonce = randomBytes(NONCE_BYTES)
  const { name, key: secret, iv } = key.copyParts()
  const plain = Buffer.from(JSON.stringify([name, secret.toString('base64'), iv?.toString('base64') ?? null]))
  const cipher = createCipheriv(CIPHER, deriveFromCredential(credential, salt, purpose), nonce)
  const sealed = Buffer.concat([salt, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
  for (const bytes of [plain, secret, iv]) bytes?.fill(0)
  return sealed
}

/** Undefined if it was sealed with another credential or for another purpose, or is damaged. */
export function openSealedKey(sealed: Uint8Array, credential: string, purpose: string): DataKey | undefined {
  if (sealed.length < SALT_BYTES + NONCE_BYTES + TAG_BYTES) return undefined
  const salt = sealed.subarray(0, SALT_BYTES)
  const nonce = sealed.subarray(SALT_BYTES, SALT_BYTES + NONCE_BYTES)
  const decipher = createDecipheriv(CIPHER, deriveFromCredential(credential, salt, purpose), nonce)
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG_BYTES))
  const body = sealed.subarray(SALT_BYTES + NONCE_BYTES, sealed.length - TAG_BYTES)
  try {
    const plain = Buffer.concat([decipher.update(body), decipher.final()])
    const [name, key, iv] = JSON.parse(plain.toString()) as [CipherParts['name'], string, string | null]
    plain.fill(0)
    return new DataKey({
      name,
      key: Buffer.from(key, 'base64'),
      iv: iv === null ? null : Buffer.from(iv, 'base64'),
    })
  } catch {
    // The tag does not match.
    return undefined
  }
}

/** 32 bytes that only a holder of the credential can derive. */
export function deriveFromCredential(credential: string, salt: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', credential, salt, `carrel ${purpose}`, 32))
}
