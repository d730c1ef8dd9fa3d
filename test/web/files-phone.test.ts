import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadCompiledTexts } from '../../web/texts-compiler/load.ts'
import { listLanguages } from '../../web/texts-compiler/messages.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { furnished, PagedTable } from './files-support.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

const ALL = ['Archive', 'Photos', 'budget.xlsx', 'notes.md', 'report 9.txt', 'report 10.txt']

describe('the folder page on a small screen', () => {
  const suite = webSuite()

  async function opened(t: Parameters<typeof suite.openTab>[0], more?: Parameters<typeof suite.openTab>[2]) {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client, more)
    if (tab === undefined) return undefined
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)
    await list.shows(ALL)
    return { space, tab, list, page: tab.page }
  }

  it('fits on a phone, as a list and as a grid, and supports touch', async (t) => {
    const here = await opened(t, { ...PHONE, colorScheme: 'dark' })
    if (here === undefined) return
    const { tab, list, page } = here
    await tab.picture('files-phone-dark')
    await fitsWidth(tab.page)
    const { height: room } = PHONE.viewport
    const listed = (await list.grid.boundingBox())?.height ?? 0
    assert.ok(room - listed < 0.15 * room, `${room - listed} of ${room} pixels around the list`)
    await page.getByRole('button', { name: 'Add', exact: true }).tap()
    await page.getByRole('menuitem', { name: 'New folder' }).waitFor()
    await tab.checkAccess()
    await tab.picture('files-phone-add')
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    const icon = list.row('notes.md').locator('.files-row-picture')
    const indent = async () => (await icon.boundingBox())?.x ?? Number.NaN
    assert.ok((await indent()) < 20, 'rows begin at the edge as long as nothing is selected')
    // As a screen reader activates it, without a long press.
    await list.row('notes.md').getByRole('checkbox').dispatchEvent('click')
    await list.row('notes.md').getByRole('checkbox').and(page.locator(':visible')).waitFor()
    assert.ok((await indent()) > 40, 'there is room for the checkboxes')
    await list.row('budget.xlsx').tap({ position: { x: 250, y: 20 } })
    assert.deepEqual(await list.chosen(), ['budget.xlsx', 'notes.md'])
    await tab.picture('files-phone-selected')
    await tab.checkAccess()
    await page.getByRole('button', { name: 'Clear selection' }).tap()
    await list.row('Photos').tap({ position: { x: 250, y: 20 } })
    await list.shows(['2025', 'hill.jpg'])
    await page.getByRole('button', { name: 'Show as grid' }).tap()
    await list.grid.locator('img').waitFor()
    await tab.picture('files-phone-grid')
    await tab.checkAccess()
    await fitsWidth(tab.page)
    await list.grid.getByRole('button', { name: 'More actions for hill.jpg' }).tap()
    await page.getByRole('menuitem', { name: 'Details' }).tap()
    await page.getByRole('dialog', { name: 'Details' }).getByText('JPG file').waitFor()
    await tab.picture('files-phone-details')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear selection' }).tap()
    await page.getByRole('button', { name: 'Up one folder' }).tap()
    await list.shows(ALL)
    assert.deepEqual(tab.complaints, [])
  })

  it('selects by a long press, and keeps extensions visible', async (t) => {
    const here = await opened(t, PHONE)
    if (here === undefined) return
    const { space, tab, page, list } = here
    const name = `${'a long name '.repeat(12)}v2.dat`
    await uploadFile(space.client, space.id, `/${name}`, 'text')
    const link = page.getByRole('link', { name, exact: true })
    await link.waitFor()
    const tail = link.getByText('v2.dat')
    assert.ok(((await tail.boundingBox())?.width ?? 0) > 40)
    const box = await list.row('notes.md').boundingBox()
    assert.ok(box !== null)
    const touch = await page.context().newCDPSession(page)
    const touchPoints = [{ x: box.x + 200, y: box.y + 20 }]
    await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
    await page.getByRole('toolbar', { name: '1 selected' }).waitFor()
    await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    assert.deepEqual(await list.chosen(), ['notes.md'])
    assert.equal(await page.getByRole('menu').count(), 0)
    assert.deepEqual(tab.complaints, [])
  })

  it('is complete and fits in every language', async (t) => {
    const here = await opened(t, PHONE)
    if (here === undefined) return
    const { tab, page } = here
    // The name of the list is translated too.
    const row = page
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: 'notes.md', exact: true }) })
    for (const language of listLanguages()) {
      await page.evaluate(`localStorage.setItem('carrel.language', '${language}')`)
      await page.reload()
      await page.locator(`html[lang="${language}"]`).waitFor()
      await row.waitFor()
      const { files } = await loadCompiledTexts(language)
      await page.getByRole('button', { name: files.add, exact: true }).waitFor()
      await fitsWidth(page)
      await row.getByRole('checkbox').dispatchEvent('click')
      const toolbar = page.getByRole('toolbar', { name: files.selected(1, '1') })
      await toolbar.waitFor()
      await fitsWidth(page)
      const room = (await toolbar.boundingBox()) ?? { x: 0, width: 0 }
      assert.ok(room.x >= 0 && room.x + room.width <= PHONE.viewport.width, language)
      const text = await page.locator('body').innerText()
      assert.doesNotMatch(text, /undefined|\[object|[{}]|function/, language)
      await tab.picture(`files-phone-${language}`)
    }
    assert.deepEqual(tab.complaints, [])
  })

  it('has compact rows on request', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { page, list } = here
    const height = async () => (await list.row('notes.md').boundingBox())?.height
    assert.equal(await height(), 40)
    await page.getByRole('button', { name: 'More actions for this folder' }).click()
    await page.getByRole('menuitem', { name: 'Compact rows' }).click()
    await eventually(async () => assert.equal(await height(), 32))
  })
})
