import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { Workspace } from '../api/folders-support.ts'
import { makeGroup, shareWith } from '../api/sharing-support.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { paste } from './sharing-support.ts'
import { PHONE, webSuite } from './support.ts'

/** A name that tries to break the page. */
const HOSTILE = '<img src=x onerror=alert(1)> \u202Etxt.exe 🦊'

describe('sharing with people and groups', () => {
  const suite = webSuite()

  const shares = async (space: Workspace) => {
    const { body } = await space.client.get(space.v2('dir/shared_items/'), { p: '/' })
    // oxlint-disable-next-line typescript/no-explicit-any
    return body.map((one: any) => [
      one.user_info?.name ?? one.group_info.name,
      one.is_admin ? 'admin' : one.permission,
    ])
  }

  async function openShareDialog(page: Page, library: string) {
    await page.getByRole('button', { name: 'Share a library' }).click()
    const choosing = page.getByRole('dialog', { name: 'Share a library' })
    await choosing.getByLabel('Library').selectOption(library)
    await choosing.getByRole('button', { name: 'Next' }).click()
    return page.getByRole('dialog', { name: /^Share “/ })
  }

  it('shows a library to its recipients at once, and removes it at once', async (t) => {
    const space = await Workspace.make(suite.server, await suite.server.signUp(), HOSTILE)
    const friend = await suite.server.signUp({ email: 'greta.friend@example.org' })
    const mine = await suite.openTab(t, space.client)
    const theirs = await suite.openTab(t, friend)
    if (mine === undefined || theirs === undefined) return
    await theirs.go('/links?tab=with-me')
    await theirs.page.getByText('Nothing has been shared with you yet').waitFor()
    await theirs.picture('shared-with-me-empty')
    await mine.go('/links?tab=by-me')
    await mine.page.getByText('You have not shared anything yet').waitFor()
    await mine.checkAccess()
    const dialog = await openShareDialog(mine.page, space.id)
    const field = dialog.getByRole('combobox', { name: 'Share with people' })
    await field.fill('greta')
    await dialog.getByRole('option', { name: /greta\.friend/ }).waitFor()
    await mine.checkAccess()
    await field.press('Enter')
    await dialog.getByRole('button', { name: 'Share', exact: true }).click()
    const permission = dialog.getByLabel('Permission of greta.friend')
    await permission.waitFor()
    assert.deepEqual(await shares(space), [['greta.friend@example.org', 'r']])
    await mine.picture('share-dialog-people')

    const row = theirs.page.getByRole('listitem').filter({ has: theirs.page.getByText(HOSTILE) })
    await row.getByText('Read-only').waitFor()
    await theirs.picture('shared-with-me')
    await theirs.checkAccess()
    await permission.selectOption('admin')
    await row.getByText('Read-only').waitFor({ state: 'detached' })
    assert.deepEqual(await shares(space), [['greta.friend@example.org', 'admin']])
    await dialog.getByRole('button', { name: 'Stop sharing with greta.friend' }).click()
    await theirs.page.getByText('Nothing has been shared with you yet').waitFor()
    assert.deepEqual(await shares(space), [])
    assert.deepEqual([mine.complaints, theirs.complaints], [[], []])
  })

  it('shares with a group, and explains invalid recipients', async (t) => {
    const space = await Workspace.make(suite.server, await suite.server.signUp(), 'Minutes')
    await makeGroup('Board', space.client)
    const tab = await suite.openTab(t, space.client, { colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/links?tab=by-me')
    const dialog = await openShareDialog(page, space.id)
    await dialog.getByRole('tab', { name: 'Groups' }).click()
    await dialog.getByLabel('Share with a group').selectOption({ label: 'Board' })
    await dialog.getByLabel('Permission', { exact: true }).selectOption('rw')
    await dialog.getByRole('button', { name: 'Share', exact: true }).click()
    await dialog.getByLabel('Permission of Board').waitFor()
    await tab.checkAccess()
    await tab.picture('share-dialog-groups-dark')
    assert.deepEqual(await shares(space), [['Board', 'rw']])
    await dialog.getByRole('tab', { name: 'People' }).click()
    // Pasted text need not be an account.
    const field = dialog.getByRole('combobox', { name: 'Share with people' })
    await paste(field, 'nobody@example.org, no-one@example.org')
    await dialog.getByRole('button', { name: 'Share', exact: true }).click()
    await dialog.getByText('There is no account nobody@example.org.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('listitem').filter({ hasText: 'Board' }).first().waitFor()
    await tab.picture('shared-by-me-dark')
    await page.getByRole('button', { name: 'More: Board' }).click()
    await page.getByRole('menuitem', { name: 'Stop sharing' }).click()
    await page.getByText('You have not shared anything yet').waitFor()
    assert.deepEqual(await shares(space), [])
    assert.deepEqual(tab.complaints, [])
  })

  it('limits a share in time, and changes or removes the limit', async (t) => {
    const space = await Workspace.make(suite.server, await suite.server.signUp(), 'Budget')
    const friend = await suite.server.signUp({ email: 'lena.limited@example.org' })
    await shareWith(space.client, space.id, friend, { permission: 'r' })
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const expiry = async () => {
      const { body } = await space.client.get(space.v2('dir/shared_items/'), { p: '/' })
      return body[0].expire_date as string | undefined
    }
    await tab.go('/links?tab=by-me')
    const dialog = await openShareDialog(tab.page, space.id)
    const field = dialog.getByLabel('Expiry of lena.limited')
    await field.selectOption('7')
    await eventually(async () => assert.notEqual(await expiry(), undefined))
    await dialog.getByRole('option', { name: /^expires / }).waitFor({ state: 'attached' })
    await tab.checkAccess()
    await tab.picture('share-dialog-expiry')
    await field.selectOption('date')
    await dialog.getByLabel('Last day').fill('2090-05-17')
    await eventually(async () => assert.match((await expiry()) ?? '', /^2090-05-1[678]/))
    await field.selectOption('never')
    await eventually(async () => assert.equal(await expiry(), undefined))
    assert.deepEqual(tab.complaints, [])
  })

  it('shares a single file, which its recipient opens and nothing beside it', async (t) => {
    const space = await Workspace.make(suite.server, await suite.server.signUp(), 'Letters')
    await uploadFile(space.client, space.id, '/letter.txt', 'Dear Otto')
    await uploadFile(space.client, space.id, '/secret.txt', 'Nobody knows')
    const friend = await suite.server.signUp({ email: 'otto.receiver@example.org' })
    const mine = await suite.openTab(t, space.client)
    const theirs = await suite.openTab(t, friend)
    if (mine === undefined || theirs === undefined) return
    await theirs.go('/shared')
    await theirs.page.getByText('Nothing has been shared with you yet').waitFor()
    await mine.go(`/library/${space.id}`)
    await mine.page.getByRole('button', { name: 'More actions for letter.txt' }).click()
    await mine.page.getByRole('menuitem', { name: 'Share' }).click()
    const dialog = mine.page.getByRole('dialog', { name: /^Share “/ })
    const field = dialog.getByRole('combobox', { name: 'Share with people' })
    await paste(field, 'otto.receiver@example.org, nobody@example.org')
    await dialog.getByRole('button', { name: 'Share', exact: true }).click()
    await dialog.getByLabel('Permission of otto.receiver').waitFor()
    await dialog.getByText('There is no account nobody@example.org.').waitFor()
    await mine.checkAccess()
    await mine.picture('share-dialog-file')
    await theirs.page.getByRole('link', { name: 'letter.txt' }).waitFor()
    await theirs.checkAccess()
    await theirs.picture('shared-with-me-file')
    await theirs.page.getByRole('link', { name: 'letter.txt' }).click()
    await theirs.page.getByText('Dear Otto').waitFor()
    assert.equal(await theirs.page.getByText('secret.txt').count(), 0)
    await dialog.getByRole('button', { name: 'Stop sharing with otto.receiver' }).click()
    await theirs.go('/shared')
    await theirs.page.getByText('Nothing has been shared with you yet').waitFor()
    assert.deepEqual([mine.complaints, theirs.complaints], [[], []])
  })

  it('shares several entries at once, and says who has access to each and why', async (t) => {
    const space = await Workspace.make(suite.server, await suite.server.signUp(), 'Archive')
    for (const name of ['one.txt', 'two.txt']) await uploadFile(space.client, space.id, `/${name}`, name)
    const boss = await suite.server.signUp({ email: 'bea.boss@example.org' })
    await suite.server.signUp({ email: 'tom.several@example.org' })
    await shareWith(space.client, space.id, boss, { permission: 'r' })
    await makeGroup('Archivists', space.client)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/library/${space.id}`)
    // A cell without a link or a button. A click there selects the entry.
    const cell = (name: string) =>
      page
        .getByRole('row')
        .filter({ has: page.getByRole('link', { name }) })
        .getByRole('gridcell')
        .nth(3)
    await cell('one.txt').click()
    await cell('two.txt').click({ modifiers: ['Control'] })
    await page.getByRole('toolbar', { name: /2 / }).getByRole('button', { name: 'Share' }).click()
    const dialog = page.getByRole('dialog', { name: 'Share 2 items' })
    await paste(
      dialog.getByRole('combobox', { name: 'Share with people' }),
      'tom.several@example.org, nobody@example.org',
    )
    await dialog.getByLabel('Share with a group').selectOption({ label: 'Archivists' })
    await dialog.getByRole('button', { name: 'Share', exact: true }).click()
    await dialog.getByText('two.txt → nobody@example.org').waitFor()
    await tab.checkAccess()
    await tab.picture('share-many-dialog')
    for (const p of ['/one.txt', '/two.txt']) {
      const { body } = await space.client.get(`/api/v2.1/repos/${space.id}/file/shared-items/`, { p })
      assert.equal(body.length, 2, p)
    }
    await page.keyboard.press('Escape')
    const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'two.txt' }) })
    await row.getByRole('img', { name: 'Shared with people' }).waitFor()
    await cell('two.txt').click()
    await page.getByRole('button', { name: 'Show details' }).click()
    await page.getByText('Who can see this?').click()
    const why = page.locator('.details-access')
    await why.getByRole('listitem').filter({ hasText: 'bea.boss' }).getByText('through “Archive”').waitFor()
    await why.getByRole('listitem').filter({ hasText: 'tom.several' }).getByText('shared directly').waitFor()
    await why.getByRole('listitem').filter({ hasText: 'Archivists' }).getByText('Members').waitFor()
    await tab.checkAccess()
    await tab.picture('who-has-access')
    assert.deepEqual(tab.complaints, [])
  })

  it('lets a recipient leave a share', async (t) => {
    const space = await Workspace.make(suite.server, undefined, 'Newsletter')
    const friend = await suite.server.signUp()
    await space.client.put(space.v2('dir/shared_items/'), {
      query: { p: '/' },
      form: { share_type: 'user', username: friend.email, permission: 'r' },
    })
    const tab = await suite.openTab(t, friend, PHONE)
    if (tab === undefined) return
    await tab.go('/links?tab=with-me')
    await tab.page.waitForURL('**/app/shared')
    await tab.page.getByRole('button', { name: 'Actions for Newsletter' }).click()
    await tab.page.getByRole('menuitem', { name: 'Leave' }).click()
    await tab.checkAccess()
    await tab.picture('leave-shared-phone')
    await tab.page.getByRole('dialog').getByRole('button', { name: 'Leave', exact: true }).click()
    await tab.page.getByText('Nothing has been shared with you yet').waitFor()
    assert.deepEqual(await shares(space), [])
  })

  it('offers sharing with everyone to server administrators only', async (t) => {
    const admin = await suite.server.signUp({ role: 'admin' })
    const space = await Workspace.make(suite.server, admin, 'House rules')
    const tab = await suite.openTab(t, admin, PHONE)
    if (tab === undefined) return
    await tab.go('/links?tab=by-me')
    const dialog = await openShareDialog(tab.page, space.id)
    await dialog.getByRole('button', { name: 'Share with everyone' }).click()
    await dialog.getByLabel('Permission of Everyone').selectOption('rw')
    await eventually(async () => {
      const { body } = await admin.get('/api/v2.1/shared-repos/')
      assert.deepEqual([body[0].share_type, body[0].share_permission], ['public', 'rw'])
    })
    await tab.picture('share-dialog-phone')
    await dialog.getByRole('button', { name: 'Stop sharing with Everyone' }).click()
    await dialog.getByRole('button', { name: 'Share with everyone' }).waitFor()

    const other = await Workspace.make(suite.server, undefined, 'Mine')
    const plain = await suite.openTab(t, other.client)
    await plain?.go('/links?tab=by-me')
    const second = plain && (await openShareDialog(plain.page, other.id))
    await second?.getByText('Not shared with anyone yet.').waitFor()
    assert.equal(await second?.getByRole('button', { name: 'Share with everyone' }).count(), 0)
  })

  it('offers a reader only links for viewing', async (t) => {
    const space = await Workspace.make(suite.server, undefined, 'Handbook')
    await uploadFile(space.client, space.id, '/one.txt', 'one')
    const reader = await suite.server.signUp()
    await space.client.put(space.v2('dir/shared_items/'), {
      query: { p: '/' },
      form: { share_type: 'user', username: reader.email, permission: 'r' },
    })
    const group = await makeGroup('Readers', reader, space.client)
    await space.client.put(space.v2('dir/shared_items/'), {
      query: { p: '/' },
      form: { share_type: 'group', group_id: group, permission: 'r' },
    })
    const made = await reader.post('/api/v2.1/share-links/', { json: { repo_id: space.id, path: '/' } })
    assert.equal(made.status, 200, made.text)
    const tab = await suite.openTab(t, reader)
    if (tab === undefined) return
    await tab.go('/links')
    await tab.page.getByRole('button', { name: 'More', exact: true }).click()
    await tab.page.getByRole('menuitem', { name: 'Share settings' }).click()
    const dialog = tab.page.getByRole('dialog', { name: 'Share “Handbook”' })
    await dialog.getByRole('tab').first().waitFor()
    assert.deepEqual(await dialog.getByRole('tab').allTextContents(), ['Share link'])
    await dialog.getByRole('button', { name: 'New link' }).click()
    const rights = dialog.getByLabel('Permission', { exact: true }).locator('option')
    assert.deepEqual(await rights.allTextContents(), ['View and download', 'View only'])
    assert.deepEqual(tab.complaints, [])

    // The owner of the library sees the link, and can delete it.
    const theirs = await suite.openTab(t, space.client)
    await theirs?.go('/links?tab=by-me')
    await theirs?.page.getByRole('button', { name: 'Manage' }).click()
    await theirs?.page.getByRole('tab', { name: 'Share link', exact: true }).click()
    await theirs?.page.getByText('Links created by others').waitFor()
    await theirs?.checkAccess()
    await theirs?.picture('share-dialog-others-links')
    await theirs?.page.getByRole('button', { name: 'Delete link to /' }).click()
    await theirs?.page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click()
    await theirs?.page.getByText('Links created by others').waitFor({ state: 'detached' })
    assert.deepEqual((await reader.get('/api/v2.1/share-links/')).body, [])
  })

  it('explains that a guest may not create links', async (t) => {
    const space = await Workspace.make(suite.server, undefined, 'Lobby')
    const guest = await suite.server.signUp({ role: 'guest' })
    const group = await makeGroup('Visitors', space.client, guest)
    await space.client.put(space.v2('dir/shared_items/'), {
      query: { p: '/' },
      form: { share_type: 'group', group_id: group, permission: 'admin' },
    })
    const tab = await suite.openTab(t, guest)
    if (tab === undefined) return
    await tab.go(`/groups/${group}`)
    await tab.page.getByRole('button', { name: 'More actions for Lobby' }).click()
    await tab.page.getByRole('menuitem', { name: 'Share settings' }).click()
    await tab.page.getByRole('tab', { name: 'Share link', exact: true }).click()
    await tab.page.getByRole('button', { name: 'Create share link' }).click()
    await tab.page.getByText('You do not have permission to do this.').waitFor()
    assert.deepEqual((await guest.get('/api/v2.1/share-links/')).body, [])
  })

  it('offers no links into an encrypted library', async (t) => {
    const owner = await suite.server.signUp()
    const form = { repo_name: 'Vault', passwd: 'open sesame' }
    const { body } = await owner.post('/api/v2.1/repos/', { form })
    const tab = await suite.openTab(t, owner)
    if (tab === undefined) return
    await tab.go('/links?tab=by-me')
    const dialog = await openShareDialog(tab.page, body.repo_id)
    await dialog.getByText('This library is encrypted').waitFor()
    assert.deepEqual(await dialog.getByRole('tab').allTextContents(), [
      'People',
      'Groups',
      'Who can see this?',
    ])
    assert.deepEqual(tab.complaints, [])
  })
})
