import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { eventually } from '../support/transfer.ts'
import { addMany, furnished, PagedTable } from './files-support.ts'
import { webSuite } from './support.ts'

describe('selecting with a rubber band', () => {
  const suite = webSuite()

  it('takes rows and tiles, and adds to the selection with Ctrl', async (t) => {
    const space = await furnished(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    const chosen = (names: readonly string[]) =>
      eventually(async () => assert.deepEqual(await list.chosen(), names))
    await tab.go(`/library/${space.id}`)

    const budget = await list.cell('budget.xlsx').boundingBox()
    const report = await list.cell('report 9.txt').boundingBox()
    assert.ok(budget !== null && report !== null)
    await page.mouse.move(budget.x + 20, budget.y + 5)
    await page.mouse.down()
    await page.mouse.move(budget.x + 40, budget.y + 20)
    await page.mouse.move(report.x + 60, report.y + 5)
    await page.locator('.files-band').waitFor()
    await chosen(['budget.xlsx', 'notes.md', 'report 9.txt'])
    await tab.picture('rubber-band')
    await page.mouse.up()
    await page.locator('.files-band').waitFor({ state: 'detached' })
    await chosen(['budget.xlsx', 'notes.md', 'report 9.txt'])

    const folder = await list.cell('Archive').boundingBox()
    assert.ok(folder !== null)
    await page.keyboard.down('Control')
    await page.mouse.move(folder.x + 20, folder.y + 5)
    await page.mouse.down()
    await page.mouse.move(folder.x + 40, folder.y + 10)
    await chosen(['Archive', 'budget.xlsx', 'notes.md', 'report 9.txt'])
    await page.mouse.up()
    await page.keyboard.up('Control')

    // Keys work on what was selected.
    await page.keyboard.press('Escape')
    await chosen([])

    await page.getByRole('button', { name: 'Show as grid' }).click()
    const first = await list.grid.locator('.files-tile').first().boundingBox()
    const second = await list.grid.locator('.files-tile').nth(1).boundingBox()
    const all = await list.grid.boundingBox()
    assert.ok(first !== null && second !== null && all !== null)
    await page.mouse.move(first.x - 3, first.y - 3)
    await page.mouse.down()
    await page.mouse.move(first.x + 20, first.y + 20)
    await page.mouse.move(second.x + 20, second.y + 20)
    await chosen(['Archive', 'Photos'])
    await page.mouse.up()
    // A click beside the tiles still clears the selection.
    await page.mouse.click(all.x + all.width / 2, all.y + all.height - 10)
    await chosen([])
    assert.deepEqual(tab.complaints, [])
  })

  it('scrolls a long list, and takes rows that are not rendered', async (t) => {
    const space = await Workspace.make(suite.server, undefined, 'Many')
    await addMany(suite.server, space, 2000, (n) => `${String(n).padStart(4, '0')}.txt`)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)
    const cell = await list.cell('0001.txt').boundingBox()
    assert.ok(cell !== null)
    await page.mouse.move(cell.x + 20, cell.y + 5)
    await page.mouse.down()
    await page.mouse.move(cell.x + 30, cell.y + 40)
    await page.mouse.move(cell.x + 30, 795)
    // Far more than fits on the screen.
    await eventually(async () => {
      const scrolled = Number(await page.evaluate(`document.querySelector('[role=grid]').scrollTop`))
      assert.ok(scrolled > 4000, `scrolled to ${scrolled}`)
    })
    await page.mouse.up()
    const shown = page.getByRole('toolbar').filter({ hasText: 'selected' })
    await shown.waitFor()
    const count = Number(/\d+/.exec((await shown.innerText()).replaceAll(',', ''))?.[0])
    assert.ok(count >= 100, `${count} are selected`)
    assert.deepEqual(tab.complaints, [])
  })
})
