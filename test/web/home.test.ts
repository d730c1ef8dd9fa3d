import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

describe('the home page and the trash of all libraries', () => {
  const suite = webSuite()

  async function withFiles(): Promise<Workspace> {
    const space = await Workspace.make(suite.server)
    const { client, id } = space
    await uploadFile(client, id, '/plan.md', '# Plan')
    await uploadFile(client, id, '/old.txt', 'old')
    await client.post('/api/v2.1/starred-items/', { form: { repo_id: id, path: '/plan.md' } })
    await client.delete(`/api2/repos/${id}/file/`, { query: { p: '/old.txt' } })
    return space
  }

  it('lead to recent, opened and starred files, and restore deleted ones', async (t) => {
    const space = await withFiles()
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/view/${space.id}?p=/plan.md`)
    await page.getByRole('heading', { name: 'Plan', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Home', exact: true }).click()
    for (const title of ['Continue where you left off', 'Recent files', 'Starred']) {
      await page.getByRole('heading', { name: title }).waitFor()
    }
    await page.getByRole('link', { name: 'plan.md' }).nth(2).waitFor()
    assert.equal(await page.getByRole('link', { name: 'old.txt' }).count(), 0)
    await tab.checkAccess()
    await tab.picture('home')

    await page.getByRole('link', { name: 'Trash', exact: true }).click()
    await page.getByRole('button', { name: 'Restore old.txt' }).waitFor()
    await tab.checkAccess()
    await tab.picture('trash-all')
    await page.getByRole('button', { name: 'Restore old.txt' }).click()
    await page.getByText('1 item restored.').waitFor()
    await page.getByText('The trash is empty').waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('fit on a phone in dark colors', async (t) => {
    const space = await withFiles()
    const tab = await suite.openTab(t, space.client, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    await tab.go('/home')
    await tab.page.getByRole('link', { name: 'plan.md' }).first().waitFor()
    await fitsWidth(tab.page)
    await tab.checkAccess()
    await tab.go('/trash')
    await tab.page.getByRole('button', { name: 'Restore old.txt' }).waitFor()
    await fitsWidth(tab.page)
    await tab.checkAccess()
  })
})
