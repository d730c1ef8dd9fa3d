import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { eventually, namesIn } from '../support/transfer.ts'
import { furnished, PagedTable } from './files-support.ts'
import { webSuite } from './support.ts'

/** Pastes files as if another program had copied them. */
async function pasteFiles(onto: Locator, files: readonly { name: string; type: string; text: string }[]) {
  await onto.evaluate((element, wanted) => {
    const { DataTransfer, File, ClipboardEvent } = globalThis as unknown as {
      DataTransfer: new () => { items: { add(file: unknown): void } }
      File: new (parts: unknown[], name: string, options: object) => unknown
      ClipboardEvent: new (type: string, options: object) => unknown
    }
    const clipboardData = new DataTransfer()
    for (const { name, type, text } of wanted) clipboardData.items.add(new File([text], name, { type }))
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    ;(element as unknown as { dispatchEvent(event: unknown): void }).dispatchEvent(event)
  }, files)
}

const toast = (page: Page, text: string | RegExp) => page.locator('.toast').filter({ hasText: text })

describe('the clipboard of entries', () => {
  const suite = webSuite()

  it('copies and cuts across folders, libraries and tabs, and can be undone', async (t) => {
    const space = await furnished(suite.server)
    const other = await furnished(suite.server, space.client, 'Elsewhere')
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)

    await list.cell('notes.md').click()
    await page.keyboard.press('Control+c')
    await toast(page, '“notes.md” is ready to paste').waitFor()
    await page.keyboard.press('Control+v')
    await list.link('notes (1).md').waitFor()

    await list.cell('report 9.txt').click()
    await list
      .row('budget.xlsx')
      .locator('.files-cell-modifier')
      .click({ modifiers: ['Control'] })
    await page.keyboard.press('Control+x')
    await toast(page, '2 items move when you paste them').waitFor()
    assert.equal(await page.locator('.files-cut').count(), 2)
    await tab.picture('clipboard-cut')
    await tab.checkAccess()

    // The other tab knows what was cut, and pastes it.
    const second = await page.context().newPage()
    await second.goto(`${suite.server.url}/app/library/${space.id}`)
    await second.locator('.files-cut').nth(1).waitFor()
    await second.goto(`${suite.server.url}/app/library/${space.id}?p=/Archive`)
    await second.getByText('This folder is empty').waitFor()
    await second.keyboard.press('Control+v')
    await toast(second, '2 items moved').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id, '/Archive'), ['budget.xlsx', 'report 9.txt'])
    await list.link('report 9.txt').waitFor({ state: 'detached' })
    // What was cut moves once.
    await second.keyboard.press('Control+v')
    await toast(second, '2 items moved').getByRole('button', { name: 'Undo' }).click()
    await toast(second, '2 items moved back').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id, '/Archive'), [])
    await second.close()

    // Into another library, with the progress of a task.
    await list.link('Photos').waitFor()
    await list.cell('Photos').click()
    await page.keyboard.press('Control+c')
    await toast(page, '“Photos” is ready to paste').waitFor()
    await tab.go(`/library/${other.id}?p=/Archive`)
    await page.getByText('This folder is empty').waitFor()
    await page.keyboard.press('Control+v')
    await toast(page, '“Photos” copied').waitFor()
    await eventually(async () =>
      assert.deepEqual(await namesIn(space.client, other.id, '/Archive/Photos'), ['2025/', 'hill.jpg']),
    )
    assert.deepEqual(tab.complaints, [])
  })

  it('is in the menus of entries and of the empty area', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    const choose = (name: RegExp) => page.getByRole('menuitem', { name }).click()
    await tab.go(`/library/${space.id}`)
    await list.cell('notes.md').click({ button: 'right' })
    await page.getByRole('menuitem', { name: /^Copy ?Ctrl\+C$/ }).waitFor()
    await choose(/^Cut ?Ctrl\+X$/)
    await toast(page, '“notes.md” moves when you paste it').waitFor()
    await tab.go(`/library/${space.id}?p=/Archive`)
    await page.getByText('This folder is empty').click({ button: 'right' })
    await choose(/^Paste ?Ctrl\+V$/)
    await toast(page, '“notes.md” moved').waitFor()
    await list.link('notes.md').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id, '/Archive'), ['notes.md'])

    // Into a folder without opening it.
    await tab.go(`/library/${space.id}`)
    await list.cell('budget.xlsx').click({ button: 'right' })
    await choose(/^Copy ?Ctrl\+C$/)
    await toast(page, '“budget.xlsx” is ready to paste').waitFor()
    await list.cell('Archive').click({ button: 'right' })
    await choose(/^Paste into folder$/)
    await toast(page, '“budget.xlsx” copied').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id, '/Archive'), ['budget.xlsx', 'notes.md'])
    assert.deepEqual(tab.complaints, [])
  })

  it('leaves text to the browser, and refuses what makes no sense', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)
    await list.cell('Archive').click()
    await page.keyboard.press('Control+c')
    await toast(page, '“Archive” is ready to paste').waitFor()

    // A field gets the names as text.
    const find = page.getByRole('searchbox', { name: 'Find in this folder' })
    await page.keyboard.press('Escape')
    await find.focus()
    await page.keyboard.press('Control+v')
    await eventually(async () => assert.equal(await find.inputValue(), 'Archive'))
    await list.shows(['Archive'])

    await list.link('Archive').click()
    await page.getByText('This folder is empty').waitFor()
    await page.keyboard.press('Control+v')
    await toast(page, 'A folder cannot be pasted into itself.').waitFor()
    assert.deepEqual(await namesIn(space.client, space.id, '/Archive'), [])

    // Nothing of it remains for the next user.
    await page.evaluate(
      `localStorage.removeItem('carrel.token'); dispatchEvent(new StorageEvent('storage', { key: 'carrel.token' }))`,
    )
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.equal(await page.evaluate(`localStorage.getItem('carrel.clipboard')`), null)
  })

  it('uploads pasted files, and gives images a name of their own', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}?p=/Photos`)
    await list.link('hill.jpg').waitFor()
    await pasteFiles(list.grid, [
      { name: 'a.txt', type: 'text/plain', text: 'a' },
      { name: 'b.txt', type: 'text/plain', text: 'b' },
    ])
    await list.link('a.txt').waitFor()
    await list.link('b.txt').waitFor()
    await pasteFiles(list.grid, [{ name: 'image.png', type: 'image/png', text: 'not a real image' }])
    await eventually(async () => {
      const names = await namesIn(space.client, space.id, '/Photos')
      assert.ok(
        names.some((name) => /^image \d{4}-\d\d-\d\d \d\d\.\d\d\.\d\d\.png$/.test(name)),
        names.join(', '),
      )
    })
  })
})
