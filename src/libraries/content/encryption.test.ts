import assert from 'node:assert/strict'
import { it } from 'node:test'
import { parseLibraryId } from '../../base/objects/ids.ts'
import { checkMagic, checkPassword, encryptionFromPassword } from './encryption.ts'
import type { LibraryEncryption } from './library-encryption.ts'
import { parsePasswordHashCost } from './password-hash.ts'

const id = parseLibraryId('3f2504e0-4f89-41d3-9a0c-0305e82c3301')
assert.ok(id)
const password = 's3cret-pässword'
const salt = '00112233445566778899aabbccddeeff'.repeat(2)
const version2: LibraryEncryption = {
  version: 2,
  magic: '316f0bed7a7ebb1175bf4c88d8a3115eb1a1322d2fa1315f9820a846cd299598',
  randomKey:
    'dcebe2295baefcc35b76686a6615b2133d97445e7ca70360d8deaaad4f021d68fc828cc9c3f552ee39cdfe4e6b2c5e31',
  salt: '',
  pwdHash: '',
  pwdHashAlgo: '',
  pwdHashParams: '',
}
const magic3 = '5e6f01452e177943586151ff3930d43ed2ed623a58db076051982449527cb7b7'

it('derives the same magic and random key as existing clients', async () => {
  const secret = Buffer.from(Array.from({ length: 32 }, (_, i) => i))
  assert.deepEqual(await encryptionFromPassword(id, password, secret), version2)
})

const hashed = (version: number, pwdHash: string, pwdHashAlgo: string, pwdHashParams: string) => ({
  ...version2,
  version,
  salt: version >= 3 ? salt : '',
  magic: '',
  pwdHash,
  pwdHashAlgo,
  pwdHashParams,
})
const libraries: Record<string, LibraryEncryption> = {
  'version 2': version2,
  'version 3': { ...version2, version: 3, salt, magic: magic3 },
  'version 4': { ...version2, version: 4, salt, magic: magic3 },
  'version 2, pbkdf2_sha256': hashed(
    2,
    '116689bf90f27eb9ed474243a657d5c5cd715b7689feecb4ae910bc46d8ffcbd',
    'pbkdf2_sha256',
    '1000',
  ),
  'version 4, pbkdf2_sha256 with its usual rounds': hashed(4, magic3, 'pbkdf2_sha256', ''),
  'version 4, argon2id': hashed(
    4,
    '796baaf2896b3f73fdfe491c88c0a726d52646f26ad2a7cc5fa70a18d06c1531',
    'argon2id',
    '2,102400,8',
  ),
}

for (const [name, encryption] of Object.entries(libraries)) {
  it(`accepts only the password of a library: ${name}`, async () => {
    assert.equal(await checkPassword(id, encryption, password), true)
    assert.equal(await checkPassword(id, encryption, `${password} `), false)
    assert.equal(await checkPassword(id, encryption, ''), false)
  })
}

it('compares a check value case-insensitively', () => {
  assert.equal(checkMagic(version2, version2.magic), true)
  assert.equal(checkMagic(version2, version2.magic.toUpperCase()), true)
  for (const wrong of ['', 'x', magic3, version2.magic.slice(2), `${version2.magic}00`]) {
    assert.equal(checkMagic(version2, wrong), false, wrong)
  }
})

it('rejects password hash parameters that are invalid or too expensive', () => {
  assert.deepEqual(parsePasswordHashCost('pbkdf2_sha256', ''), { algorithm: 'pbkdf2_sha256', rounds: 1000 })
  const refused: [string, string][] = [
    ['md5', '1'],
    ['pbkdf2_sha256', '0'],
    ['pbkdf2_sha256', '1000001'],
    ['pbkdf2_sha256', '1000,1'],
    ['pbkdf2_sha256', 'x'],
    ['argon2id', '2'],
    ['argon2id', '0,102400,8'],
    ['argon2id', '2,1048576,8'],
    ['argon2id', '11,102400,8'],
    ['argon2id', '2,8,8'],
    ['argon2id', '2,102400,0'],
    ['argon2id', '2,102400,17'],
  ]
  for (const [algorithm, params] of refused) {
    assert.equal(parsePasswordHashCost(algorithm, params), undefined, `${algorithm} ${params}`)
  }
})
