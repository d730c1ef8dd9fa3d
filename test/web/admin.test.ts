import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { BrowserContextOptions } from 'playwright-core'
import { sharedSpace, shareLink } from '../api/links-support.ts'
import { makeGroup } from '../api/sharing-support.ts'
import { Client } from '../support/client.ts'
import { webSuite } from './support.ts'

describe('administration', () => {
  const suite = webSuite()

  async function asAdmin(t: TestContext, more: BrowserContextOptions = {}) {
    const admin = await suite.server.admin()
    return { admin, tab: await suite.openTab(t, admin, more) }
  }

  it('is closed to everyone else', async (t) => {
    const tab = await suite.openTab(t, await suite.server.signUp())
    if (tab === undefined) return
    await tab.go('/admin/users')
    await tab.page.getByText('Administrators only').waitFor()
    assert.equal(await tab.page.getByRole('link', { name: 'Administration' }).count(), 0)
    await tab.checkAccess()
    assert.deepEqual(tab.complaints, [])
  })

  it('creates, changes, signs out and deletes accounts', async (t) => {
    const { admin, tab } = await asAdmin(t)
    if (tab === undefined) return
    const { page } = tab
    const email = 'petra.new@example.org'
    await tab.go('/admin/users')
    await page.getByRole('button', { name: 'New user' }).click()
    const making = page.getByRole('dialog', { name: 'New user' })
    await making.getByLabel('Email').fill(email)
    await making.getByLabel('Name').fill('Petra <i>Neu')
    const password = await making.getByLabel('Password', { exact: true }).inputValue()
    await making.getByLabel('Quota in GB').fill('2.5')
    await tab.checkAccess()
    await tab.picture('admin-new-user')
    await making.getByRole('button', { name: 'Create' }).click()
    await page.getByText(`${email} can now sign in.`).waitFor()
    const created = page.getByRole('dialog', { name: 'New password' })
    await created.getByText(password, { exact: true }).waitFor()
    await created.getByRole('button', { name: 'Copy' }).waitFor()
    await tab.checkAccess()
    await created.getByRole('button', { name: 'Done' }).click()
    await Client.signIn(suite.server.url, email, password)
    const user = async () => (await admin.get(`/api/v2.1/admin/users/${email}/`)).body
    assert.deepEqual([(await user()).name, (await user()).quota_total], ['Petra <i>Neu', 2_500_000_000])

    await page.getByLabel('Find users').fill('petra')
    // A menu would close if the list changed below it.
    await page
      .getByRole('button', { name: /^More actions for/ })
      .nth(1)
      .waitFor({ state: 'detached' })
    const menu = async (name: string) => {
      await page.getByRole('button', { name: `More actions for ${email}` }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await menu('Edit')
    const editing = page.getByRole('dialog', { name: email })
    await editing.getByLabel('Role').selectOption('guest')
    await editing.getByLabel('Quota in GB').fill('')
    await tab.checkAccess()
    await editing.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('cell', { name: 'Guest', exact: true }).waitFor()
    assert.deepEqual([(await user()).role, (await user()).quota_total], ['guest', -2])

    await menu('Reset password')
    await page.getByRole('dialog').getByRole('button', { name: 'Reset password' }).click()
    const shown = page.getByRole('dialog', { name: 'New password' })
    const fresh = await shown.locator('code').innerText()
    await tab.picture('admin-new-password')
    await shown.getByRole('button', { name: 'Done' }).click()
    await Client.signIn(suite.server.url, email, fresh)

    await menu('Disable')
    await page.getByRole('cell', { name: 'Guest disabled' }).waitFor()
    assert.equal((await user()).is_active, false)
    await menu('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No users found').waitFor()
    assert.equal((await admin.get(`/api/v2.1/admin/users/${email}/`)).status, 404)
    await page.getByLabel('Find users').fill('')
    await page.getByText('admin@example.org').first().waitFor()
    await tab.picture('admin-users')
    assert.deepEqual(tab.complaints, [])
  })

  it('transfers, write-protects, deletes, restores and purges libraries', async (t) => {
    const { admin, tab } = await asAdmin(t)
    if (tab === undefined) return
    const { page } = tab
    const owner = await suite.server.signUp()
    const heir = await suite.server.signUp({ email: 'henrik.heir@example.org' })
    const id = await owner.createLibrary('Ledger')
    const library = async () => (await admin.get(`/api/v2.1/admin/libraries/${id}/`)).body
    await tab.go('/admin/libraries')
    await page.getByLabel('Find libraries by name or ID').fill('ledg')
    const menu = async (name: string) => {
      await page.getByRole('button', { name: 'More actions for Ledger' }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await menu('Make read-only')
    await page.getByText('read-only', { exact: true }).waitFor()
    assert.equal((await library()).status, 'read-only')
    await menu('Make writable')
    await page.getByText('Ledger is now writable.').waitFor()
    await menu('Transfer ownership')
    const dialog = page.getByRole('dialog', { name: 'Transfer ownership' })
    await dialog.getByLabel('New owner').fill('henrik')
    await dialog.getByRole('option', { name: /henrik/ }).click()
    await dialog.getByRole('button', { name: 'Transfer ownership' }).click()
    await page.getByText(heir.email).waitFor()
    assert.equal((await library()).owner, heir.email)
    await tab.picture('admin-libraries')

    await menu('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('Ledger deleted.').waitFor()
    await page.getByRole('tab', { name: 'Deleted' }).click()
    await menu('Restore')
    await page.getByText('No deleted libraries').waitFor()
    assert.equal((await library()).name, 'Ledger')
    await admin.delete(`/api/v2.1/admin/libraries/${id}/`)
    await page.reload()
    await menu('Delete permanently')
    await tab.checkAccess()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByText('No deleted libraries').waitFor()
    assert.deepEqual((await admin.get('/api/v2.1/admin/trash-libraries/')).body.repos, [])
    assert.deepEqual(tab.complaints, [])
  })

  it('manages groups, links and devices', async (t) => {
    const { admin, tab } = await asAdmin(t, { colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    const space = await sharedSpace(suite.server)
    const member = await suite.server.signUp({ email: 'mia.member@example.org' })
    const id = await makeGroup('Rowing club', space.client)
    const { link } = await shareLink(space, '/docs')
    await suite.server.anonymous.post('/api2/auth-token/', {
      form: {
        username: 'admin@example.org',
        password: 'correct horse battery',
        platform: 'android',
        device_id: 'a1b2c3d4e5f60718',
        device_name: 'Pocket phone',
        client_version: '3.0',
        platform_version: '14',
      },
    })
    await tab.go('/admin/groups')
    await page.getByRole('button', { name: 'More actions for Rowing club' }).click()
    await page.getByRole('menuitem', { name: 'Members' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rowing club' })
    await dialog.getByLabel('Add members').fill('mia.member')
    await dialog.getByRole('option', { name: /mia/ }).click()
    await dialog.getByRole('button', { name: 'Add members' }).click()
    await dialog.getByRole('button', { name: 'Remove mia.member' }).waitFor()
    await tab.checkAccess()
    await tab.picture('admin-group-members-dark')
    const { body } = await admin.get(`/api/v2.1/admin/groups/${id}/members/`)
    assert.ok(body.members.some(({ email }: { email: string }) => email === member.email))
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'More actions for Rowing club' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No groups found').waitFor()

    await page.getByRole('link', { name: 'Links', exact: true }).last().click()
    await page.getByRole('button', { name: 'More actions for docs' }).waitFor()
    await tab.picture('admin-links-dark')
    await page.getByRole('button', { name: 'More actions for docs' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No links yet').waitFor()
    assert.equal((await fetch(link)).status, 404)

    await page.getByRole('link', { name: 'Devices' }).click()
    await page.getByLabel('Device type').selectOption('mobile')
    await page.getByRole('button', { name: 'More actions for Pocket phone' }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('No devices').waitFor()
    assert.deepEqual((await admin.get('/api/v2.1/admin/devices/?platform=android')).body.devices, [])
    assert.deepEqual(tab.complaints, [])
  })
})
