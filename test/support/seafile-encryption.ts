import { createCipheriv, createHash, hash, pbkdf2Sync, randomBytes } from 'node:crypto'

/** The key of an encrypted library of the source, and the fields of its commits. */
export interface Encrypted {
  readonly version: 1 | 2 | 3 | 4
  readonly password: string
  readonly fields: Readonly<Record<string, string | number>>
  readonly key: Buffer
  readonly iv: Buffer
}

const SALT = Buffer.from('da9045c306c7cc26', 'hex')

/** A new encrypted library, as clients made them in each version. */
export function encryptedLibrary(id: string, version: 1 | 2 | 3 | 4, password: string): Encrypted {
  if (version === 1) {
    const fields = { enc_version: 1, magic: derive1(Buffer.from(id + password)).key.toString('hex') }
    return { version, password, fields, ...derive1(Buffer.from(password)) }
  }
  const salt = version === 2 ? SALT : randomBytes(32)
  const secret = randomBytes(32)
  const fields = {
    enc_version: version,
    magic: derive(Buffer.from(id + password), salt).key.toString('hex'),
    key: encrypt(version, derive(Buffer.from(password), salt), secret).toString('hex'),
    ...(version > 2 && { salt: salt.toString('hex') }),
  }
  return { version, password, fields, ...derive(secret, salt) }
}

/** A virtual library of an encrypted one: the same key, and a check value for its own id. */
export function encryptedView(id: string, origin: Encrypted): Encrypted {
  const input = Buffer.from(id + origin.password)
  const salt = Buffer.from(String(origin.fields['salt'] ?? SALT.toString('hex')), 'hex')
  const { key } = origin.version === 1 ? derive1(input) : derive(input, salt)
  return { ...origin, fields: { ...origin.fields, magic: key.toString('hex') } }
}

export function encryptedBlock({ version, key, iv }: Encrypted, plain: Buffer): Buffer {
  return encrypt(version, { key, iv }, plain)
}

function encrypt(version: number, { key, iv }: { key: Buffer; iv: Buffer }, plain: Buffer): Buffer {
  const cipher =
    version === 3
      ? createCipheriv('aes-128-ecb', key.subarray(0, 16), null)
      : createCipheriv(version === 1 ? 'aes-128-cbc' : 'aes-256-cbc', key, iv)
  return Buffer.concat([cipher.update(plain), cipher.final()])
}

function derive(input: Buffer, salt: Buffer): { key: Buffer; iv: Buffer } {
  const key = pbkdf2Sync(input, salt, 1000, 32, 'sha256')
  return { key, iv: pbkdf2Sync(key, salt, 10, 16, 'sha256') }
}

/** OpenSSL's `EVP_BytesToKey` with SHA-1 and 524288 rounds. */
function derive1(input: Buffer): { key: Buffer; iv: Buffer } {
  let bytes: Buffer = Buffer.alloc(0)
  let previous: Buffer = Buffer.alloc(0)
  while (bytes.length < 32) {
    let digest: Buffer = createHash('sha1').update(previous).update(input).update(SALT).digest()
    for (let round = 1; round < 524_288; round++) digest = hash('sha1', digest, 'buffer')
    previous = digest
    bytes = Buffer.concat([bytes, digest])
  }
  return { key: bytes.subarray(0, 16), iv: bytes.subarray(16, 32) }
}
