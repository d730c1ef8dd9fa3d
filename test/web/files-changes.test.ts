import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { namesIn, storedBytes, uploadFile } from '../support/transfer.ts'
import { furnished, PagedTable } from './files-support.ts'
import { webSuite } from './support.ts'

const ALL = ['Archive', 'Photos', 'budget.xlsx', 'notes.md', 'report 9.txt', 'report 10.txt']

describe('changes on the folder page', () => {
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

  it('create folders and files', async (t) => {
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

  it('refuse a name that is taken, and keep the field open', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    await list.menu('notes.md', 'Rename')
    const field = page.getByRole('textbox', { name: 'Rename' })
    await field.fill('budget.xlsx')
    await field.press('Enter')
    await page.getByRole('alert').filter({ hasText: '“budget.xlsx” already exists here' }).waitFor()
    assert.equal(await field.getAttribute('aria-invalid'), 'true')
    await tab.picture('files-name-taken')
    await tab.checkAccess()
    await field.fill('notes 2.md')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await field.press('Enter')
    await list.shows(ALL.map((name) => (name === 'notes.md' ? 'notes 2.md' : name)))
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await page.getByRole('button', { name: 'New', exact: true }).click()
    await page.getByRole('menuitem', { name: 'New folder' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('Photos')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('“Photos” already exists here').waitFor()
    assert.equal((await namesIn(space.client, space.id)).length, ALL.length)
    assert.deepEqual(tab.complaints, [])
  })

  it('move and copy: by dialog, by dragging, and between libraries', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    const other = await Workspace.make(suite.server, space.client, 'Elsewhere')
    await list.row('notes.md').getByRole('checkbox').click()
    await page.getByRole('button', { name: 'Move to…' }).click()
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
    await list.menu('Photos', 'Copy to…')
    await place('Elsewhere').click()
    await dialog.getByRole('button', { name: 'Copy here' }).click()
    await page.getByText('“Photos” copied').waitFor()
    assert.deepEqual(await other.names('/Photos'), ['2025', 'Letters', 'hill.jpg'])
    await page.getByRole('button', { name: 'Show', exact: true }).last().click()
    await page.getByRole('heading', { name: 'Elsewhere' }).waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('undo a move, also if the entry was renamed by it', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    const other = await Workspace.make(suite.server, space.client, 'Elsewhere')
    const undo = () => page.getByRole('button', { name: 'Undo' }).last().click()
    await uploadFile(space.client, space.id, '/Archive/notes.md', 'the other notes')
    await list.row('notes.md').dragTo(list.row('Archive'))
    await page.getByText('“notes.md” moved').waitFor()
    assert.deepEqual(await space.names('/Archive'), ['notes (1).md', 'notes.md'])
    await undo()
    await page.getByText('“notes (1).md” moved back').waitFor()
    assert.equal((await storedBytes(suite.server, space.id, '/notes (1).md')).toString(), '# Notes')
    assert.equal(
      (await storedBytes(suite.server, space.id, '/Archive/notes.md')).toString(),
      'the other notes',
    )

    // Into another library, and with the content of a folder.
    await list.menu('Photos', 'Move to…')
    await page.getByRole('dialog').getByRole('treeitem', { name: 'Elsewhere' }).click()
    await page.getByRole('button', { name: 'Move here' }).click()
    await page.getByText('“Photos” moved').waitFor()
    assert.deepEqual(await other.names(), ['Photos'])
    await undo()
    await list.link('Photos').waitFor()
    assert.deepEqual(await space.names('/Photos'), ['2025', 'hill.jpg'])
    assert.deepEqual(await other.names(), [])

    await list.row('report 9.txt').dragTo(list.row('Archive'))
    await page.getByText('“report 9.txt” moved').waitFor()
    await uploadFile(space.client, space.id, '/Archive/report 9.txt', 'changed', { replace: true })
    await undo()
    await page.getByRole('alert').getByText('It has changed since').waitFor()
    assert.ok((await space.names('/Archive')).includes('report 9.txt'))
    assert.deepEqual(tab.complaints, [])
  })

  it('star and lock a file, and show its details', async (t) => {
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
    await page.getByRole('button', { name: 'More actions for this folder' }).click()
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

  it('show the changes of others, and keep the selection', async (t) => {
    const here = await opened(t)
    if (here === undefined) return
    const { space, tab, list, page } = here
    const guest = await suite.server.signUp()
    const form = { share_type: 'user', username: guest.email, permission: 'rw' }
    await space.client.put(space.v2('dir/shared_items/'), { query: { p: '/' }, form })
    const second = await suite.openTab(t, guest)
    if (second === undefined) return
    const theirs = new PagedTable(second)
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

  it('are not offered with read permission', async (t) => {
    const space = await furnished(suite.server)
    const guest = await suite.server.signUp()
    const form = { share_type: 'user', username: guest.email, permission: 'r' }
    await space.client.put(space.v2('dir/shared_items/'), { query: { p: '/' }, form })
    const tab = await suite.openTab(t, guest, { colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    const list = new PagedTable(tab)
    await tab.go(`/library/${space.id}`)
    await list.shows(ALL)
    await page.getByText('Read-only').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Upload' }).count(), 0)
    await list.row('notes.md').getByRole('checkbox').click()
    assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0)
    await page.keyboard.press('Delete')
    await list.row('notes.md').getByRole('button', { name: /More/ }).click()
    await page.getByRole('menuitem', { name: 'Download' }).waitFor()
    assert.equal(await page.getByRole('menuitem', { name: /Rename|Move|Delete|Lock/ }).count(), 0)
    await tab.picture('files-read-only-dark')
    assert.equal((await space.names()).length, 6)
    assert.deepEqual(tab.complaints, [])
  })
})
