import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DomainError } from '../../base/errors.ts'
import { type LibraryId, newLibraryId } from '../../base/objects/ids.ts'
import { DataKey } from './data-key.ts'
import { Keyring } from './keyring.ts'
import type { LibraryEncryption } from './library-encryption.ts'

const encryption: LibraryEncryption = {
  version: 2,
  magic: 'm',
  randomKey: 'r',
  salt: '',
  pwdHash: '',
  pwdHashAlgo: '',
  pwdHashParams: '',
}

const opened = (id: LibraryId, account: number, values: LibraryEncryption | undefined = encryption) => ({
  info: { id, encryption: values, epoch: 0 },
  actor: { key: account, epoch: 0 },
})

function newKey() {
  const bytes = Buffer.alloc(32, 1)
  return { bytes, key: new DataKey({ name: 'aes-256-cbc', key: bytes, iv: Buffer.alloc(16, 1) }) }
}

function isPasswordNeeded(error: unknown): boolean {
  return error instanceof DomainError && error.fault.code === 'password-needed'
}

describe('a keyring', () => {
  it('holds a key for one account and one library', () => {
    using keys = new Keyring(() => 0)
    const [library, other] = [newLibraryId(), newLibraryId()]
    const { key } = newKey()
    keys.hold(opened(library, 1), encryption, key)
    assert.equal(keys.keyFor(opened(library, 1)), key)
    for (const closed of [opened(library, 2), opened(other, 1)]) {
      assert.equal(keys.isOpen(closed), false)
      assert.throws(() => keys.keyFor(closed), isPasswordNeeded)
    }
    const plain = { ...opened(other, 1), info: { id: other, encryption: undefined, epoch: 0 } }
    assert.deepEqual([keys.keyFor(plain), keys.isOpen(plain)], [undefined, true])
  })

  it('evicts and wipes a key after an hour, used or not', () => {
    let now = 1000
    using keys = new Keyring(() => now)
    const library = opened(newLibraryId(), 1)
    const { bytes, key } = newKey()
    keys.hold(library, encryption, key)
    now += 3599
    assert.equal(keys.keyFor(library), key)
    now += 1
    assert.equal(keys.isOpen(library), false)
    assert.deepEqual([keys.size, bytes], [0, Buffer.alloc(32)])
  })

  it('evicts expired keys that are not used', (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    let now = 0
    using keys = new Keyring(() => now)
    const { bytes, key } = newKey()
    keys.hold(opened(newLibraryId(), 1), encryption, key)
    now = 3600
    t.mock.timers.tick(60_000)
    assert.deepEqual([keys.size, bytes], [0, Buffer.alloc(32)])
  })

  it('rejects a key of another password', () => {
    using keys = new Keyring(() => 0)
    const library = opened(newLibraryId(), 1)
    const { bytes, key } = newKey()
    keys.hold(library, encryption, key)
    const changed = opened(library.info.id, 1, { ...encryption, magic: 'n', randomKey: 's' })
    assert.equal(keys.isOpen(changed), false)
    assert.deepEqual(bytes, Buffer.alloc(32))
  })

  it('drops one key, all of a library, all of an account, or all keys', () => {
    const keys = new Keyring(() => 0)
    const [a, b] = [newLibraryId(), newLibraryId()]
    const all = [opened(a, 1), opened(a, 2), opened(b, 1), opened(b, 2)]
    const made = all.map((library) => {
      const { bytes, key } = newKey()
      keys.hold(library, encryption, key)
      return bytes
    })
    const open = () => all.map((library) => keys.isOpen(library))
    keys.forget(opened(a, 1))
    keys.forget(opened(a, 1))
    assert.deepEqual(open(), [false, true, true, true])
    keys.forgetLibrary(a)
    assert.deepEqual(open(), [false, false, true, true])
    keys.forgetAccount(1)
    assert.deepEqual(open(), [false, false, false, true])
    keys[Symbol.dispose]()
    assert.deepEqual(open(), [false, false, false, false])
    for (const bytes of made) assert.deepEqual(bytes, Buffer.alloc(32))
  })

  it('is bounded and evicts the oldest key first', () => {
    using keys = new Keyring(() => 0)
    const ids = Array.from({ length: 10_001 }, () => newLibraryId())
    for (const id of ids) keys.hold(opened(id, 1), encryption, newKey().key)
    assert.equal(keys.size, 10_000)
    assert.equal(keys.isOpen(opened(ids[0] as LibraryId, 1)), false)
    assert.equal(keys.isOpen(opened(ids[1] as LibraryId, 1)), true)
  })
})
