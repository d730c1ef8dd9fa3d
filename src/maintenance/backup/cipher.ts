import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto'

const KEY_BYTES = 32
const SALT_BYTES = 32
const TAG_BYTES = 16
const NONCE_BYTES = 12
/** scrypt with 128 MiB of memory, about half a second. Stored with the key, so that it can be raised later. */
const SCRYPT = { N: 2 ** 17, r: 8, p: 1 }

/** How the key of an encrypted target is stored: encrypted with a key derived from the passphrase. */
export interface WrappedKey {
  readonly kdf: 'scrypt'
  readonly N: number
  readonly r: number
  readonly p: number
  /** Hex, as is the key. */
  readonly salt: string
  readonly key: string
}

/**
 * Encrypts the objects of a target with AES-256-GCM. Each object has a key of its own, derived from the key of the target and a random salt, so
 * nonces can be counters and never repeat.
 */
export class BackupCipher {
  readonly #key: Buffer

  private constructor(key: Buffer) {
    this.#key = key
  }

  static async create(passphrase: string): Promise<{ cipher: BackupCipher; wrapped: WrappedKey }> {
    const key = randomBytes(KEY_BYTES)
    const salt = randomBytes(SALT_BYTES)
    const wrapping = new BackupCipher(await derive(passphrase, salt, SCRYPT))
    const wrapped = wrapping.seal('key', key).toString('hex')
    return {
      cipher: new BackupCipher(key),
      wrapped: { kdf: 'scrypt', ...SCRYPT, salt: salt.toString('hex'), key: wrapped },
    }
  }

  /** Throws if the passphrase is wrong. */
  static async open(passphrase: string, { N, r, p, salt, key }: WrappedKey): Promise<BackupCipher> {
    const wrapping = new BackupCipher(await derive(passphrase, Buffer.from(salt, 'hex'), { N, r, p }))
    return new BackupCipher(wrapping.unseal('key', Buffer.from(key, 'hex')))
  }

  /** Encrypts a whole object. `label` is authenticated, so that one object cannot stand for another. */
  seal(label: string, bytes: Uint8Array): Buffer {
    const salt = this.newSalt()
    return Buffer.concat([salt, this.encryptorOf(salt).encrypt(label, 0, bytes)])
  }

  /** Throws if the bytes were changed. */
  unseal(label: string, sealed: Uint8Array): Buffer {
    const salt = sealed.subarray(0, SALT_BYTES)
    return this.encryptorOf(salt).decrypt(label, 0, sealed.subarray(SALT_BYTES))
  }

  newSalt(): Buffer {
    return randomBytes(SALT_BYTES)
  }

  /** For an object of several parts, each with a number of its own. */
  encryptorOf(salt: Uint8Array): PartEncryptor {
    return new PartEncryptor(Buffer.from(hkdfSync('sha256', this.#key, salt, 'carrel backup', KEY_BYTES)))
  }
}

export const SALT_LENGTH = SALT_BYTES

class PartEncryptor {
  readonly #key: Buffer

  constructor(key: Buffer) {
    this.#key = key
  }

  encrypt(label: string, part: number, bytes: Uint8Array): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonceOf(part))
    cipher.setAAD(Buffer.from(label))
    return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  }

  decrypt(label: string, part: number, bytes: Uint8Array): Buffer {
    if (bytes.length < TAG_BYTES) throw new Error('The ciphertext is cut short.')
    const end = bytes.length - TAG_BYTES
    const decipher = createDecipheriv('aes-256-gcm', this.#key, nonceOf(part), { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(label))
    decipher.setAuthTag(bytes.subarray(end))
    return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()])
  }
}

function nonceOf(part: number): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce.writeUIntBE(part, NONCE_BYTES - 6, 6)
  return nonce
}

function derive(passphrase: string, salt: Buffer, cost: typeof SCRYPT): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const options = { ...cost, maxmem: 2 ** 30 }
  scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
    error === null ? resolve(key) : reject(error),
  )
  return promise
}
