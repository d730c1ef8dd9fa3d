import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { describe, it } from 'node:test'
import { cheapCost } from '../../../test/support/identity.ts'
import { HashQueue } from './hash-queue.ts'
import { defaultPasswordCost, Passwords } from './passwords.ts'

const client = { source: 'here', subject: 'ann' }
const encodedShape = /^\$argon2id\$v=19\$m=8,t=1,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/

describe('Passwords', () => {
  it('verify a password and no other', async () => {
    const passwords = new Passwords({ cost: cheapCost })
    const encoded = await passwords.hash('correct horse', 'tests')
    assert.equal(await passwords.verify('correct horse', encoded, client), true)
    assert.equal(await passwords.verify('correct horse ', encoded, client), false)
    assert.equal(await passwords.verify('', encoded, client), false)
  })

  it('are stored as argon2id with parameters, salt and tag, and nothing of the password', async () => {
    const encoded = await new Passwords({ cost: cheapCost }).hash('correct horse', 'tests')
    const [, salt = '', tag] = encodedShape.exec(encoded) ?? assert.fail(encoded)
    const nonce = Buffer.from(salt, 'base64')
    const expected = argon2Sync('argon2id', { message: 'correct horse', nonce, tagLength: 32, ...cheapCost })
    assert.equal(tag, expected.toString('base64').replaceAll('=', ''))
  })

  it('are salted individually', async () => {
    const passwords = new Passwords({ cost: cheapCost })
    assert.notEqual(await passwords.hash('same', 'tests'), await passwords.hash('same', 'tests'))
  })

  it('are equal in composed and decomposed form', async () => {
    const passwords = new Passwords({ cost: cheapCost })
    assert.equal(
      await passwords.verify('caf\u00e9', await passwords.hash('cafe\u0301', 'tests'), client),
      true,
    )
  })

  it('are verified at the cost of their hash, and reported as outdated', async () => {
    const older = new Passwords({ cost: cheapCost })
    const newer = new Passwords({ cost: { ...cheapCost, passes: 2 } })
    const encoded = await older.hash('correct horse', 'tests')
    assert.equal(await newer.verify('correct horse', encoded, client), true)
    assert.equal(newer.isOutdated(encoded), true)
    assert.equal(older.isOutdated(encoded), false)
  })

  it('never match a missing, empty or broken hash', async () => {
    const passwords = new Passwords({ cost: cheapCost })
    for (const encoded of [undefined, '', '!', 'correct horse', '$argon2id$v=19$m=8,t=1,p=1$$']) {
      assert.equal(await passwords.verify('', encoded, client), false)
      assert.equal(await passwords.verify('correct horse', encoded, client), false)
    }
    assert.equal(passwords.isOutdated(''), true)
  })

  it('have a realistic default cost', async () => {
    const passwords = new Passwords()
    const encoded = await passwords.hash('correct horse', 'tests')
    assert.match(encoded, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.equal(passwords.isOutdated(encoded), false)
    assert.deepEqual(defaultPasswordCost, { memory: 19_456, passes: 2, parallelism: 1 })
  })

  it('work after a hash that failed', async () => {
    const passwords = new Passwords({ cost: cheapCost, queue: new HashQueue({ slots: 1 }) })
    const encoded = await passwords.hash('p', 'tests')
    const impossible = encoded.replace('m=8', 'm=1')
    const [failed, checked] = await Promise.allSettled([
      passwords.verify('p', impossible, client),
      passwords.verify('p', encoded, client),
    ])
    assert.equal(failed.status, 'rejected')
    assert.deepEqual(checked, { status: 'fulfilled', value: true })
  })
})
