import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { eventually } from '../support/transfer.ts'
import { addMany, PagedTable } from './files-support.ts'
import { webSuite } from './support.ts'

const COUNT = 100_000

describe('a folder of 100,000 files', () => {
  const suite = webSuite()

  it('shows its first rows, scrolls to its end, and can be searched, selected and changed', async (t) => {
    const space = await Workspace.make(suite.server)
    await addMany(suite.server, space, COUNT, (n) => `scan ${n}.dat`)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)
    await list.link('scan 0.dat').waitFor()
    assert.equal(await list.grid.getAttribute('aria-rowcount'), String(COUNT + 1))
    const drawn = (await list.names()).length
    assert.ok(drawn > 10 && drawn < 100, `${drawn} rows are in the page`)

    await list.grid.focus()
    await page.keyboard.press('End')
    await list.link(`scan ${COUNT - 1}.dat`).waitFor()
    assert.deepEqual(await list.chosen(), [`scan ${COUNT - 1}.dat`])
    await page.mouse.move(700, 500)
    await page.mouse.wheel(0, -1_000_000)
    await list.link(`scan ${COUNT - 1}.dat`).waitFor({ state: 'detached' })
    const passed = await list.names()
    assert.ok(passed.length > 10, 'rows are drawn wherever one scrolls to')

    const middle = passed[Math.floor(passed.length / 2)] ?? ''
    await list.link(middle).click()
    await page.waitForURL(/\/view\//)
    await page.goBack()
    await list.link(middle).waitFor()

    await list.grid.focus()
    await page.keyboard.press('Control+a')
    await page.getByRole('status').getByText('100,000 selected').waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+f')
    await page.keyboard.type('77777')
    await list.shows(['scan 77777.dat'])
    await page.getByText('1 of 100,000').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('F2')
    await page.getByRole('textbox', { name: 'Rename' }).fill('found 77777.dat')
    await page.keyboard.press('Enter')
    await list.shows(['found 77777.dat'])
    await eventually(async () => {
      const { status } = await space.client.get(space.v21('file/'), { p: '/found 77777.dat' })
      assert.equal(status, 200)
    })
    await page.keyboard.press('Delete')
    await page.getByText('” deleted').waitFor()
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('” restored').waitFor()
    await list.shows(['found 77777.dat'])
    assert.deepEqual(tab.complaints, [])
  })
})
