import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { laptop, onEachDatabase } from '../../../test/support/identity.ts'
import { DomainError, type Fault } from '../../base/errors.ts'
import { type AccountRule, AccountRuleError } from './account-rules.ts'
import type { AccountChanges } from './accounts.ts'

const fault = (expected: Fault) => (error: unknown) => {
  assert.ok(error instanceof DomainError, String(error))
  assert.deepEqual(error.fault, expected)
  return true
}
const rule = (code: AccountRule, value?: string) => (error: unknown) => {
  assert.ok(error instanceof AccountRuleError, String(error))
  assert.equal(error.code, code)
  if (value !== undefined) assert.equal(error.value, value)
  return true
}
const noAnn = fault({ code: 'account-not-found', email: 'ann@example.org' })

await onEachDatabase('Accounts', (open) => {
  describe('create', () => {
    it('creates an active, ordinary account under the lower-cased e-mail', async () => {
      await using identity = await open()
      const created = await identity.accounts.create(
        {
          email: 'Ann@Example.org',
          password: 'a long password',
        },
        undefined,
      )
      assert.deepEqual(created, {
        key: created.key,
        email: 'ann@example.org',
        name: '',
        contactEmail: '',
        contactVerified: false,
        loginId: '',
        department: '',
        institution: '',
        listInAddressBook: false,
        role: 'default',
        active: true,
        quota: 0,
        defaultLibraryKey: null,
        createdAt: identity.time,
        lastLoginAt: null,
        epoch: 0,
        hasSecondFactor: false,
        mailNotices: 'at-once',
        updateMailSeconds: 0,
      })
      assert.deepEqual(await identity.accounts.find('ANN@example.ORG'), created)
      assert.deepEqual(await identity.accounts.findByKey(created.key), created)
    })

    it('accepts every field', async () => {
      await using identity = await open()
      const wanted = {
        name: 'Ann B',
        contactEmail: 'office@example.com',
        loginId: 'ann',
        department: 'Maps',
        institution: 'Library',
        listInAddressBook: true,
        role: 'admin',
        active: false,
        quota: 5_000_000_000_000,
      } as const
      const created = await identity.signUp('ann', wanted)
      assert.deepEqual({ ...created, ...wanted }, created)
    })

    it('rejects an e-mail that is taken, in any spelling', async () => {
      await using identity = await open()
      await identity.signUp('ann')
      const again = identity.accounts.create(
        { email: 'ANN@example.org', password: 'a long password' },
        undefined,
      )
      await assert.rejects(again, fault({ code: 'account-exists', email: 'ann@example.org' }))
    })

    it('creates one account for concurrent calls with the same e-mail', async () => {
      await using identity = await open()
      const outcomes = await Promise.allSettled(
        ['the first', 'the second', 'the third'].map((password) =>
          identity.signUp('ann', { password, loginId: 'ann' }),
        ),
      )
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
      assert.equal(refused.length, 2)
      for (const { reason } of refused) fault({ code: 'account-exists', email: 'ann@example.org' })(reason)
      assert.equal(await identity.accounts.count(), 1)
    })

    it('rejects a login id that is taken and creates nothing', async () => {
      await using identity = await open()
      await identity.signUp('ann', { loginId: 'reader' })
      const bob = identity.signUp('bob', { loginId: ' reader ' })
      await assert.rejects(bob, fault({ code: 'login-id-taken', loginId: 'reader' }))
      assert.equal(await identity.accounts.find('bob@example.org'), undefined)
    })

    it('rejects a contact e-mail that is the id or the verified contact of another', async () => {
      await using identity = await open()
      await identity.signUp('ann', { contactEmail: 'office@example.com', contactVerified: true })
      for (const contactEmail of ['ann@example.org', 'Office@example.com']) {
        const taken = rule('contact-email-taken', contactEmail.toLowerCase())
        await assert.rejects(identity.signUp('bob', { contactEmail }), taken)
      }
      const bob = await identity.signUp('bob', { contactEmail: 'bob@example.org' })
      assert.equal(bob.contactEmail, 'bob@example.org')
    })

    it('does not reserve an unverified contact e-mail', async () => {
      await using identity = await open()
      const contactEmail = 'office@example.com'
      await identity.signUp('squatter', { contactEmail })
      await identity.signUp('another', { contactEmail })
      const ann = await identity.signUp('ann', { contactEmail, contactVerified: true })
      assert.equal((await identity.accounts.findByLogin(contactEmail))?.key, ann.key)
      const verified = identity.accounts.update(
        'squatter@example.org',
        {
          contactEmail,
          contactVerified: true,
        },
        undefined,
      )
      await assert.rejects(verified, rule('contact-email-taken', contactEmail))
    })

    it('verifies a contact e-mail for one of two concurrent callers', async () => {
      await using identity = await open()
      const contactEmail = 'office@example.com'
      const names = ['ann', 'bob', 'cy']
      for (const name of names) await identity.signUp(name)
      const asked = names.map((name) =>
        identity.accounts.update(`${name}@example.org`, { contactEmail, contactVerified: true }, undefined),
      )
      const refused = (await Promise.allSettled(asked)).filter((outcome) => outcome.status === 'rejected')
      assert.equal(refused.length, 2)
      for (const { reason } of refused) assert.ok(rule('contact-email-taken', contactEmail)(reason))
    })
  })

  describe('the rules of each field', () => {
    const broken: [changes: AccountChanges, code: AccountRule][] = [
      [{ password: '' }, 'password-empty'],
      [{ password: '1234567' }, 'password-too-short'],
      // Seven characters, of two code points each.
      [{ password: 'e\u0301'.repeat(7) }, 'password-too-short'],
      [{ password: 'x'.repeat(1025) }, 'password-too-long'],
      [{ name: 'x'.repeat(65) }, 'name-too-long'],
      [{ name: 'a/b' }, 'name-has-slash'],
      [{ name: 'a\0b' }, 'name-invalid'],
      [{ name: 'a\ud800b' }, 'name-invalid'],
      [{ contactEmail: 'office' }, 'contact-email-invalid'],
      [{ loginId: '  ' }, 'login-id-empty'],
      [{ loginId: 'a\nb' }, 'login-id-invalid'],
      [{ loginId: 'x'.repeat(256) }, 'login-id-invalid'],
      [{ department: 'x'.repeat(513) }, 'department-too-long'],
      [{ department: 'a\0b' }, 'department-invalid'],
      [{ institution: 'x'.repeat(256) }, 'institution-invalid'],
      [{ quota: -1 }, 'quota-invalid'],
      [{ quota: 1.5 }, 'quota-invalid'],
      [{ quota: Number.NaN }, 'quota-invalid'],
      [{ quota: 2 ** 53 }, 'quota-invalid'],
    ]
    it('are enforced by create and by update', async () => {
      await using identity = await open()
      const before = await identity.signUp('ann')
      for (const [changes, code] of broken) {
        await assert.rejects(identity.accounts.update('ann@example.org', changes, undefined), rule(code))
        await assert.rejects(identity.signUp('bob', changes), rule(code))
      }
      await assert.rejects(identity.signUp('b ob'), rule('email-invalid', 'b ob@example.org'))
      assert.deepEqual(await identity.accounts.get('ann@example.org'), before)
      assert.equal(await identity.accounts.count(), 1)
    })

    it('count characters, not bytes, and accept the maximum', async () => {
      await using identity = await open()
      const changes = { name: '🦉'.repeat(64), department: 'é'.repeat(512), quota: Number.MAX_SAFE_INTEGER }
      await identity.signUp('ann')
      const { name, department, quota } = await identity.accounts.update(
        'ann@example.org',
        changes,
        undefined,
      )
      assert.deepEqual({ name, department, quota }, changes)
    })

    it('do not repeat a password in the error', async () => {
      await using identity = await open()
      const password = 'hunter2'.repeat(200)
      await assert.rejects(identity.signUp('ann', { password }), (error: Error) => {
        return !inspect(error, { showHidden: true }).includes('hunter2')
      })
    })
  })

  describe('lookup', () => {
    it('by e-mail returns nothing for an invalid e-mail, and get throws', async () => {
      await using identity = await open()
      assert.equal(await identity.accounts.find('ann'), undefined)
      assert.equal(await identity.accounts.find('\0'), undefined)
      assert.equal(await identity.accounts.findByKey(99), undefined)
      await assert.rejects(identity.accounts.get('ann@example.org'), noAnn)
    })

    it('by login accepts the account id, the login id or the contact e-mail', async () => {
      await using identity = await open()
      const ann = await identity.signUp('ann', {
        loginId: 'Reader 7',
        contactEmail: 'office@example.com',
        contactVerified: true,
      })
      for (const login of ['ann@example.org', ' ANN@Example.org ', 'Reader 7', 'OFFICE@example.com']) {
        assert.equal((await identity.accounts.findByLogin(login))?.key, ann.key, login)
      }
      for (const login of [
        'reader 7',
        'ann',
        '',
        '\0',
        'ann@example.com',
        '%',
        'deleted:1:ann@example.org',
      ]) {
        assert.equal(await identity.accounts.findByLogin(login), undefined, login)
      }
    })

    it('by login prefers an account id over the login id of another', async () => {
      await using identity = await open()
      await identity.signUp('mallory', { loginId: 'ann@example.org' })
      const ann = await identity.signUp('ann')
      assert.equal((await identity.accounts.findByLogin('ann@example.org'))?.key, ann.key)
    })

    it('by login ignores an unverified contact e-mail', async () => {
      await using identity = await open()
      await identity.signUp('ann', { contactEmail: 'office@example.com' })
      assert.equal(await identity.accounts.findByLogin('office@example.com'), undefined)
    })

    it('of many accounts returns those that exist, whatever their number', async () => {
      await using identity = await open()
      const made = []
      for (let index = 0; index < 5; index += 1) made.push(await identity.signUp(`user${index}`))
      const emails = Array.from({ length: 1500 }, (_, index) => `user${1499 - index}@example.org`)
      const found = await identity.accounts.findMany([...emails, 'USER0@example.org', 'nonsense', '\0'])
      const byEmail = (a: { email: string }, b: { email: string }) => a.email.localeCompare(b.email)
      assert.deepEqual([...found.values()].sort(byEmail), made)
      const byKey = await identity.accounts.findManyByKey(made.map(({ key }) => key))
      assert.deepEqual(
        [...byKey.keys()].sort((a, b) => a - b),
        made.map(({ key }) => key),
      )
      assert.equal((await identity.accounts.findMany([])).size, 0)
    })
  })

  describe('list and search', () => {
    it('pages through all accounts in the order of creation', async () => {
      await using identity = await open()
      for (const name of ['zoe', 'ann', 'mia']) await identity.signUp(name)
      const page = await identity.accounts.list({ offset: 1, limit: 1 })
      assert.deepEqual([page.accounts.map(({ email }) => email), page.total], [['ann@example.org'], 3])
    })

    it('sorts and filters on request', async () => {
      await using identity = await open()
      await identity.signUp('zoe', { quota: 5, role: 'admin' })
      await identity.signUp('ann', { quota: 7, active: false })
      await identity.signUp('mia', { quota: 6, name: 'Aaa' })
      const names = async (query: Parameters<typeof identity.accounts.list>[0]) => {
        const { accounts, total } = await identity.accounts.list(query)
        return [...accounts.map(({ email }) => email.slice(0, 3)), total]
      }
      assert.deepEqual(await names({ limit: 9, orderBy: 'email' }), ['ann', 'mia', 'zoe', 3])
      assert.deepEqual(await names({ limit: 9, orderBy: 'quota', descending: true }), [
        'ann',
        'mia',
        'zoe',
        3,
      ])
      assert.deepEqual(await names({ limit: 9, orderBy: 'name', descending: true }), ['mia', 'zoe', 'ann', 3])
      assert.deepEqual(await names({ limit: 9, orderBy: 'last-login' }), ['zoe', 'ann', 'mia', 3])
      assert.deepEqual(await names({ limit: 9, active: false }), ['ann', 1])
      assert.deepEqual(await names({ limit: 9, active: true, roles: ['default'] }), ['mia', 1])
    })

    it('searches id, nickname, contact e-mail and login id, with an exact id first', async () => {
      await using identity = await open()
      await identity.signUp('xann')
      await identity.signUp('ann')
      await identity.signUp('bob', { name: 'Johanna' })
      await identity.signUp('cy', { loginId: 'ANNE' })
      await identity.signUp('dan', { contactEmail: 'hanno@example.com' })
      await identity.signUp('eve')
      const found = async (text: string) =>
        (await identity.accounts.search(text)).map(({ email }) => email.split('@')[0])
      assert.deepEqual(await found('aNN'), ['ann', 'bob', 'cy', 'dan', 'xann'])
      assert.deepEqual(await found('ann@example.org'), ['ann', 'xann'])
      assert.deepEqual(await found('nobody'), [])
    })

    it('matches the text literally', async () => {
      await using identity = await open()
      await identity.signUp('ann', { name: '50%_!' })
      await identity.signUp('bob', { name: '505x' })
      for (const text of ['%', '_', '!', '50%_!']) {
        const found = await identity.accounts.search(text)
        assert.deepEqual(
          found.map(({ email }) => email),
          ['ann@example.org'],
          text,
        )
      }
      assert.deepEqual(await identity.accounts.search('\0'), [])
    })

    it('omits inactive accounts by default, and returns at most ten', async () => {
      await using identity = await open()
      for (let index = 10; index < 22; index += 1)
        await identity.signUp(`user${index}`, { active: index > 11 })
      assert.equal((await identity.accounts.search('user')).length, 10)
      assert.equal((await identity.accounts.search('user10')).length, 0)
      assert.equal((await identity.accounts.search('user', { onlyActive: false, limit: 50 })).length, 12)
    })
  })

  describe('update', () => {
    it('changes only the given fields', async () => {
      await using identity = await open()
      const before = await identity.signUp('ann', { name: 'Ann', department: 'Maps', loginId: 'ann' })
      const changes = { role: 'guest', quota: 8_000_000, name: 'Ann B', listInAddressBook: true } as const
      const after = await identity.accounts.update('ANN@example.org', changes, undefined)
      assert.deepEqual(after, { ...before, ...changes })
      assert.deepEqual(await identity.accounts.update('ann@example.org', {}, undefined), after)
      assert.deepEqual(await identity.accounts.get('ann@example.org'), after)
    })

    it('clears a login id, a contact e-mail and a default library', async () => {
      await using identity = await open()
      const plain = await identity.signUp('ann')
      const set = { loginId: 'ann', contactEmail: 'office@example.com', defaultLibraryKey: 7 }
      assert.deepEqual(await identity.accounts.update('ann@example.org', set, undefined), {
        ...plain,
        ...set,
      })
      const unset = { loginId: null, contactEmail: '', defaultLibraryKey: null }
      assert.deepEqual(await identity.accounts.update('ann@example.org', unset, undefined), plain)
    })

    it('lets an account keep its own login id and contact e-mail', async () => {
      await using identity = await open()
      const own = { loginId: 'ann', contactEmail: 'office@example.com' }
      const before = await identity.signUp('ann', { ...own, contactVerified: true })
      assert.deepEqual(await identity.accounts.update('ann@example.org', own, undefined), before)
      const other = await identity.accounts.update(
        'ann@example.org',
        { contactEmail: 'other@example.com' },
        undefined,
      )
      assert.equal(other.contactVerified, false)
    })

    it('rejects values that other accounts have', async () => {
      await using identity = await open()
      const own = { loginId: 'ann', contactEmail: 'office@example.com', contactVerified: true } as const
      await identity.signUp('ann', own)
      await identity.signUp('bob')
      const update = (changes: AccountChanges) =>
        identity.accounts.update('bob@example.org', changes, undefined)
      await assert.rejects(update({ loginId: 'ann' }), fault({ code: 'login-id-taken', loginId: 'ann' }))
      await assert.rejects(update({ contactEmail: 'office@example.com' }), rule('contact-email-taken'))
      await assert.rejects(update({ contactEmail: 'ann@example.org' }), rule('contact-email-taken'))
    })

    it('gives a login id to one of two concurrent callers', async () => {
      await using identity = await open()
      const names = ['ann', 'bob', 'cy']
      for (const name of names) await identity.signUp(name)
      const asked = names.map((name) =>
        identity.accounts.update(`${name}@example.org`, { loginId: 'reader' }, undefined),
      )
      const refused = (await Promise.allSettled(asked)).filter((outcome) => outcome.status === 'rejected')
      assert.equal(refused.length, 2)
      for (const { reason } of refused) fault({ code: 'login-id-taken', loginId: 'reader' })(reason)
    })

    it('throws account-not-found for an unknown account', async () => {
      await using identity = await open()
      const { accounts } = identity
      for (const changes of [{}, { name: 'Ann' }]) {
        await assert.rejects(accounts.update('ann@example.org', changes, undefined), noAnn)
        await assert.rejects(
          accounts.update('x', changes, undefined),
          fault({ code: 'account-not-found', email: 'x' }),
        )
      }
    })

    it('revokes every token of the account, and no other, on a new password or deactivation', async () => {
      await using identity = await open()
      const { accounts, apiTokens, syncTokens } = identity
      const [ann, bob] = [await identity.signUp('ann'), await identity.signUp('bob')]
      const library = await identity.addLibrary(ann)
      const issue = async (account: typeof ann) => ({
        api: [await apiTokens.issue(account, undefined), await apiTokens.issue(account, undefined, laptop)],
        sync: await syncTokens.issue(library, account),
      })
      const opens = async ({ api, sync }: Awaited<ReturnType<typeof issue>>) => [
        ...(await Promise.all(api.map(async (token) => 'ok' in (await apiTokens.authenticate(token))))),
        (await syncTokens.authenticate(sync)) !== undefined,
      ]
      const bobs = await issue(bob)

      const first = await issue(ann)
      await accounts.update('ann@example.org', { name: 'Ann', quota: 5, active: true }, undefined)
      assert.deepEqual(await opens(first), [true, true, true])
      await accounts.update('ann@example.org', { password: 'another password' }, undefined)
      assert.deepEqual(await opens(first), [false, false, false])

      const second = await issue(ann)
      assert.equal(
        second.api.some((token) => first.api.includes(token)),
        false,
      )
      await accounts.update('ann@example.org', { active: false }, undefined)
      assert.deepEqual(await opens(second), [false, false, false])
      await accounts.update('ann@example.org', { active: true }, undefined)
      assert.deepEqual(await opens(second), [false, false, false])
      assert.deepEqual(await opens(bobs), [true, true, true])
    })

    it('makes the new password the only valid one', async () => {
      await using identity = await open()
      await identity.signUp('ann')
      assert.equal(await identity.isPassword('ann@example.org', 'secret of ann'), true)
      await identity.accounts.update('ann@example.org', { password: 'another password' }, undefined)
      assert.equal(await identity.isPassword('ann@example.org', 'secret of ann'), false)
      assert.equal(await identity.isPassword('Ann@example.org', 'another password'), true)
      assert.equal(await identity.isPassword('nobody', 'another password'), false)
    })
  })

  describe('remove', () => {
    it('makes the account unfindable in every way', async () => {
      await using identity = await open()
      const own = { name: 'Ann', loginId: 'ann', contactEmail: 'office@example.com' }
      const { key } = await identity.signUp('ann', own)
      const { accounts } = identity
      await accounts.remove('ANN@example.org', undefined)
      assert.equal(await accounts.find('ann@example.org'), undefined)
      assert.equal(await accounts.findByKey(key), undefined)
      for (const login of [
        'ann',
        'office@example.com',
        'ann@example.org',
        `deleted:${key}:ann@example.org`,
      ]) {
        assert.equal(await accounts.findByLogin(login), undefined)
      }
      assert.equal((await accounts.findMany(['ann@example.org'])).size, 0)
      assert.equal((await accounts.findManyByKey([key])).size, 0)
      assert.deepEqual(await accounts.list({ limit: 9 }), { accounts: [], total: 0 })
      assert.deepEqual(await accounts.search('ann', { onlyActive: false }), [])
      assert.equal(await accounts.count(), 0)
      await assert.rejects(accounts.remove('ann@example.org', undefined), noAnn)
      await assert.rejects(accounts.update('ann@example.org', { name: 'x' }, undefined), noAnn)
    })

    it('revokes its tokens, which still tell a client that the account was removed', async () => {
      await using identity = await open()
      const ann = await identity.signUp('ann')
      const api = await identity.apiTokens.issue(ann, undefined, laptop, { address: '192.0.2.7' })
      const sync = await identity.syncTokens.issue(await identity.addLibrary(ann), ann)
      await identity.accounts.remove('ann@example.org', undefined)
      assert.deepEqual(await identity.apiTokens.authenticate(api), { reason: 'deleted' })
      assert.equal(await identity.syncTokens.authenticate(sync), undefined)
      const rows = await identity.db.all('select device_name, login_address, nonce from api_token')
      assert.deepEqual(
        rows.map((row) => [row.device_name, row.login_address]),
        [['', '']],
      )
    })

    it('keeps an owner for the libraries and frees the e-mail for a new account', async () => {
      await using identity = await open()
      const first = await identity.signUp('ann', { loginId: 'ann', contactEmail: 'office@example.com' })
      const library = await identity.addLibrary(first)
      const token = await identity.apiTokens.issue(first, undefined)
      await identity.accounts.remove('ann@example.org', undefined)
      const second = await identity.signUp('ann', { loginId: 'ann', contactEmail: 'office@example.com' })
      assert.notEqual(second.key, first.key)
      const row = await identity.db.get('select owner_key from library where key = ?', library.key)
      assert.equal(row?.owner_key, first.key)
      assert.deepEqual(await identity.apiTokens.authenticate(token), { reason: 'deleted' })
      assert.notEqual(await identity.apiTokens.issue(second, undefined), token)
      await identity.accounts.remove('ann@example.org', undefined)
      assert.deepEqual(identity.removed, ['ann@example.org', 'ann@example.org'])
    })

    it('calls its dependents in the same transaction, and changes nothing if one fails', async () => {
      await using identity = await open()
      const ann = await identity.signUp('ann')
      const library = await identity.addLibrary(ann)
      identity.onRemove = async (tx, account) => {
        assert.deepEqual(account, ann)
        await tx.run('update library set deleted_at = 1 where owner_key = ?', account.key)
        throw new Error('no')
      }
      await assert.rejects(identity.accounts.remove('ann@example.org', undefined), /no/)
      assert.deepEqual(await identity.accounts.find('ann@example.org'), ann)
      const row = await identity.db.get('select deleted_at from library where key = ?', library.key)
      assert.equal(row?.deleted_at, null)
    })

    it('succeeds once for concurrent calls', async () => {
      await using identity = await open()
      await identity.signUp('ann')
      const asked = [1, 2, 3].map(() => identity.accounts.remove('ann@example.org', undefined))
      const refused = (await Promise.allSettled(asked)).filter((outcome) => outcome.status === 'rejected')
      assert.equal(refused.length, 2)
      for (const { reason } of refused) noAnn(reason)
      assert.deepEqual(identity.removed, ['ann@example.org'])
    })
  })
})
