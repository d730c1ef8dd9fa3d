import assert from 'node:assert/strict'
import { pbkdf2Sync } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Link } from './link.ts'
import { LinkSecrets } from './link-secrets.ts'

const secret = [Buffer.from('a secret of the server')] as const

function linkWith(secrets: LinkSecrets, token: string, password: string): Link {
  return { key: 1, token, password: secrets.seal(token, password) } as Partial<Link> as Link
}

describe('link secrets', () => {
  it('decrypt a password, and match it in any Unicode normalization', async () => {
    const secrets = new LinkSecrets(secret, () => 0)
    const link = linkWith(secrets, 'ab', 'gr\u00fc\u00dfe aus K\u00f6ln')
    assert.equal(secrets.open(link), 'gr\u00fc\u00dfe aus K\u00f6ln')
    assert.ok(await secrets.isPassword(link, 'gru\u0308\u00dfe aus Ko\u0308ln'))
    for (const wrong of ['', 'gr\u00fc\u00dfe', 'gr\u00fc\u00dfe aus K\u00f6ln '])
      assert.ok(!(await secrets.isPassword(link, wrong)))
  })

  it('check a password of which another server stored the hash, and do not show it', async () => {
    const secrets = new LinkSecrets(secret, () => 0)
    // The tag of `lètmein` with 1000 rounds, as Django writes it.
    const tag = pbkdf2Sync('lètmein', 'seasalt', 1000, 32, 'sha256').toString('base64')
    const sealed = secrets.sealHash('ab', `pbkdf2_sha256$1000$seasalt$${tag}`)
    const link = { key: 1, token: 'ab', password: sealed } as Partial<Link> as Link
    assert.ok(await secrets.isPassword(link, 'lètmein'))
    assert.ok(!(await secrets.isPassword(link, 'letmein')))
    assert.equal(secrets.open(link), undefined)
    assert.ok(secrets.isHashed(link) && !secrets.isHashed(linkWith(secrets, 'ab', 'lètmein')))
    const again = { ...link, password: secrets.reseal(link) }
    assert.notDeepEqual(again.password, link.password)
    assert.ok(await secrets.isPassword(again, 'lètmein'))
  })

  it('encrypt the same password differently each time', () => {
    const secrets = new LinkSecrets(secret, () => 0)
    assert.notDeepEqual(secrets.seal('ab', 'password'), secrets.seal('ab', 'password'))
  })

  it('decrypt nothing with another secret, for another link, or from changed bytes', async () => {
    const secrets = new LinkSecrets(secret, () => 0)
    const link = linkWith(secrets, 'ab', 'password')
    assert.equal(new LinkSecrets([Buffer.from('another')], () => 0).open(link), undefined)
    assert.equal(secrets.open({ ...link, token: 'cd' }), undefined)
    const changed = Buffer.from(link.password ?? [])
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1
    assert.equal(secrets.open({ ...link, password: changed }), undefined)
    assert.ok(!(await secrets.isPassword({ ...link, password: changed }, 'password')))
  })

  it('grant access for one link, one password and a limited time', () => {
    let now = 1000
    const secrets = new LinkSecrets(secret, () => now)
    const link = linkWith(secrets, 'ab', 'password')
    const { name, value, seconds } = secrets.grant(link)
    assert.equal(name, 'carrel-link-ab')
    assert.ok(secrets.isGrant(link, value))
    assert.ok(!secrets.isGrant(linkWith(secrets, 'cd', 'password'), value))
    assert.ok(!secrets.isGrant(linkWith(secrets, 'ab', 'password'), value), 'the password was changed')
    for (const bad of ['', '.', value.slice(0, -1), `9${value}`]) assert.ok(!secrets.isGrant(link, bad), bad)
    now += seconds
    assert.ok(!secrets.isGrant(link, value))
  })
})
