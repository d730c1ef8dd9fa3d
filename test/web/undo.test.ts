import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { eventually, namesIn, uploadFile } from '../support/transfer.ts'
import { furnished, PagedTable } from './files-support.ts'
import { webSuite } from './support.ts'

const toast = (page: Page, text: string) => page.locator('.toast').filter({ hasText: text }).last()

describe('undoing the last actions', () => {
  const suite = webSuite()

  it('works backwards through renames, copies, moves and deletions', async (t) => {
    const space = await furnished(suite.server)
    const before = await namesIn(space.client, space.id)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)

    await list.cell('notes.md').click()
    await page.keyboard.press('F2')
    await page.getByRole('textbox', { name: 'Rename' }).fill('ideas.md')
    const renamed = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.keyboard.press('Enter')
    await renamed
    await list.link('ideas.md').waitFor()
    await page.keyboard.press('Control+c')
    await page.keyboard.press('Control+v')
    await toast(page, '“ideas.md” copied').waitFor()
    await list.link('ideas (1).md').waitFor()
    await list.cell('report 9.txt').click()
    await page.keyboard.press('Delete')
    await toast(page, '“report 9.txt” deleted').waitFor()
    await list.cell('budget.xlsx').click()
    await page.keyboard.press('Control+x')
    await list.link('Archive').click()
    await page.getByText('This folder is empty').waitFor()
    await page.keyboard.press('Control+v')
    await toast(page, '“budget.xlsx” moved').waitFor()

    await page.keyboard.press('Control+z')
    await toast(page, '“budget.xlsx” moved back').waitFor()
    await page.keyboard.press('Control+z')
    await toast(page, '“report 9.txt” restored').waitFor()
    await page.keyboard.press('Control+z')
    await toast(page, 'The copy “ideas (1).md” was deleted').waitFor()
    await page.keyboard.press('Control+z')
    await toast(page, '“notes.md” has its old name again').waitFor()
    await page.keyboard.press('Control+z')
    await toast(page, 'There is nothing to undo.').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id), before)
    assert.deepEqual(tab.complaints, [])
  })

  it('refuses what has changed since, and leaves fields alone', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)
    await list.cell('notes.md').click()
    await page.keyboard.press('Control+c')
    await page.keyboard.press('Control+v')
    await toast(page, '“notes.md” copied').waitFor()
    await list.link('notes (1).md').waitFor()
    await uploadFile(space.client, space.id, '/notes (1).md', 'written since', { replace: true })
    await page.keyboard.press('Control+z')
    await toast(page, 'It has changed since, so it was not undone.').waitFor()
    assert.ok((await namesIn(space.client, space.id)).includes('notes (1).md'))

    await list.cell('report 9.txt').click()
    await page.keyboard.press('F2')
    const renamed = page.waitForResponse((response) => response.request().method() === 'POST')
    await page.getByRole('textbox', { name: 'Rename' }).fill('renamed.txt')
    await page.keyboard.press('Enter')
    await renamed
    await list.link('renamed.txt').waitFor()
    await uploadFile(space.client, space.id, '/report 9.txt', 'another')
    // A field undoes its own text.
    const find = page.getByRole('searchbox', { name: 'Find in this folder' })
    await page.keyboard.press('Escape')
    await find.focus()
    await page.keyboard.type('r')
    await page.keyboard.press('Control+z')
    await eventually(async () => assert.equal(await find.inputValue(), ''))
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+z')
    await toast(page, 'There is another “report 9.txt” now, so the rename was not undone.').waitFor()
    assert.ok((await namesIn(space.client, space.id)).includes('renamed.txt'))
  })

  it('deletes again what was restored from the trash', async (t) => {
    const space = await furnished(suite.server)
    await space.client.call('DELETE', `/api2/repos/${space.id}/file/?p=/notes.md`)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/trash')
    await page
      .getByRole('button', { name: /^Restore/ })
      .first()
      .click()
    await toast(page, '1 item restored.').waitFor()
    assert.ok((await namesIn(space.client, space.id)).includes('notes.md'))
    await page.keyboard.press('Control+z')
    await toast(page, '1 item deleted again.').waitFor()
    assert.ok(!(await namesIn(space.client, space.id)).includes('notes.md'))
    assert.deepEqual(tab.complaints, [])
  })
})
