import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachDatabase } from '../../../test/support/identity.ts'
import { ensureAdministrator, readablePassword } from './first-run.ts'

const email = 'Admin@carrel.local'

await onEachDatabase('The first start', (open) => {
  it('creates an administrator with a generated password that can sign in', async () => {
    await using identity = await open()
    const first = await ensureAdministrator(identity.accounts, { email, password: undefined })
    assert.ok(first.created && first.generatedPassword)
    assert.equal(first.email, 'admin@carrel.local')
    assert.equal((await identity.accounts.get(email)).role, 'admin')
    assert.equal(await identity.isPassword(email, first.generatedPassword), true)
  })

  it('uses the password of the settings and does not print it', async () => {
    await using identity = await open()
    const first = await ensureAdministrator(identity.accounts, { email, password: 'from the settings' })
    assert.deepEqual(first, { created: true, email: 'admin@carrel.local' })
    assert.equal(await identity.isPassword(email, 'from the settings'), true)
  })

  it('creates nothing once there is an account, and keeps its password', async () => {
    await using identity = await open()
    await identity.signUp('ann')
    for (const wanted of ['ann@example.org', email]) {
      const start = await ensureAdministrator(identity.accounts, {
        email: wanted,
        password: 'another password',
      })
      assert.deepEqual(start, { created: false })
    }
    assert.equal(await identity.accounts.count(), 1)
    assert.equal(await identity.isPassword('ann@example.org', 'secret of ann'), true)
    assert.equal((await identity.accounts.get('ann@example.org')).role, 'default')
  })

  it('creates one administrator when two processes start concurrently', async () => {
    await using identity = await open()
    const starts = [1, 2, 3].map(() => ensureAdministrator(identity.accounts, { email, password: undefined }))
    const made = (await Promise.all(starts)).filter(({ created }) => created)
    assert.equal(made.length, 1)
    assert.equal(await identity.accounts.count(), 1)
  })

  it('rejects a password of the settings that is too short, and not one that is common', async () => {
    await using identity = await open()
    const begin = (password: string) => ensureAdministrator(identity.accounts, { email, password })
    await assert.rejects(begin('123'), { code: 'password-too-short', value: '8' })
    assert.equal((await begin('password')).created, true)
    assert.deepEqual(await begin('123'), { created: false })
  })

  it('explains an invalid e-mail of the settings', async () => {
    await using identity = await open()
    const wanted = { email: 'admin', password: undefined }
    await assert.rejects(ensureAdministrator(identity.accounts, wanted), { code: 'email-invalid' })
  })
})

it('a generated password is easy to read out and unique', () => {
  const passwords = Array.from({ length: 200 }, readablePassword)
  for (const password of passwords) assert.match(password, /^([a-hjkmnp-z2-9]{5}-){3}[a-hjkmnp-z2-9]{5}$/)
  assert.equal(new Set(passwords).size, 200)
  assert.equal(new Set(passwords.join('').replaceAll('-', '')).size, 31)
})
