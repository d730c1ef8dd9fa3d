import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { eventually, namesIn, uploadFile } from '../support/transfer.ts'
import { furnished, Listing } from './files-support.ts'
import { PHONE, type Tab, webSuite } from './support.ts'

const ALL = ['Archive', 'Photos', 'budget.xlsx', 'notes.md', 'report 9.txt', 'report 10.txt']

/** Names somebody might use to make the page do something. */
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
    const list = new Listing(tab)
    await tab.go(`/library/${space.id}`)
    await list.shows(ALL)
    return { space, tab, list, page: tab.page }
  }

  it('lists, sorts and finds; folders open and the way back works', async (t) => {
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
    await page.getByText('Nothing here has that name').waitFor()
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

  it('is used with the keyboard alone', async (t) => {
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
    // The folder one came out of has the keyboard.
    await press('Space')
    assert.deepEqual(await list.chosen(), ['2025'])
    await press('ContextMenu')
    await page.getByRole('menuitem', { name: 'Rename' }).waitFor()
    await tab.checkAccess()
    await press('Escape')
    assert.equal(await page.evaluate('document.activeElement.getAttribute("role")'), 'grid')
    assert.deepEqual(tab.complaints, [])
  })

  it('is used with the mouse: ranges, menus, renaming, deletion and its undoing', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    const blank = { position: { x: 500, y: 20 } }
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

  it('makes folders and files', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    const make = async (entry: string, name: string) => {
      await page.getByRole('button', { name: 'New', exact: true }).click()
      await page.getByRole('menuitem', { name: entry }).click()
      const field = page.getByRole('dialog').getByRole('textbox')
      await field.fill(name)
      await page.getByRole('button', { name: 'Create' }).click()
    }
    await make('New folder', 'Drafts')
    await list.link('Drafts').waitFor()
    assert.deepEqual(await list.chosen(), ['Drafts'])
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await make('New Markdown document', 'ideas.md')
    await list.link('ideas.md').waitFor()
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await make('New text file', 'a/b.txt')
    await page.getByText('cannot contain a slash').waitFor()
    await tab.checkAccess()
    await page.keyboard.press('Escape')
    assert.ok((await namesIn(space.client, space.id)).includes('Drafts/'))
    await list.link('Drafts').click()
    await page.getByText('This folder is empty').waitFor()
    await tab.picture('files-empty')
    assert.deepEqual(tab.complaints, [])
  })

  it('moves and copies: by dialog, by dragging, and between libraries', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    const other = await Workspace.make(suite.server, space.client, 'Elsewhere')
    await list.row('notes.md').getByRole('checkbox').click()
    await page.getByRole('button', { name: 'Move to …' }).click()
    const dialog = page.getByRole('dialog')
    const place = (name: string) => dialog.getByRole('treeitem', { name })
    await place('Photos').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await place('2025').waitFor()
    await tab.picture('files-move')
    await tab.checkAccess()
    await dialog.getByRole('button', { name: 'New folder' }).click()
    await dialog.getByRole('textbox').fill('Letters')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await place('Letters').waitFor()
    await dialog.getByRole('button', { name: 'Move here' }).click()
    await page.getByText('“notes.md” moved').waitFor()
    await list.shows(ALL.filter((name) => name !== 'notes.md'))
    assert.deepEqual(await space.names('/Photos/Letters'), ['notes.md'])

    await list.row('report 9.txt').dragTo(list.row('Archive'))
    await list.shows(['Archive', 'Photos', 'budget.xlsx', 'report 10.txt'])
    assert.deepEqual(await space.names('/Archive'), ['report 9.txt'])
    await list.link('Archive').click()
    await list.row('report 9.txt').dragTo(page.getByRole('navigation', { name: 'Path' }).getByText('Plans'))
    await page.getByText('This folder is empty').waitFor()
    assert.ok((await space.names()).includes('report 9.txt'))

    await tab.go(`/library/${space.id}`)
    await list.menu('Photos', 'Copy to …')
    await place('Elsewhere').click()
    await dialog.getByRole('button', { name: 'Copy here' }).click()
    await page.getByText('“Photos” copied').waitFor()
    assert.deepEqual(await other.names('/Photos'), ['2025', 'Letters', 'hill.jpg'])
    await page.getByRole('button', { name: 'Show', exact: true }).last().click()
    await page.getByRole('heading', { name: 'Elsewhere' }).waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('stars, locks, and tells all about a file', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    await list.menu('notes.md', 'Star')
    await list.row('notes.md').getByRole('img', { name: 'Starred' }).waitFor()
    await list.menu('notes.md', 'Lock')
    await list
      .row('notes.md')
      .getByRole('img', { name: /Locked by you/ })
      .waitFor()
    await page.getByRole('button', { name: 'Show details' }).click()
    const details = page.getByRole('complementary', { name: 'Details' })
    await details.getByText(/Locked by you/).waitFor()
    await details.getByText('Uploaded').waitFor()
    await tab.picture('files-details')
    await tab.checkAccess()
    await list.menu('notes.md', 'Unlock')
    await list
      .row('notes.md')
      .getByRole('img', { name: /Locked/ })
      .waitFor({ state: 'detached' })
    await list.menu('notes.md', 'Remove star')
    await list.row('notes.md').getByRole('img', { name: 'Starred' }).waitFor({ state: 'detached' })
    const { body } = await space.client.get('/api/v2.1/starred-items/')
    assert.deepEqual(body.starred_item_list, [])
    await list.row('Photos').getByRole('checkbox').click()
    await list.row('notes.md').getByRole('checkbox').click()
    await details.getByText('2 files').waitFor()

    await page.getByRole('button', { name: 'Clear selection' }).click()
    await page.getByRole('button', { name: 'More for this folder' }).click()
    await page.getByRole('menuitem', { name: 'Show folder sizes' }).click()
    await list.row('Photos').getByText(/KB/).waitFor()

    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await list.menu('notes.md', 'Copy internal link')
    await page.getByText('Link copied').waitFor()
    const link = String(await page.evaluate('navigator.clipboard.readText()'))
    await space.client.post(space.v21('file/'), {
      query: { p: '/notes.md' },
      form: { operation: 'rename', newname: 'moved on.md' },
    })
    await page.goto(link)
    await page.waitForURL(/\/app\/view\/.*p=\/moved\+on\.md/)
    assert.deepEqual(tab.complaints, [])
  })

  it('shows what others do, and keeps what is selected', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    const guest = await suite.server.signUp()
    const form = { share_type: 'user', username: guest.email, permission: 'rw' }
    await space.client.put(space.v2('dir/shared_items/'), { query: { p: '/' }, form })
    const second = await suite.openTab(t, guest)
    if (second === undefined) return
    const theirs = new Listing(second)
    await second.go(`/library/${space.id}`)
    await theirs.shows(ALL)
    await list.row('notes.md').getByRole('checkbox').click()
    await theirs.row('report 9.txt').getByRole('checkbox').click()
    await second.page.keyboard.press('Delete')
    await list.shows(ALL.filter((name) => name !== 'report 9.txt'))
    assert.deepEqual(await list.chosen(), ['notes.md'])
    await uploadFile(guest, space.id, '/from me.txt', 'hello')
    await list.link('from me.txt').waitFor()
    await theirs.menu('budget.xlsx', 'Lock')
    await list
      .row('budget.xlsx')
      .getByRole('img', { name: /Locked by user/ })
      .waitFor()
    await list.menu('budget.xlsx', 'Rename')
    await page.getByRole('textbox', { name: 'Rename' }).fill('mine.xlsx')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('locked').waitFor()
    await list.link('budget.xlsx').waitFor()
    await list.menu('budget.xlsx', 'Unlock')
    await theirs
      .row('budget.xlsx')
      .getByRole('img', { name: /Locked/ })
      .waitFor({ state: 'detached' })
    assert.deepEqual(
      tab.complaints.filter((one) => !one.includes('403')),
      [],
    )
  })

  it('offers no changes where one may only read', async (t) => {
    const space = await furnished(suite.server)
    const guest = await suite.server.signUp()
    const form = { share_type: 'user', username: guest.email, permission: 'r' }
    await space.client.put(space.v2('dir/shared_items/'), { query: { p: '/' }, form })
    const tab = await suite.openTab(t, guest, { colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    const list = new Listing(tab)
    await tab.go(`/library/${space.id}`)
    await list.shows(ALL)
    await page.getByText('Read only').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Upload' }).count(), 0)
    await list.row('notes.md').getByRole('checkbox').click()
    assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0)
    await page.keyboard.press('Delete')
    await list.row('notes.md').getByRole('button', { name: /More/ }).click()
    await page.getByRole('menuitem', { name: 'Download' }).waitFor()
    assert.equal(await page.getByRole('menuitem', { name: /Rename|Move|Delete|Lock/ }).count(), 0)
    await tab.checkAccess()
    await tab.picture('files-read-only-dark')
    assert.equal((await space.names()).length, 6)
    assert.deepEqual(tab.complaints, [])
  })

  it('shows any name as it is', async (t) => {
    const space = await Workspace.make(suite.server)
    for (const name of HOSTILE) await space.folder(`/${name.replaceAll('/', '')}`)
    const names = await space.names()
    assert.equal(names.length, HOSTILE.length)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const list = new Listing(tab)
    await tab.go(`/library/${space.id}`)
    await list.grid.waitFor()
    assert.deepEqual((await list.names()).toSorted(), names.toSorted())
    await tab.picture('files-hostile')
    assert.equal(await overflow(tab), false)
    for (const name of names) {
      await list.link(name).click()
      await tab.page.getByText('This folder is empty').waitFor()
      assert.equal(await tab.page.getByRole('heading', { level: 1 }).textContent(), name)
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

  it('fits on a phone, as a list and as a grid, and a finger selects and opens', async (t) => {
    const here = await opened(t, { ...PHONE, colorScheme: 'dark' })
    if (here === undefined) return
    const { tab, list, page } = here
    await tab.picture('files-phone-dark')
    assert.equal(await overflow(tab), false)
    await list.row('notes.md').getByRole('checkbox').tap()
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
    assert.equal(await overflow(tab), false)
    await list.grid.getByRole('button', { name: 'More for hill.jpg' }).tap()
    await page.getByRole('menuitem', { name: 'Details' }).tap()
    await page.getByRole('dialog', { name: 'Details' }).getByText('JPG file').waitFor()
    await tab.picture('files-phone-details')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Clear selection' }).tap()
    await page.getByRole('button', { name: 'Up one folder' }).tap()
    await list.shows(ALL)
    assert.deepEqual(tab.complaints, [])
  })

  it('says so where there is nothing', async (t) => {
    const space = await Workspace.make(suite.server)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    await tab.go(`/library/${space.id}?p=/no/such/folder`)
    await tab.page.getByText('There is nothing here').waitFor()
    await tab.go('/library/5c1d5d0e-0000-4000-8000-000000000000')
    await tab.page.getByText('There is nothing here').waitFor()
    await tab.go('/smart-link/none')
    await tab.page.getByText('That did not work').waitFor()
  })
})

/** Whether the page can be scrolled sideways. */
async function overflow({ page }: Tab): Promise<boolean> {
  return page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth')
}
