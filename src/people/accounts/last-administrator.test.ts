import assert from 'node:assert/strict'
import { it } from 'node:test'
import { onEachDatabase, type TestIdentity } from '../../../test/support/identity.ts'

const refused = (email: string) => ({ fault: { code: 'last-administrator', email } })

await onEachDatabase('The last administrator', (open) => {
  it('can neither be removed, demoted nor deactivated', async () => {
    await using identity = await open()
    const { accounts } = identity
    const { email } = await identity.signUp('root', { role: 'admin' })
    await identity.signUp('idle', { role: 'admin', active: false })
    await identity.signUp('ann')
    await assert.rejects(accounts.remove(email, undefined), refused(email))
    await assert.rejects(accounts.update(email, { role: 'default' }, undefined), refused(email))
    await assert.rejects(accounts.update(email, { role: 'guest', name: 'x' }, undefined), refused(email))
    await assert.rejects(accounts.update(email, { active: false }, undefined), refused(email))
    assert.deepEqual(pick(await accounts.get(email)), ['admin', true, ''])
    assert.equal(
      (await accounts.update(email, { role: 'admin', active: true, name: 'Root' }, undefined)).name,
      'Root',
    )
    await accounts.update('ann@example.org', { active: false }, undefined)
    await accounts.remove('ann@example.org', undefined)
    await accounts.remove('idle@example.org', undefined)
  })

  it('may be removed once there is another', async () => {
    await using identity = await open()
    const { accounts } = identity
    await identity.signUp('root', { role: 'admin' })
    await identity.signUp('ann', { role: 'admin' })
    assert.equal((await accounts.update('root@example.org', { role: 'guest' }, undefined)).role, 'guest')
    await accounts.remove('root@example.org', undefined)
    await assert.rejects(accounts.remove('ann@example.org', undefined), refused('ann@example.org'))
  })

  const ways: [way: string, act: (identity: TestIdentity, email: string) => Promise<unknown>][] = [
    ['remove', ({ accounts }, email) => accounts.remove(email, undefined)],
    ['demote', ({ accounts }, email) => accounts.update(email, { role: 'default' }, undefined)],
    ['deactivate', ({ accounts }, email) => accounts.update(email, { active: false }, undefined)],
  ]
  for (const [way, act] of ways) {
    it(`remains when two administrators ${way} each other concurrently`, async () => {
      await using identity = await open()
      await identity.signUp('root', { role: 'admin' })
      await identity.signUp('ann', { role: 'admin' })
      const emails = ['root@example.org', 'ann@example.org']
      const results = await Promise.allSettled(emails.map((email) => act(identity, email)))
      assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
      const { total } = await identity.accounts.list({ limit: 1, roles: ['admin'], active: true })
      assert.equal(total, 1)
    })
  }
})

function pick({ role, active, name }: { role: string; active: boolean; name: string }) {
  return [role, active, name]
}
