import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { furnished, PagedTable } from './files-support.ts'
import { fitsWidth, webSuite } from './support.ts'

const ALL = ['Archive', 'Photos', 'budget.xlsx', 'notes.md', 'report 9.txt', 'report 10.txt']

/** Names that try to inject markup or scripts. */
const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)<&#47;script>',
  'javascript:alert(1)',
  '{{constructor.constructor("alert(1)")()}}',
  '\u202Egpj.exe',
  '%2e%2e%2f 50%41.txt',
  'a+b&c=d?e#f.txt',
  '😀 Ünïcödé 漢字.md',
  `${'long '.repeat(49)}name`,
]

describe('the folder page', () => {
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

  it('lists, sorts and filters, opens folders and navigates back', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { tab, list, page } = here
    await tab.checkAccess()
    await tab.picture('files')
    const bySize = page.getByRole('columnheader', { name: 'Size' })
    await bySize.getByRole('button').click()
    await list.shows(['Archive', 'Photos', 'notes.md', 'report 10.txt', 'report 9.txt', 'budget.xlsx'])
    await bySize.getByRole('button').click()
    await list.shows(['Archive', 'Photos', 'budget.xlsx', 'report 9.txt', 'report 10.txt', 'notes.md'])
    assert.equal(await bySize.getAttribute('aria-sort'), 'descending')
    await page.reload()
    await list.shows(['Archive', 'Photos', 'budget.xlsx', 'report 9.txt', 'report 10.txt', 'notes.md'])
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click()
    await list.shows(ALL)

    await list.grid.focus()
    await page.keyboard.press('/')
    await page.keyboard.type('REP')
    await list.shows(['report 9.txt', 'report 10.txt'])
    await page.getByText('2 of 6').waitFor()
    await page.keyboard.type(' nowhere')
    await page.getByText('No matching names').waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await list.shows(ALL)

    await list.link('Photos').click()
    await list.shows(['2025', 'hill.jpg'])
    assert.equal(await page.getByRole('heading', { level: 1 }).textContent(), 'Photos')
    assert.match(await page.title(), /^Photos/)
    await list.row('2025').dblclick({ position: { x: 400, y: 20 } })
    await list.shows(['beach.jpg'])
    await page.goBack()
    await list.shows(['2025', 'hill.jpg'])
    await page.reload()
    await list.shows(['2025', 'hill.jpg'])
    await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Plans' }).click()
    await list.shows(ALL)
    assert.deepEqual(tab.complaints, [])
  })

  it('is operable by keyboard alone', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    await list.grid.focus()
    await press('ArrowDown')
    assert.deepEqual(await list.chosen(), ['Archive'])
    await press('ArrowDown', 'ArrowDown', 'Shift+ArrowDown')
    assert.deepEqual(await list.chosen(), ['budget.xlsx', 'notes.md'])
    await press('Control+ArrowDown', 'Control+ArrowDown', 'Space')
    assert.deepEqual(await list.chosen(), ['budget.xlsx', 'notes.md', 'report 10.txt'])
    const active = await list.grid.getAttribute('aria-activedescendant')
    assert.match((await page.locator(`#${active}`).textContent()) ?? '', /report 10/)
    await press('Control+a')
    await page.getByRole('status').getByText('6 selected').waitFor()
    await press('Escape')
    assert.deepEqual(await list.chosen(), [])
    await press('r')
    assert.deepEqual(await list.chosen(), ['report 9.txt'])

    await press('F2')
    const editor = page.getByRole('textbox', { name: 'Rename' })
    await editor.waitFor()
    await page.keyboard.type('summary')
    await press('Enter')
    await list.link('summary.txt').waitFor()
    await eventually(async () => assert.ok((await space.names()).includes('summary.txt')))
    assert.deepEqual(await list.chosen(), ['summary.txt'])
    await press('F2')
    await editor.waitFor()
    await page.keyboard.type('never')
    await press('Escape')
    await list.link('summary.txt').waitFor()

    await press('Delete')
    await page.getByText('“summary.txt” deleted').waitFor()
    await eventually(async () => assert.ok(!(await space.names()).includes('summary.txt')))
    await press('Home', 'ArrowDown', 'Enter')
    await list.shows(['2025', 'hill.jpg'])
    await press('ArrowDown', 'Enter')
    await list.shows(['beach.jpg'])
    await press('Backspace')
    await list.shows(['2025', 'hill.jpg'])
    // The folder that was left has the focus.
    await press('Space')
    assert.deepEqual(await list.chosen(), ['2025'])
    await press('ContextMenu')
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor()
    await tab.checkAccess()
    await press('Escape')
    assert.equal(await page.evaluate('document.activeElement.getAttribute("role")'), 'grid')
    await press('Escape')
    await page.getByRole('button', { name: 'Show as grid' }).click()
    await list.grid.focus()
    await press('Home', 'ArrowRight')
    assert.deepEqual(await list.chosen(), ['hill.jpg'])
    await press('Shift+ArrowLeft')
    assert.deepEqual(await list.chosen(), ['2025', 'hill.jpg'])
    assert.deepEqual(tab.complaints, [])
  })

  it('is operable by mouse: ranges, menus, renaming, deletion and undo', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    const blank = { position: { x: 420, y: 20 } }
    await list.row('budget.xlsx').click(blank)
    await list.row('report 9.txt').click({ ...blank, modifiers: ['Shift'] })
    assert.deepEqual(await list.chosen(), ['budget.xlsx', 'notes.md', 'report 9.txt'])
    await list.row('notes.md').click({ ...blank, modifiers: ['Control'] })
    assert.deepEqual(await list.chosen(), ['budget.xlsx', 'report 9.txt'])
    await list.row('Archive').getByRole('checkbox').click()
    assert.deepEqual(await list.chosen(), ['Archive', 'budget.xlsx', 'report 9.txt'])
    await page.getByRole('button', { name: 'Delete' }).click()
    await list.shows(['Photos', 'notes.md', 'report 10.txt'])
    await eventually(async () =>
      assert.deepEqual(await space.names(), ['Photos', 'notes.md', 'report 10.txt']),
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await list.shows(ALL)
    await page.getByText('3 items restored').waitFor()
    assert.equal((await space.names()).length, 6)

    await list.row('notes.md').click({ ...blank, button: 'right' })
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    const editor = page.getByRole('textbox', { name: 'Rename' })
    await editor.fill('notes/2')
    await editor.press('Enter')
    await page.getByRole('alert').waitFor()
    await editor.press('Escape')
    await list.shows(ALL)
    await list.menu('notes.md', 'Rename')
    await editor.fill('minutes.md')
    await list.row('Archive').click(blank)
    await list.link('minutes.md').waitFor()
    await eventually(async () => assert.ok((await space.names()).includes('minutes.md')))
    assert.deepEqual(
      tab.complaints.filter((one) => !one.includes('400')),
      [],
    )
  })

  it('shows any name literally', async (t) => {
    const space = await Workspace.make(suite.server)
    for (const name of HOSTILE) await space.folder(`/${name.replaceAll('/', '')}`)
    const names = await space.names()
    assert.equal(names.length, HOSTILE.length)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)
    await list.grid.waitFor()
    // A mark stands for what would turn the direction of a name, and hide its extension.
    const shown = (name: string) => name.replaceAll('\u202E', '\uFFFD')
    assert.deepEqual((await list.names()).toSorted(), names.map(shown).toSorted())
    await tab.picture('files-hostile')
    await fitsWidth(tab.page)
    for (const name of names) {
      await list.link(name).click()
      await tab.page.getByText('This folder is empty').waitFor()
      assert.equal(await tab.page.getByRole('heading', { level: 1 }).textContent(), shown(name))
      await tab.page.goBack()
      await list.grid.waitFor()
    }
    await list
      .row(names[0] ?? '')
      .getByRole('checkbox')
      .click()
    await tab.page.keyboard.press('Delete')
    await tab.page.getByText('” deleted').waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('shortens a name only if it does not fit', async (t) => {
    const space = await Workspace.make(suite.server)
    await uploadFile(space.client, space.id, '/greenhouse and shed offer.pdf', 'offer')
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)
    await list.link('greenhouse and shed offer.pdf').waitFor()
    const head = tab.page.locator('.files-name-head')
    const isShortened = () =>
      head.evaluate((one) => {
        const { scrollWidth, clientWidth } = one as unknown as { scrollWidth: number; clientWidth: number }
        return scrollWidth > clientWidth
      })
    // As wide as the icon and the name.
    const give = (pixels: number) =>
      tab.page.locator('.files-row .files-cell-name').evaluate((cell, extra) => {
        const element = cell as unknown as {
          style: { width: string }
          querySelector(one: string): { offsetWidth: number }
        }
        const part = (one: string) => element.querySelector(one).offsetWidth
        element.style.width = `${part('.files-row-picture') + 10 + part('.files-name-tail') + extra}px`
      }, pixels)
    const whole = (await head.boundingBox())?.width ?? 0
    await give(Math.ceil(whole))
    assert.equal(await isShortened(), false)
    await give(Math.ceil(whole) - 12)
    assert.equal(await isShortened(), true)
  })

  it('shows an empty state', async (t) => {
    const space = await Workspace.make(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    await tab.go(`/library/${space.id}?p=/no/such/folder`)
    await tab.page.getByText('Nothing here').waitFor()
    await tab.go('/library/5c1d5d0e-0000-4000-8000-000000000000')
    await tab.page.getByText('Nothing here').waitFor()
    await tab.go('/smart-link/none')
    await tab.page.getByText('Nothing here').waitFor()
  })
})
