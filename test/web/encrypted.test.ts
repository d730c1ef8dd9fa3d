import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../support/client.ts'
import { namesIn, postForm, uploadFile, uploadLink } from '../support/transfer.ts'
import { PHONE, webSuite } from './support.ts'

const SECRET = 'pässword & <more>'

describe('encrypted libraries', () => {
  const suite = webSuite()

  async function encrypted(client: Client, name = 'Diary'): Promise<string> {
    const made = await client.post('/api/v2.1/repos/', { form: { repo_name: name, passwd: SECRET } })
    assert.equal(made.status, 200, made.text)
    return made.body.repo_id
  }

  const isLocked = async (client: Client, id: string) =>
    (await client.get(`/api/v2.1/repos/${id}/`)).body.lib_need_decrypt

  it('are created with a confirmed password and a warning', async (t) => {
    const ann = await suite.server.signUp()
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByRole('button', { name: 'New library' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New library' })
    const create = dialog.getByRole('button', { name: 'Create' })
    await dialog.getByLabel('Name').fill('Diary')
    await dialog.getByLabel('Encrypt this library').check()
    await dialog.getByText('This password cannot be recovered').waitFor()
    assert.ok(await create.isDisabled())
    await dialog.getByLabel('Password', { exact: true }).fill(SECRET)
    await dialog.getByLabel('Repeat password').fill('something else')
    await dialog.getByText('The passwords do not match.').waitFor()
    assert.ok(await create.isDisabled())
    await tab.checkAccess()
    await tab.picture('encrypted-new')
    await dialog.getByLabel('Repeat password').fill(SECRET)
    await create.click()
    await page.waitForURL('**/library/*')
    await page.getByRole('heading', { name: 'This library is locked' }).waitFor()
    const { repos } = (await ann.get('/api/v2.1/repos/')).body
    assert.deepEqual([repos[0].repo_name, repos[0].encrypted], ['Diary', true])
    assert.deepEqual(tab.complaints, [])
  })

  it('are unlocked with their password for an hour, and locked again', async (t) => {
    const ann = await suite.server.signUp()
    const id = await encrypted(ann)
    await ann.post(`/api/v2.1/repos/${id}/set-password/`, { form: { password: SECRET } })
    await uploadFile(ann, id, '/day one.txt', 'dear diary')
    const openLink = await uploadLink(ann, id)
    await ann.delete(`/api/v2.1/repos/${id}/set-password/`)
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${id}`)
    const password = page.getByLabel('Library password')
    await password.waitFor()
    assert.equal(await page.getByText('day one.txt').count(), 0)
    await tab.checkAccess()
    await tab.picture('encrypted-locked')
    await password.fill('not it')
    await page.getByRole('button', { name: 'Unlock' }).click()
    await page.getByText('Wrong password.').waitFor()
    assert.equal(await isLocked(ann, id), true)
    await password.fill(SECRET)
    await page.keyboard.press('Enter')
    await page.getByText('This encrypted library is unlocked.').waitFor()
    await page.getByText('day one.txt').first().waitFor()
    assert.equal(await isLocked(ann, id), false)
    await tab.checkAccess()
    await tab.picture('encrypted-open')

    await page.getByRole('button', { name: 'Lock', exact: true }).click()
    await password.waitFor()
    assert.equal(await page.getByText('day one.txt').count(), 0)
    assert.equal(await isLocked(ann, id), true)
    const refused = await postForm(openLink, [['parent_dir', '/'], { filename: 'two.txt', bytes: 'no' }])
    assert.ok(refused.status >= 400, refused.text)
    assert.deepEqual(await namesIn(ann, id), ['day one.txt'])
  })

  it('get a new password from their owner', async (t) => {
    const ann = await suite.server.signUp()
    const id = await encrypted(ann)
    const tab = await suite.openTab(t, ann, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${id}`)
    await page.getByLabel('Library password').waitFor()
    await tab.picture('encrypted-locked-phone-dark')
    await tab.go('/')
    await page.getByRole('button', { name: 'Actions for Diary' }).click()
    await page.getByRole('menuitem', { name: 'Download' }).click()
    await page.getByLabel('Library password').waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Actions for Diary' }).click()
    await page.getByRole('menuitem', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Change password' }).click()
    const dialog = page.getByRole('dialog', { name: 'Change library password' })
    await dialog.getByLabel('Current password').fill('not it')
    await dialog.getByLabel('New password').fill('a new one')
    await dialog.getByLabel('Repeat password').fill('a new one')
    await dialog.getByRole('button', { name: 'Change password' }).click()
    await dialog.getByText('Wrong password.').waitFor()
    await tab.checkAccess()
    await tab.picture('encrypted-password-phone-dark')
    await dialog.getByLabel('Current password').fill(SECRET)
    await dialog.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed').waitFor()
    const older = await ann.post(`/api/v2.1/repos/${id}/set-password/`, { form: { password: SECRET } })
    assert.equal(older.status, 400)
    const newer = await ann.post(`/api/v2.1/repos/${id}/set-password/`, { form: { password: 'a new one' } })
    assert.equal(newer.status, 200)
  })

  it('ask again once they were locked elsewhere', async (t) => {
    const ann = await suite.server.signUp()
    const id = await encrypted(ann)
    await ann.post(`/api/v2.1/repos/${id}/set-password/`, { form: { password: SECRET } })
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await page.clock.install()
    await tab.go(`/library/${id}`)
    await page.getByText('This encrypted library is unlocked.').waitFor()
    await ann.delete(`/api/v2.1/repos/${id}/set-password/`)
    await page.clock.runFor(61_000)
    await page.getByLabel('Library password').waitFor()
    assert.deepEqual(tab.complaints, [])
  })
})
