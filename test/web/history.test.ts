import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { eventually, namesIn, storedBytes, uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

describe('the history of a library', () => {
  const suite = webSuite()

  /** A library with some changes. */
  async function lived() {
    const space = await Workspace.make(suite.server, undefined, 'Garden')
    const { client, id } = space
    await space.folder('/plans')
    await uploadFile(client, id, '/plans/beds.txt', 'roses\ntulips\nasters\n')
    await uploadFile(client, id, '/plans/beds.txt', 'roses\ndahlias\nasters\nivy\n', { replace: true })
    await uploadFile(client, id, '/shed <b>.md', '# Shed')
    await client.post(space.v21('file/'), {
      query: { p: '/shed <b>.md' },
      form: { operation: 'rename', newname: 'house.md' },
    })
    await client.delete(space.v21('dir/'), { query: { p: '/plans' } })
    return space
  }
  const stored = async (id: string, path: string) => (await storedBytes(suite.server, id, path)).toString()

  it('shows the changes of every commit, and restores any state', async (t) => {
    const space = await lived()
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/history/${space.id}`)
    await page.getByText('Deleted the folder plans').waitFor()
    for (const text of [
      'renamed shed <b>.md to house.md',
      'Added beds.txt',
      'Added the folder plans',
      'Created the library',
    ]) {
      await page.getByText(text).first().waitFor()
    }
    await page.getByText('All versions are kept').waitFor()
    const renamed = page.getByRole('listitem').filter({ hasText: 'Renamed' })
    await renamed.getByRole('button', { name: 'Show changes' }).click()
    await page.getByText('/house.md').waitFor()
    await tab.checkAccess()
    await tab.picture('history')

    // View the state that still had the folder.
    await renamed.getByRole('link', { name: 'View snapshot' }).click()
    await page.getByText('It is read-only.').waitFor()
    await tab.checkAccess()
    await tab.picture('history-state')
    await page.getByRole('link', { name: 'plans' }).click()
    await page.getByRole('link', { name: 'beds.txt' }).click()
    await page.getByText('dahlias').waitFor()
    await page.getByText('Earlier version').waitFor()
    await page.getByRole('link', { name: 'Back to folder' }).click()
    await page.getByRole('button', { name: 'Actions for beds.txt' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'Download' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'beds.txt')
    await page.getByRole('link', { name: 'Library', exact: true }).click()
    await page.getByRole('button', { name: 'Actions for plans' }).click()
    await page.getByRole('menuitem', { name: 'Restore' }).click()
    await page.getByRole('dialog', { name: 'Restore this folder?' }).waitFor()
    await tab.checkAccess()
    await tab.picture('history-restore')
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('Restored.').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id), ['house.md', 'plans/'])
    assert.match(await stored(space.id, '/plans/beds.txt'), /dahlias/)

    // The whole library, as it was when it was empty.
    await page.getByRole('link', { name: 'Back to history' }).click()
    const added = page.getByRole('listitem').filter({ hasText: 'Added the folder plans' })
    await added.getByRole('button', { name: 'Restore library' }).click()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('Restored the whole library to an earlier state').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id), ['plans/'])
    assert.deepEqual(await namesIn(space.client, space.id, '/plans'), [])
    assert.deepEqual(tab.complaints, [])
  })

  it('compares the revisions of a file, and restores one', async (t) => {
    const space = await Workspace.make(suite.server)
    const texts = ['one\ntwo\nthree\n', 'one\n2\nthree\n', 'one\n2\nthree\nfour\n']
    for (const text of texts) await uploadFile(space.client, space.id, '/list.txt', text, { replace: true })
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/view/${space.id}?p=/list.txt`)
    await page.getByRole('button', { name: 'Version history' }).click()
    const boxes = page.getByRole('checkbox')
    await boxes.nth(2).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Compare', exact: true }).isDisabled(), true)
    await boxes.nth(0).check()
    await boxes.nth(2).check()
    await tab.checkAccess()
    await tab.picture('history-file')
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Comparison' })
    await dialog.getByText('1 removed, 2 added').waitFor()
    assert.deepEqual(await dialog.locator('.diff-removed .diff-text').allTextContents(), ['two'])
    assert.deepEqual(await dialog.locator('.diff-added .diff-text').allTextContents(), ['2', 'four'])
    await tab.checkAccess()
    await tab.picture('history-comparison')
    await page.keyboard.press('Escape')
    await page
      .getByRole('button', { name: /^Restore the version/ })
      .last()
      .click()
    await page.getByRole('button', { name: 'Restore', exact: true }).click()
    await page.getByText('Restored.').waitFor()
    assert.equal(await stored(space.id, '/list.txt'), texts[0])
    await eventually(async () => assert.equal(await boxes.count(), 4))
    assert.deepEqual(tab.complaints, [])
  })

  it('offers readers nothing that would be rejected', async (t) => {
    const space = await lived()
    const reader = await suite.server.signUp()
    await space.client.put(`/api2/repos/${space.id}/dir/shared_items/`, {
      query: { p: '/' },
      form: { share_type: 'user', username: reader.email, permission: 'r' },
    })
    const tab = await suite.openTab(t, reader)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/history/${space.id}`)
    await page.getByText('Renamed shed').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Restore library' }).count(), 0)
    await page.getByRole('link', { name: 'View snapshot' }).nth(1).click()
    await page.getByRole('button', { name: 'Actions for plans' }).click()
    await page.getByRole('menuitem', { name: 'Open' }).waitFor()
    assert.equal(await page.getByRole('menuitem', { name: 'Restore' }).count(), 0)
    await page.keyboard.press('Escape')
    await tab.go(`/view/${space.id}?p=/house.md`)
    await page.getByRole('heading', { name: 'Shed' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Edit' }).count(), 0)
    await tab.go(`/trash/${space.id}`)
    await page.getByText('deleted').first().waitFor()
    assert.equal(await page.getByRole('button', { name: 'Restore' }).count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Empty trash' }).count(), 0)
    assert.deepEqual(tab.complaints, [])
    const stranger = await suite.openTab(t, await suite.server.signUp())
    await stranger?.go(`/history/${space.id}`)
    await stranger?.page.getByText('Nothing here').waitFor()
  })

  it('is readable in dark mode, on a phone, in German', async (t) => {
    const space = await lived()
    const tab = await suite.openTab(t, space.client, { ...PHONE, colorScheme: 'dark', locale: 'de-DE' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/history/${space.id}`)
    await page.getByText('hat den Ordner plans gelöscht').waitFor()
    await page.getByRole('button', { name: 'Änderungen anzeigen' }).first().click()
    await page
      .getByText('/plans/beds.txt')
      .or(page.getByText('/plans', { exact: true }))
      .first()
      .waitFor()
    await tab.checkAccess()
    await tab.picture('history-phone-dark-de')
    await fitsWidth(page)
    await tab.go(`/history/${space.id}?p=/house.md`)
    await page.getByText('Aktuell', { exact: true }).waitFor()
    await tab.picture('history-file-phone-dark-de')
    await fitsWidth(page)
    assert.deepEqual(tab.complaints, [])
  })
})
