import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  contactEmailOf,
  displayName,
  emailAsShown,
  emailOnceRemoved,
  isAdmin,
  parseEmail,
  unknownPerson,
} from './account.ts'
import { type RoleAction, roleAllows } from './roles.ts'

describe('parseEmail', () => {
  const accepted: [text: string, email: string][] = [
    ['ann@example.org', 'ann@example.org'],
    ['Ann.B+notes@Example.ORG', 'ann.b+notes@example.org'],
    ['  ann@example.org\n', 'ann@example.org'],
    ['admin@localhost', 'admin@localhost'],
    ['ÉMILE@example.org', 'émile@example.org'],
    ['e\u0301mile@example.org', 'émile@example.org'],
    ['王@例子.org', '王@例子.org'],
    [`${'a'.repeat(243)}@example.org`, `${'a'.repeat(243)}@example.org`],
  ]
  for (const [text, email] of accepted) {
    it(`accepts ${JSON.stringify(text.slice(0, 30))}`, () => assert.equal(parseEmail(text), email))
  }

  const refused = [
    '',
    'ann',
    '@example.org',
    'ann@',
    'ann@@example.org',
    'ann@b@example.org',
    'ann b@example.org',
    'ann/b@example.org',
    'ann\\b@example.org',
    'ann\0@example.org',
    'ann\u200b@example.org',
    'ann\ud800@example.org',
    'ann\u00a0b@example.org',
    'Ann <ann@example.org>',
    'deleted:1:ann@example.org',
    'ann@example.org,bob@example.org',
    `${'a'.repeat(244)}@example.org`,
    'a'.repeat(1_000_000),
  ]
  for (const text of refused) {
    it(`rejects ${JSON.stringify(text.slice(0, 30))}`, () => assert.equal(parseEmail(text), undefined))
  }
})

describe('the displayed name and address of an account', () => {
  const ann = { email: 'ann@example.org', name: '', contactEmail: '' }
  it('are the nickname and the contact e-mail if they are set', () => {
    const account = { ...ann, name: 'Ann B', contactEmail: 'office@example.com' }
    assert.equal(displayName(account), 'Ann B')
    assert.equal(contactEmailOf(account), 'office@example.com')
  })
  it('fall back to the start of the contact e-mail, then of the id', () => {
    assert.equal(displayName({ ...ann, contactEmail: 'office@example.com' }), 'office')
    assert.equal(displayName(ann), 'ann')
    assert.equal(contactEmailOf(ann), 'ann@example.org')
  })
  it('are derived from the e-mail for an unknown account', () => {
    const zoe = { email: 'zoe@elsewhere.org', name: 'zoe', contactEmail: 'zoe@elsewhere.org' }
    assert.deepEqual(unknownPerson('zoe@elsewhere.org'), zoe)
    assert.equal(unknownPerson('no address').name, 'no address')
    assert.equal(unknownPerson('@odd').name, '@odd')
  })
  it('are the old e-mail for a removed account, whose stored one cannot be entered', () => {
    const stored = emailOnceRemoved({ key: 17, email: 'ann@example.org' })
    assert.equal(emailAsShown(stored), 'ann@example.org')
    assert.equal(emailAsShown('ann@example.org'), 'ann@example.org')
    assert.equal(parseEmail(stored), undefined)
  })
})

describe('roles', () => {
  it('grant guests nothing on the server, and sharing with everyone only to administrators', () => {
    const actions: RoleAction[] = ['add-library', 'share', 'add-group', 'make-share-link']
    actions.push('make-upload-link', 'see-public-libraries', 'publish-library')
    const allowed = (role: 'guest' | 'default' | 'admin') =>
      actions.filter((action) => roleAllows(role, action))
    assert.deepEqual(allowed('guest'), [])
    assert.deepEqual(allowed('default'), actions.slice(0, -1))
    assert.deepEqual(allowed('admin'), actions)
  })
  it('make one kind of account an administrator', () => {
    assert.deepEqual([isAdmin({ role: 'admin' }), isAdmin({ role: 'default' })], [true, false])
  })
})
