import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { describe, it } from 'node:test'
import { defaultPasswordCost, Passwords } from './passwords.ts'
import { cheapCost } from './test-support.ts'

const encodedShape = /^\$argon2id\$v=19\$m=8,t=1,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/

describe('Passwords', () => {
  it('knows a password again and no other', async () => {
    const passwords = new Passwords({ cost: cheapCost })
    const encoded = await passwords.hash('correct horse')
    assert.equal(await passwords.verify('correct horse', encoded), true)
    assert.equal(await passwords.verify('correct horse ', encoded), false)
    assert.equal(await passwords.verify('', encoded), false)
  })

  it('keeps argon2id with its parameters, salt and tag, and nothing of the password', async () => {
    const encoded = await new Passwords({ cost: cheapCost }).hash('correct horse')
    const [, salt = '', tag] = encodedShape.exec(encoded) ?? assert.fail(encoded)
    const nonce = Buffer.from(salt, 'base64')
    const expected = argon2Sync('argon2id', { message: 'correct horse', nonce, tagLength: 32, ...cheapCost })
    assert.equal(tag, expected.toString('base64').replaceAll('=', ''))
  })

  it('salts each hash', async () => {
    const passwords = new Passwords({ cost: cheapCost })
    assert.notEqual(await passwords.hash('same'), await passwords.hash('same'))
  })

  it('takes a password typed composed or decomposed for the same', async () => {
    const passwords = new Passwords({ cost: cheapCost })
    assert.equal(await passwords.verify('caf\u00e9', await passwords.hash('cafe\u0301')), true)
  })

  it('checks a hash at the cost it was made at, and calls it outdated', async () => {
    const older = new Passwords({ cost: cheapCost })
    const newer = new Passwords({ cost: { ...cheapCost, passes: 2 } })
    const encoded = await older.hash('correct horse')
    assert.equal(await newer.verify('correct horse', encoded), true)
    assert.equal(newer.isOutdated(encoded), true)
    assert.equal(older.isOutdated(encoded), false)
  })

  it('lets nobody in where there is no hash, an empty one or a broken one', async () => {
    const passwords = new Passwords({ cost: cheapCost })
    for (const encoded of [undefined, '', '!', 'correct horse', '$argon2id$v=19$m=8,t=1,p=1$$']) {
      assert.equal(await passwords.verify('', encoded), false)
      assert.equal(await passwords.verify('correct horse', encoded), false)
    }
    assert.equal(passwords.isOutdated(''), true)
  })

  it('uses a cost that is not a toy by default', async () => {
    const passwords = new Passwords()
    const encoded = await passwords.hash('correct horse')
    assert.match(encoded, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    assert.equal(passwords.isOutdated(encoded), false)
    assert.deepEqual(defaultPasswordCost, { memory: 19_456, passes: 2, parallelism: 1 })
  })

  it('runs no more at once than it was told, and serves the rest in the order they came', async () => {
    const passwords = new Passwords({ cost: cheapCost, atOnce: 1 })
    const encoded = await passwords.hash('p')
    const done: number[] = []
    const order = Array.from({ length: 20 }, (_, index) => index)
    // A hash a hundred times dearer goes first: with two at once, the others would overtake it.
    const dear = new Passwords({ cost: { memory: 4096, passes: 3, parallelism: 1 } })
    const slow = await dear.hash('p')
    const checks = order.map(async (index) => {
      await passwords.verify('p', index === 0 ? slow : encoded)
      done.push(index)
    })
    await Promise.all(checks)
    assert.deepEqual(done, order)
  })

  it('goes on after a hash that could not be made', async () => {
    const passwords = new Passwords({ cost: cheapCost, atOnce: 1 })
    const encoded = await passwords.hash('p')
    const impossible = encoded.replace('m=8', 'm=1')
    const [failed, checked] = await Promise.allSettled([
      passwords.verify('p', impossible),
      passwords.verify('p', encoded),
    ])
    assert.equal(failed.status, 'rejected')
    assert.deepEqual(checked, { status: 'fulfilled', value: true })
  })
})
