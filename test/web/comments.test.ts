import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { shareWith } from '../api/sharing-support.ts'
import { uploadFile } from '../support/transfer.ts'
import { PagedTable } from './files-support.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

describe('comments and tags in the app', () => {
  const suite = webSuite()

  it('are written with a mention, seen at once elsewhere, answered, resolved and deleted', async (t) => {
    const space = await Workspace.make(suite.server)
    const other = await suite.server.signUp()
    await shareWith(space.client, space.id, other)
    await uploadFile(space.client, space.id, '/plan.txt', 'a plan')
    const [own, theirs] = [await suite.openTab(t, space.client), await suite.openTab(t, other)]
    if (own === undefined || theirs === undefined) return
    const view = `/view/${space.id}?p=%2Fplan.txt`
    await own.go(view)
    await own.page.getByRole('button', { name: 'Comments' }).click()
    await theirs.go(view)
    await theirs.page.getByRole('button', { name: 'Comments' }).click()
    await theirs.page.getByText('No comments yet').waitFor()

    const name = other.email.split('@')[0] ?? ''
    const field = own.page.getByRole('textbox', { name: 'Add a comment' })
    await field.fill('<b>Please</b> read this, ')
    await field.press('End')
    await field.pressSequentially(`@${name}`)
    await own.page.getByRole('option', { name }).waitFor()
    await own.checkAccess()
    await own.picture('comments-mention')
    await field.press('Enter')
    await own.page.waitForFunction(
      `document.querySelector('.comment-form textarea').value.includes('@${other.email} ')`,
    )
    await field.press('Control+Enter')
    const comment = own.page.getByRole('listitem').filter({ hasText: '<b>Please</b> read this' })
    await comment.waitFor()
    await comment.locator('.mention', { hasText: `@${name}` }).waitFor()

    // The other page shows it without a reload, and the bell has a notification that leads to the file.
    const seen = theirs.page.getByRole('listitem').filter({ hasText: '<b>Please</b> read this' })
    await seen.waitFor()
    await theirs.checkAccess()
    await theirs.picture('comments')
    await theirs.go('/')
    await theirs.page.getByRole('button', { name: /^Notifications, \d new$/ }).click()
    await theirs.page.getByText(/mentioned you in a comment on/).click()
    await theirs.page.getByRole('button', { name: 'Comments' }).click()
    await seen.waitFor()
    await seen.getByRole('button', { name: /^Actions for the comment/ }).click()
    await theirs.page.getByRole('menuitem', { name: 'Resolve' }).click()
    await theirs.page.getByRole('button', { name: 'Show 1 resolved comment' }).waitFor()

    await own.page.getByRole('button', { name: 'Show 1 resolved comment' }).click()
    await comment.getByRole('button', { name: /^Actions for the comment/ }).click()
    await own.page.getByRole('menuitem', { name: 'Edit' }).click()
    const editing = own.page.getByRole('textbox', { name: 'Edit comment' })
    await editing.fill('Never mind')
    await editing.press('Control+Enter')
    const edited = own.page.getByRole('listitem').filter({ hasText: 'Never mind' })
    await edited.getByText('edited', { exact: true }).waitFor()
    await edited.getByRole('button', { name: /^Actions for the comment/ }).click()
    await own.page.getByRole('menuitem', { name: 'Delete' }).click()
    await own.page.getByText('No comments yet').waitFor()
    await theirs.page.getByText('No comments yet').waitFor()
    assert.deepEqual([own.complaints, theirs.complaints], [[], []])
  })

  it('are in the details of a file, and fit a phone', async (t) => {
    const space = await Workspace.make(suite.server)
    await uploadFile(space.client, space.id, '/plan.txt', 'a plan')
    const query = { p: '/plan.txt' }
    const form = { comment: 'from another client' }
    await space.client.post(space.v2('file/comments/'), { query, form })
    const tab = await suite.openTab(t, space.client)
    const phone = await suite.openTab(t, space.client, PHONE)
    if (tab === undefined || phone === undefined) return
    await tab.go(`/library/${space.id}/`)
    await new PagedTable(tab).menu('plan.txt', 'Details')
    await tab.page.getByText('from another client').waitFor()
    await tab.checkAccess()
    await phone.go(`/view/${space.id}?p=%2Fplan.txt`)
    await phone.page.getByRole('button', { name: 'More' }).click()
    await phone.page.getByRole('menuitem', { name: 'Comments' }).click()
    await phone.page.getByText('from another client').waitFor()
    await phone.checkAccess()
    await fitsWidth(phone.page)
    await phone.picture('comments-phone')
  })

  it('tag a file in its details, as a dot in the list and a term of the search', async (t) => {
    const space = await Workspace.make(suite.server)
    await uploadFile(space.client, space.id, '/plan.txt', 'a plan')
    await uploadFile(space.client, space.id, '/other.txt', 'another')
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${space.id}/`)
    const list = new PagedTable(tab)
    await list.menu('plan.txt', 'Details')
    await page.getByRole('combobox', { name: 'Add a tag' }).fill('Urgent')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Remove the tag Urgent' }).waitFor()
    const dot = list.row('plan.txt').getByRole('img', { name: 'Urgent' })
    await dot.waitFor()
    await tab.checkAccess()
    await tab.picture('tags')
    await tab.go('/search?q=tag%3Aurgent')
    await page.getByText('1 result', { exact: true }).waitFor()
    await page
      .getByRole('link', { name: /plan\.txt/ })
      .first()
      .waitFor()
    await tab.go(`/library/${space.id}/`)
    await list.menu('plan.txt', 'Details')
    await page.getByRole('button', { name: 'Remove the tag Urgent' }).click()
    await dot.waitFor({ state: 'detached' })
    assert.deepEqual(tab.complaints, [])
  })

  it('tag several files at once, and manage tags and their files on a page', async (t) => {
    const space = await Workspace.make(suite.server)
    await space.folder('/drafts')
    for (const path of ['/plan.txt', '/budget.txt', '/drafts/letter.txt'])
      await uploadFile(space.client, space.id, path, path)
    const tab = await suite.openTab(t, space.client, { colorScheme: 'dark' })
    const phone = await suite.openTab(t, space.client, PHONE)
    if (tab === undefined || phone === undefined) return
    const { page } = tab
    await tab.go(`/library/${space.id}/`)
    const list = new PagedTable(tab)
    await list.row('plan.txt').getByRole('checkbox').check({ force: true })
    await list.row('budget.txt').getByRole('checkbox').check({ force: true })
    const sent: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/file-tags/')) sent.push(request.method())
    })
    await page.getByRole('toolbar', { name: '2 selected' }).getByRole('button', { name: 'Tags…' }).click()
    const dialog = page.getByRole('dialog')
    const field = dialog.getByRole('textbox', { name: 'New tag' })
    for (const name of ['Urgent', 'Garden', 'House']) {
      await field.fill(name)
      await field.press('Enter')
      await dialog.getByRole('checkbox', { name }).waitFor()
    }
    await tab.checkAccess()
    await tab.picture('tags-dialog')
    await dialog.getByRole('button', { name: 'Save' }).click()
    // Two chips by name, and the number of the others, within the height of the row.
    const chips = list.row('plan.txt').getByRole('img', { name: 'Urgent, Garden, House' })
    await chips.getByText('+1').waitFor()
    await list.row('budget.txt').getByRole('img', { name: 'Urgent, Garden, House' }).waitFor()
    assert.deepEqual(sent, ['POST'], 'one call for three tags of two files')
    assert.equal((await list.row('plan.txt').boundingBox())?.height, 40)
    await page.getByRole('button', { name: 'Clear selection' }).click()
    await tab.checkAccess()
    await tab.picture('tags-rows-dark')

    await page.getByRole('button', { name: 'More actions for this folder' }).click()
    await page.getByRole('menuitem', { name: 'Tags', exact: true }).click()
    await page.getByRole('button', { name: 'New tag' }).click()
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Home')
    await dialog.getByRole('radio', { name: 'Teal' }).check({ force: true })
    await tab.checkAccess()
    await dialog.getByRole('button', { name: 'Create' }).click()
    const tags = page.getByRole('navigation', { name: 'Tags' })
    await tags.getByRole('link', { name: 'Home 0 files' }).waitFor()

    await tags.getByRole('link', { name: 'House 2 files' }).click()
    const files = page.getByRole('table', { name: 'Files with the tag House' })
    await files.getByRole('link', { name: 'plan.txt' }).waitFor()
    await page.getByRole('button', { name: 'Merge' }).click()
    await dialog.getByLabel('Merge into').selectOption('Home')
    await dialog.getByRole('button', { name: 'Merge' }).click()
    await tags.getByRole('link', { name: 'Home 2 files' }).waitFor()
    await page.getByRole('button', { name: 'Edit tag' }).click()
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Home and garden')
    await dialog.getByRole('button', { name: 'Save' }).click()
    const chosen = page.getByRole('table', { name: 'Files with the tag Home and garden' })
    await chosen.getByRole('checkbox', { name: 'Select budget.txt' }).click()
    await chosen.getByRole('checkbox', { name: 'Select plan.txt' }).click({ modifiers: ['Shift'] })
    await page.getByRole('toolbar', { name: '2 selected' }).waitFor()
    await tab.checkAccess()
    await tab.picture('tags-page-dark')
    await phone.go(`/tags/${space.id}`)
    await phone.page.getByRole('link', { name: 'Home and garden 2 files' }).click()
    await phone.page.getByRole('link', { name: 'plan.txt' }).waitFor()
    await phone.checkAccess()
    await fitsWidth(phone.page)
    await phone.picture('tags-page-phone')
    assert.deepEqual(phone.complaints, [])
    await phone.page.close()

    await page.getByRole('button', { name: 'Remove the tag Home and garden' }).click()
    await page.getByRole('heading', { name: 'No files with this tag' }).waitFor()
    await page.getByRole('button', { name: 'Delete tag' }).click()
    await dialog.getByText('It is removed from 0 files.').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await tags.getByRole('link', { name: /Home and garden/ }).waitFor({ state: 'detached' })
    await tags.getByRole('link', { name: 'Urgent 2 files' }).waitFor()
    // A page that shows a merged or deleted tag may ask for its files once more, which the console reports.
    assert.deepEqual(
      tab.complaints.filter((one) => !one.includes('/tagged-files/')),
      [],
    )
  })
})
