import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { shortcuts } from '../../web/src/shortcuts.ts'
import { namesIn } from '../support/transfer.ts'
import { furnished, PagedTable } from './files-support.ts'
import { PHONE, webSuite } from './support.ts'

describe('commands', () => {
  const suite = webSuite()

  it('are found in the palette: actions, places, pages and files', async (t) => {
    const space = await furnished(suite.server)
    await furnished(suite.server, space.client, 'Household')
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    const palette = page.getByRole('dialog', { name: 'Commands' })
    const field = palette.getByRole('combobox')
    const active = palette.locator('[role=option][aria-selected=true]')
    const option = (name: string | RegExp) => palette.getByRole('option', { name })
    await tab.go(`/library/${space.id}`)
    await list.link('notes.md').waitFor()

    // An action of the folder.
    await page.keyboard.press('Control+k')
    await option('New folder').waitFor()
    await tab.checkAccess()
    await tab.picture('commands-palette')
    await page.keyboard.type('nefo')
    await active.filter({ hasText: 'New folder' }).waitFor()
    assert.equal(await field.getAttribute('aria-activedescendant'), await active.getAttribute('id'))
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New folder' })
    await dialog.getByRole('textbox').fill('Made by a command')
    await page.keyboard.press('Enter')
    await list.link('Made by a command').waitFor()

    // An action of the selection, which needs the focus itself.
    await list.cell('notes.md').click()
    await page.keyboard.press('Control+k')
    await palette.getByRole('group', { name: 'Selected item' }).waitFor()
    await page.keyboard.type('renam')
    await active.filter({ hasText: 'Rename' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'Rename' }).fill('renamed.md')
    await page.keyboard.press('Enter')
    await list.link('renamed.md').waitFor()
    assert.ok((await namesIn(space.client, space.id)).includes('renamed.md'))

    // A library, a page of the settings, and a file that the server finds.
    await page.keyboard.press('Control+k')
    await page.keyboard.type('house')
    await active.filter({ hasText: 'Household' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('navigation', { name: 'Path' }).getByText('Household').waitFor()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('appear')
    await active.filter({ hasText: 'Appearance' }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/app/account/appearance')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('budget')
    await option(/^budget\.xlsx/)
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
    await palette.waitFor({ state: 'detached' })
    assert.deepEqual(tab.complaints, [])
  })

  it('open in the moment in which the texts of other pages arrive', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    // The palette is the first to need those texts, instead of the preload after this time.
    await page.addInitScript(`
      const { setTimeout } = globalThis
      globalThis.setTimeout = (run, ms, ...args) => (ms === 1500 ? 0 : setTimeout(run, ms, ...args))
    `)
    const files = await readdir(path.join(import.meta.dirname, '../../web/dist/assets'))
    const later = files.find((name) => /^later-.*\.js$/.test(name))
    await tab.go(`/library/${space.id}`)
    await new PagedTable(tab).link('notes.md').waitFor()
    // A module that is loaded already is imported before React renders again.
    await page.evaluate(`import(new URL('web/assets/${later}', document.baseURI).href).then(() => {})`)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Commands' }).getByRole('option').first().waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('show all keys in a sheet, which is the list that binds them', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await tab.go(`/library/${space.id}`)
    await list.cell('notes.md').click()
    await page.keyboard.press('?')
    await sheet.waitFor()
    const shown = await sheet
      .locator('[data-keys]')
      .evaluateAll((keys) =>
        keys.map((key) => (key as unknown as { dataset: { keys: string } }).dataset.keys),
      )
    const bound = Object.values(shortcuts).flatMap((area) => Object.values<readonly string[]>(area).flat())
    assert.deepEqual(shown, bound)
    await tab.checkAccess()
    await tab.picture('commands-shortcuts')
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })

    // A field keeps the characters.
    const search = page.getByRole('combobox', { name: 'Search' })
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Keyboard shortcuts' }).click()
    await sheet.waitFor()
    await page.keyboard.press('Escape')
    await sheet.waitFor({ state: 'detached' })
    await search.focus()
    await page.keyboard.type('a?/')
    assert.equal(await search.inputValue(), 'a?/')
    assert.equal(await sheet.count(), 0)
    assert.deepEqual(tab.complaints, [])
  })

  it('fit a phone in the dark', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${space.id}`)
    await new PagedTable(tab).link('notes.md').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Commands' }).getByRole('option').first().waitFor()
    await tab.checkAccess()
    await tab.picture('commands-palette-phone-dark')
  })
})
