import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import type { Client } from '../support/client.ts'
import { eventually, namesIn, uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'
import { dropFiles } from './upload-support.ts'

const HOSTILE = '<img src=x onerror=alert(1)> \u202egnp.exe & "quotes" 🏖️'

describe('the library list', () => {
  const suite = webSuite()

  async function listed(client: Client): Promise<{ repo_id: string; repo_name: string }[]> {
    return (await client.get('/api/v2.1/repos/')).body.repos
  }

  it('invites an account without libraries to create the first', async (t) => {
    const ann = await suite.server.signUp()
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByRole('heading', { name: 'Create your first library' }).waitFor()
    await page.getByRole('button', { name: 'Upload files' }).waitFor()
    await tab.checkAccess()
    await tab.picture('libraries-empty')
    await page.getByRole('button', { name: 'New library' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'New library' })
    assert.ok(await dialog.getByRole('button', { name: 'Create' }).isDisabled())
    await dialog.getByLabel('Name').fill(`  ${HOSTILE} `)
    await tab.checkAccess()
    await dialog.getByRole('button', { name: 'Create' }).click()
    await page.waitForURL('**/app/library/*')
    const [made] = await listed(ann)
    assert.equal(made?.repo_name, HOSTILE)
    assert.ok(page.url().endsWith(`/library/${made?.repo_id}`))
    await page.goBack()
    await page.getByRole('link', { name: 'gnp.exe' }).waitFor()
    // The address of an earlier version.
    await tab.go('/?show=shared')
    await page.waitForURL('**/app/shared')
    await page.getByText('Nothing has been shared with you yet').waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('creates a library from selected files', async (t) => {
    const ann = await suite.server.signUp()
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Upload files' }).click()
    const file = { name: 'first.txt', mimeType: 'text/plain', buffer: Buffer.from('first') }
    await (await chooser).setFiles(file)
    await page.waitForURL('**/library/*')
    const [made] = await listed(ann)
    assert.equal(made?.repo_name, 'My Library')
    await eventually(async () => assert.deepEqual(await namesIn(ann, made?.repo_id ?? ''), ['first.txt']))
    assert.deepEqual(tab.complaints, [])
  })

  it('accepts dropped files: into the first library, or into a chosen one', async (t) => {
    const ann = await suite.server.signUp()
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByText('Create your first library').waitFor()
    await dropFiles(page, [{ name: 'first.txt', text: 'first' }])
    await page.waitForURL('**/library/*')
    const [made] = await listed(ann)
    await eventually(async () => assert.deepEqual(await namesIn(ann, made?.repo_id ?? ''), ['first.txt']))

    const plans = await ann.createLibrary('Plans')
    await page.getByRole('link', { name: 'Libraries' }).first().click()
    await page.getByRole('link', { name: 'Plans' }).waitFor()
    await dropFiles(page, [
      { name: 'second.txt', text: 'second' },
      { name: 'third.txt', text: 'third' },
    ])
    const dialog = page.getByRole('dialog', { name: 'Upload 2 items to…' })
    await dialog.getByRole('treeitem', { name: 'Plans' }).click()
    await tab.checkAccess()
    await tab.picture('libraries-dropped')
    await dialog.getByRole('button', { name: 'Upload here' }).click()
    await page.waitForURL(`**/library/${plans}`)
    await eventually(async () => assert.deepEqual(await namesIn(ann, plans), ['second.txt', 'third.txt']))
    assert.deepEqual(tab.complaints, [])
  })

  it('explains an invalid name', async (t) => {
    const ann = await suite.server.signUp()
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByRole('button', { name: 'New library' }).first().click()
    await page.getByRole('dialog').getByLabel('Name').fill('a/b')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('dialog').getByRole('alert').getByText('This name is not allowed.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.deepEqual(await listed(ann), [])
  })

  it('sorts, filters, stars, watches and renames', async (t) => {
    const ann = await suite.server.signUp()
    const plans = await ann.createLibrary('Plans')
    await uploadFile(ann, plans, '/big.bin', Buffer.alloc(300_000))
    await ann.createLibrary('Archive 10')
    await ann.createLibrary('Archive 9')
    await ann.createLibrary(HOSTILE)
    await ann.createLibrary('long '.repeat(50).trim())
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    const names = () => page.locator('.libraries-title').allTextContents()
    await page.getByRole('link', { name: 'Plans' }).waitFor()
    await page.getByLabel('Sort by').selectOption('Name, A to Z')
    await eventually(async () => assert.equal((await names()).at(-1), 'Plans'))
    await page.getByText('Only you').first().waitFor()
    await tab.picture('libraries-cards')
    await page.getByRole('button', { name: 'Show as list' }).click()
    await page.getByLabel('Sort by').selectOption('Newest first')
    await page.getByRole('button', { name: 'Name' }).click()
    await eventually(async () =>
      assert.deepEqual(
        (await names()).filter((name) => /^(?:Arch|Plan)/.test(name)),
        ['Archive 9', 'Archive 10', 'Plans'],
      ),
    )
    await page.getByRole('button', { name: 'Size' }).click()
    await eventually(async () => assert.equal((await names())[0], 'Plans'))
    assert.equal(
      await page.getByRole('columnheader', { name: 'Size' }).getAttribute('aria-sort'),
      'descending',
    )
    await page.reload()
    await page.getByRole('link', { name: 'Plans' }).waitFor()
    assert.equal((await names())[0], 'Plans')

    await page.getByLabel('Filter by name').fill('ARCH')
    await eventually(async () => assert.equal((await names()).length, 2))
    await page.getByLabel('Filter by name').fill('nowhere')
    await page.getByText('No matching libraries').waitFor()
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('link', { name: 'Plans' }).waitFor()

    await page.getByRole('button', { name: 'Star Plans' }).click()
    await page.getByRole('button', { name: 'Remove star from Plans' }).waitFor()
    await eventually(async () => {
      const { body } = await ann.get('/api/v2.1/starred-items/')
      assert.deepEqual(
        body.starred_item_list.map((one: { repo_id: string }) => one.repo_id),
        [plans],
      )
    })
    await choose(page, 'Plans', 'Watch')
    await page.getByText('You will be notified of changes in Plans').waitFor()
    assert.equal((await ann.get(`/api/v2.1/repos/${plans}/`)).body.monitored, true)
    await tab.checkAccess()
    await tab.picture('libraries')

    await choose(page, 'Plans', 'Rename')
    const dialog = page.getByRole('dialog', { name: 'Rename library' })
    await dialog.getByLabel('Name').fill('Better plans')
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await page.getByRole('link', { name: 'Better plans' }).waitFor()
    assert.equal((await ann.get(`/api/v2.1/repos/${plans}/`)).body.repo_name, 'Better plans')
    assert.deepEqual(tab.complaints, [])
  })

  it('deletes, undoes, restores and purges', async (t) => {
    const ann = await suite.server.signUp()
    const id = await ann.createLibrary('Plans')
    await ann.createLibrary('Other')
    await ann.createLibrary('Third')
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    const deleted = async () =>
      (await ann.get('/api/v2.1/deleted-repos/')).body.map((one: { repo_id: string }) => one.repo_id)
    const remove = async (name: string) => {
      await choose(page, name, 'Delete')
      const dialog = page.getByRole('dialog', { name: 'Delete this library?' })
      await dialog.getByText(name, { exact: true }).waitFor()
      return dialog
    }
    await tab.go('/')
    const dialog = await remove('Plans')
    await tab.checkAccess()
    await tab.picture('libraries-delete')
    await dialog.getByRole('button', { name: 'Delete library' }).click()
    await page.getByText('Plans deleted').waitFor()
    assert.deepEqual(await deleted(), [id])
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Plans restored').waitFor()
    assert.deepEqual(await deleted(), [])
    await page.getByRole('link', { name: 'Plans' }).waitFor()

    for (const name of ['Plans', 'Other', 'Third']) {
      await (await remove(name)).getByRole('button', { name: 'Delete library' }).click()
      await page.getByText(`${name} deleted`).waitFor()
    }
    await page.getByRole('link', { name: 'Trash', exact: true }).click()
    await page.getByRole('link', { name: 'Deleted libraries' }).click()
    const row = page.getByRole('row', { name: 'Plans' })
    await row.waitFor()
    await tab.checkAccess()
    await tab.picture('deleted')
    await row.getByRole('button', { name: 'Restore' }).click()
    await page.getByText('Plans restored').waitFor()
    await row.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Delete permanently: Other' }).click()
    const purging = page.getByRole('dialog', { name: 'Delete permanently?' })
    await purging.getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByText('Other permanently deleted').waitFor()
    assert.equal((await deleted()).length, 1)
    await page.getByRole('button', { name: 'Delete all permanently' }).click()
    await page.getByRole('dialog').getByText('1 library with all files').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete all permanently' }).click()
    await page.getByText('No deleted libraries').waitFor()
    assert.deepEqual(await deleted(), [])
    assert.deepEqual(
      (await listed(ann)).map(({ repo_id }) => repo_id),
      [id],
    )
    assert.deepEqual(tab.complaints, [])
  })

  it('has library settings: retention, status and notifications', async (t) => {
    const ann = await suite.server.signUp()
    const id = await ann.createLibrary('Plans')
    await uploadFile(ann, id, '/big.bin', Buffer.alloc(2_500_000, 'x'))
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await choose(page, 'Plans', 'Settings')
    const dialog = page.getByRole('dialog', { name: 'Settings of Plans' })
    // Not `check`, which expects another state at once: the box shows what the server has stored.
    await dialog.getByLabel('Notify me when others change something').click()
    await eventually(async () => assert.equal((await ann.get(`/api/v2.1/repos/${id}/`)).body.monitored, true))
    await dialog.getByText('Total').waitFor()
    await dialog.getByLabel('History').selectOption('days')
    await dialog.getByLabel('Days').fill('0')
    await dialog.getByText('Enter a whole number of days').waitFor()
    await dialog.getByLabel('Days').fill('45')
    await tab.checkAccess()
    await tab.picture('library-settings')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('History setting saved').waitFor()
    assert.equal((await ann.get(`/api2/repos/${id}/history-limit/`)).body.keep_days, 45)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.deepEqual(tab.complaints, [])
  })

  it('shows new shares live, and offers to leave them', async (t) => {
    const [ann, bob] = [await suite.server.signUp(), await suite.server.signUp()]
    await ann.put('/api/v2.1/user/', { form: { name: 'Ann Archer' } })
    const id = await ann.createLibrary('From Ann')
    const tab = await suite.openTab(t, bob)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/shared')
    await page.getByText('Nothing has been shared with you yet').waitFor()
    await shareWith(ann, id, { share_type: 'user', username: bob.email, permission: 'r' })
    const card = page.getByRole('list', { name: 'From people' }).getByRole('listitem')
    await card.getByText('From Ann').waitFor()
    await card.getByText('Ann Archer').last().waitFor()
    await card.getByText('Read-only').waitFor()

    const made = await ann.post('/api/v2.1/groups/', { form: { name: 'Planners' } })
    await ann.post(`/api/v2.1/groups/${made.body.id}/members/`, { form: { email: bob.email } })
    const team = await ann.createLibrary('For the team')
    await shareWith(ann, team, { share_type: 'group', group_id: made.body.id, permission: 'rw' })
    await page.getByRole('heading', { name: 'Planners' }).waitFor()
    await page.getByRole('link', { name: 'For the team' }).waitFor()
    await tab.checkAccess()
    await tab.picture('shared-with-me')

    await choose(page, 'From Ann', 'Leave')
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await page.getByText('You left From Ann').waitFor()
    await card.waitFor({ state: 'detached' })
    assert.equal((await bob.get(`/api/v2.1/repos/${id}/`)).status, 403)
    assert.deepEqual(tab.complaints, [])
  })

  it('transfers a library to another account', async (t) => {
    const [ann, bob] = [await suite.server.signUp(), await suite.server.signUp()]
    const id = await ann.createLibrary('Plans')
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await choose(page, 'Plans', 'Transfer ownership')
    const dialog = page.getByRole('dialog', { name: 'Transfer ownership' })
    await dialog.getByLabel('New owner').fill('nobody@example.org')
    await dialog.getByRole('button', { name: 'Transfer ownership' }).click()
    await dialog.getByText('There is no account nobody@example.org.').waitFor()
    await dialog.getByLabel('New owner').fill(bob.email.slice(0, -4))
    await dialog.locator(`option[value="${bob.email}"]`).waitFor({ state: 'attached' })
    await tab.checkAccess()
    await dialog.getByLabel('New owner').fill(bob.email)
    await dialog.getByRole('button', { name: 'Transfer ownership' }).click()
    await page.getByText('Plans transferred').waitFor()
    await page.getByText('Create your first library').waitFor()
    assert.deepEqual((await bob.get(`/api2/repos/${id}/owner/`)).body, { owner: bob.email })
  })

  it('lists starred items for quick access', async (t) => {
    const ann = await suite.server.signUp()
    const id = await ann.createLibrary('Plans')
    await uploadFile(ann, id, '/2026/summer.md', '# Summer')
    await uploadFile(ann, id, '/gone.txt', 'soon')
    for (const path of ['/', '/2026/', '/2026/summer.md', '/gone.txt']) {
      await ann.post('/api/v2.1/starred-items/', { form: { repo_id: id, path } })
    }
    await ann.delete(`/api2/repos/${id}/file/`, { query: { p: '/gone.txt' } })
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/starred')
    const link = page.getByRole('link', { name: 'summer.md' })
    assert.match((await link.getAttribute('href')) ?? '', new RegExp(`/app/view/${id}\\?p=/2026/summer.md$`))
    await page.getByRole('row', { name: 'gone.txt' }).getByText('No longer available').last().waitFor()
    assert.equal(await page.getByRole('link', { name: 'gone.txt' }).count(), 0)
    await tab.checkAccess()
    await tab.picture('starred')
    for (const name of ['summer.md', 'gone.txt', '2026', 'Plans']) {
      await page.getByRole('button', { name: `Remove star from ${name}` }).click()
    }
    await page.getByText('Nothing is starred yet').waitFor()
    await eventually(async () =>
      assert.deepEqual((await ann.get('/api/v2.1/starred-items/')).body.starred_item_list, []),
    )
    assert.deepEqual(tab.complaints, [])
  })

  it('fits on a phone, in dark mode and in other languages', async (t) => {
    const ann = await suite.server.signUp()
    const id = await ann.createLibrary('Urlaubspläne')
    await ann.createLibrary(HOSTILE)
    await ann.createLibrary('long'.repeat(60))
    await ann.post('/api/v2.1/repos/', { form: { repo_name: 'Tagebuch', passwd: 'geheim' } })
    await ann.post('/api/v2.1/starred-items/', { form: { repo_id: id, path: '/' } })
    const tab = await suite.openTab(t, ann, { ...PHONE, colorScheme: 'dark', locale: 'de-DE' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByRole('link', { name: 'Urlaubspläne' }).waitFor()
    await page.getByLabel('Sortieren nach').selectOption({ label: 'Name, A bis Z' })
    await tab.checkAccess()
    await tab.picture('libraries-phone-dark')
    await fitsWidth(page)
    await page.getByRole('button', { name: 'Aktionen für Urlaubspläne' }).click()
    await page.getByRole('menuitem', { name: 'Einstellungen' }).click()
    await page.getByText('Insgesamt').waitFor()
    await tab.picture('library-settings-phone-dark')
    await page.keyboard.press('Escape')
    for (const [address, name] of [
      ['/starred', 'starred-phone-dark'],
      ['/deleted', 'deleted-phone-dark'],
    ] as const) {
      if (name.startsWith('deleted')) await ann.delete(`/api/v2.1/repos/${id}/`)
      await tab.go(address)
      await page.locator('tbody tr').first().waitFor()
      await fitsWidth(page)
      await tab.picture(name)
    }
    assert.deepEqual(tab.complaints, [])
  })

  it('loads once the server is available again', async (t) => {
    const ann = await suite.server.signUp()
    await ann.createLibrary('Plans')
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await page.route('**/api/v2.1/repos/', (route) => route.abort())
    await tab.go('/')
    await page.getByText('Cannot reach the server.').waitFor()
    await page.unroute('**/api/v2.1/repos/')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'Plans' }).waitFor()
  })

  it('is operable by keyboard alone', async (t) => {
    const ann = await suite.server.signUp()
    const id = await ann.createLibrary('Plans')
    const tab = await suite.openTab(t, ann, { colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByRole('button', { name: 'Actions for Plans' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'Open' }).waitFor()
    await tab.picture('libraries-menu-dark')
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Plans' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/library/${id}`)
  })
})

async function choose(page: Page, library: string, entry: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${library}` }).click()
  await page.getByRole('menuitem', { name: entry, exact: true }).click()
}

async function shareWith(owner: Client, id: string, form: Record<string, string>): Promise<void> {
  const reply = await owner.put(`/api2/repos/${id}/dir/shared_items/`, { query: { p: '/' }, form })
  assert.equal(reply.status, 200, reply.text)
}

describe('shares that wait for acceptance', () => {
  const suite = webSuite({ env: { CARREL_SHARE_ACCEPTANCE: 'new-givers' } })

  it('are accepted and declined where shares are listed', async (t) => {
    const [ann, bob, eve] = [
      await suite.server.signUp(),
      await suite.server.signUp(),
      await suite.server.signUp(),
    ]
    const share = async (client: Client, name: string) => {
      const form = { share_type: 'user', username: ann.email, permission: 'rw' }
      const id = await client.createLibrary(name)
      await client.put(`/api2/repos/${id}/dir/shared_items/`, { query: { p: '/' }, form })
    }
    for (const name of ['Plans', 'Pictures']) await share(bob, name)
    await share(eve, HOSTILE)
    const group = await eve.post('/api/v2.1/groups/', { form: { name: 'Club' } })
    await eve.post(`/api/v2.1/groups/${group.body.id}/members/`, { form: { email: ann.email } })
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/shared')
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor()
    await page.getByText('Nothing has been shared with you yet').waitFor()
    await tab.checkAccess()
    await tab.picture('shares-held')
    await page.setViewportSize(PHONE.viewport)
    await fitsWidth(page)
    await tab.picture('shares-held-phone')
    await page.getByRole('button', { name: /^Accept: .*Pictures/ }).click()
    await page.getByRole('link', { name: 'Plans' }).waitFor()
    await page.getByRole('button', { name: 'Decline: Club' }).click()
    await page.getByRole('button', { name: /^Decline: <img/ }).click()
    await page.getByRole('heading', { name: 'Waiting for you' }).waitFor({ state: 'detached' })
    const held = await ann.get('/api/v2.1/held-shares/')
    assert.deepEqual(held.body, { held_shares: [], held_groups: [] })
    const names = (await listedBy(ann)).map((one) => one.repo_name).sort()
    assert.deepEqual(names, ['Pictures', 'Plans'])
    assert.deepEqual(tab.complaints, [])
  })
})

async function listedBy(client: Client): Promise<{ repo_name: string }[]> {
  return (await client.get('/api/v2.1/repos/')).body.repos
}
