import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fileId } from '../../base/objects/file.ts'
import { type BlockId, parseLibraryId, sha1Hex } from '../../base/objects/ids.ts'
import type { DataKey } from './data-key.ts'
import { checkPassword, dataKeyFrom, withNewPassword } from './encryption.ts'
import type { LibraryEncryption } from './library-encryption.ts'

// Test vectors of the specification, verified with OpenSSL, and for version 2 with an existing client.
const id = parseLibraryId('3f2504e0-4f89-41d3-9a0c-0305e82c3301') ?? assert.fail()
const password = 's3cret-pässword'
const salt = '00112233445566778899aabbccddeeff'.repeat(2)
const plaintext = Buffer.from('The quick brown fox jumps over the lazy dog.\n')
const none = { pwdHash: '', pwdHashAlgo: '', pwdHashParams: '' }
const magic3 = '5e6f01452e177943586151ff3930d43ed2ed623a58db076051982449527cb7b7'

interface Vector {
  readonly encryption: LibraryEncryption
  readonly ciphertext: string
  readonly blockId: string
}

const vectors: Vector[] = [
  {
    encryption: { version: 1, salt: '', magic: '6f0ec7351f6b00c7c6cfb9a342f8de79', randomKey: '', ...none },
    ciphertext:
      '6fd3d0c8af635761f78b702308da40a400feb9ed6e2c037a719095d991812b88aa19e603f65d2d753b3f356c6624659d',
    blockId: '509b787ea16a6f164e80769377469849ec286138',
  },
  {
    encryption: {
      version: 2,
      salt: '',
      magic: '316f0bed7a7ebb1175bf4c88d8a3115eb1a1322d2fa1315f9820a846cd299598',
      randomKey:
        'dcebe2295baefcc35b76686a6615b2133d97445e7ca70360d8deaaad4f021d68fc828cc9c3f552ee39cdfe4e6b2c5e31',
      ...none,
    },
    ciphertext:
      '4770e78ebb912a3256a6076d804802f92c956103dfe5e08432de2c7e7695d3c0ff49a9f3c13f370f2cad294f4466fb0d',
    blockId: '438d28cd9b4f2ed604c10cca688f23582afa2d12',
  },
  {
    encryption: {
      version: 3,
      salt,
      magic: magic3,
      randomKey:
        '190d32a2e8eaef0957a4230deaf5a0a2c6543b7af708a54f768d815e5eb31b1c9ed6a0f7567f5bc8a0a97e8a5cb09c01',
      ...none,
    },
    ciphertext:
      'b8d9f413e3aa061f519890a3c3e58c168dfb040d4228c799d4b39be0566319876403fdf00703790b5b109a7a7774bffd',
    blockId: 'f962818c4219d5cc45f2d71a614df955d9a1a423',
  },
  {
    encryption: {
      version: 4,
      salt,
      magic: magic3,
      randomKey:
        '49cb09e1a1cee462e28b0cd508a63d0d1bab2a499e4e4aff47c33334774f99b4f0f9b5de181dff4289daf3169c753a02',
      ...none,
    },
    ciphertext:
      'c82e2a67a79d38111a11daf57d547123bbc85c20843e2e35ca40dc01c5059d3a2788b8a5e6636be6306ea34615f129e0',
    blockId: '695a7c533acb65215df22e4624d2464cead7e2c2',
  },
]

for (const { encryption, ciphertext, blockId } of vectors) {
  describe(`encryption version ${encryption.version}`, () => {
    it('accepts its password only', async () => {
      assert.equal(await checkPassword(id, encryption, password), true)
      assert.equal(await checkPassword(id, encryption, `${password} `), false)
    })

    it('encrypts like existing clients', async () => {
      const bytes = encrypt(await keyOf(encryption), plaintext)
      assert.equal(bytes.toString('hex'), ciphertext)
      assert.equal(sha1Hex(bytes), blockId)
    })

    it('decrypts blocks of existing clients', async () => {
      const key = await keyOf(encryption)
      const decipher = key.decryptor()
      const bytes = decipher.update(Buffer.from(ciphertext, 'hex'))
      assert.deepEqual(bytes.subarray(0, plaintext.length), plaintext)
      assert.deepEqual(bytes.subarray(plaintext.length), Buffer.alloc(3, 3))
    })

    it('derives no key from another password', async () => {
      if (encryption.version === 1) return
      assert.equal(await dataKeyFrom(encryption, 'password'), undefined)
    })
  })
}

it('version 2 encrypts a file like a client and also pads whole cipher blocks', async () => {
  const [, vector] = vectors
  assert.ok(vector)
  const file = { blockIds: [vector.blockId as BlockId], size: plaintext.length }
  assert.equal(fileId(file), '4e653af24111d841c38525d4471ffe98a8b39896')
  const bytes = encrypt(await keyOf(vector.encryption), Buffer.from('1234567890abcdef'))
  assert.equal(bytes.toString('hex'), 'f6287b138b78571410fbb9b45833db1e1f70c4b1aeccf0c5f7ddd2ae7476bf4a')
  assert.equal(sha1Hex(bytes), 'f4279ea7ee198be89f6d06a12fd6714233d2f7c2')
})

it('a new password of version 2 wraps the same key, like a client', async () => {
  const [, vector] = vectors
  assert.ok(vector)
  const changed = await withNewPassword(id, vector.encryption, password, 'newpass')
  assert.deepEqual(changed, {
    ...vector.encryption,
    magic: '8d14359759c373abbba6c4bb0785b672b218678f5933a8e2e3ada0f1e99ef132',
    randomKey:
      '3eba966f9fa4e35068a63175086d09b19a79c4fac03787355b5303ea4a37d951bdb111e53f2defb77d3870a86df0cd5d',
  })
  assert.equal(encrypt(await keyOf(changed, 'newpass'), plaintext).toString('hex'), vector.ciphertext)
})

for (const { encryption, ciphertext } of vectors.slice(1)) {
  it(`a new password of version ${encryption.version} with a hash keeps its algorithm and its key`, async () => {
    const hashed = { ...encryption, magic: '', pwdHash: 'ab'.repeat(32), pwdHashAlgo: 'pbkdf2_sha256' }
    const changed = await withNewPassword(id, hashed, password, 'newpass')
    assert.ok(changed)
    assert.deepEqual([changed.magic, changed.pwdHashAlgo], ['', 'pbkdf2_sha256'])
    assert.equal(await checkPassword(id, changed, 'newpass'), true)
    assert.equal(await checkPassword(id, changed, password), false)
    assert.equal(encrypt(await keyOf(changed, 'newpass'), plaintext).toString('hex'), ciphertext)
  })
}

it('a wrong password cannot be changed', async () => {
  const [, vector] = vectors
  assert.ok(vector)
  const broken = { ...vector.encryption, randomKey: '00'.repeat(48) }
  assert.equal(await withNewPassword(id, broken, password, 'newpass'), undefined)
  assert.equal(await dataKeyFrom(broken, password), undefined)
})

async function keyOf(encryption: LibraryEncryption, given = password): Promise<DataKey> {
  return (await dataKeyFrom(encryption, given)) ?? assert.fail()
}

function encrypt(key: DataKey, bytes: Buffer): Buffer {
  const cipher = key.encryptor()
  return Buffer.concat([cipher.update(bytes), cipher.final()])
}
