import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Workspace } from '../api/folders-support.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

describe('the home page and the trash of all libraries', () => {
  const suite = webSuite()

  async function withFiles(): Promise<Workspace> {
    const space = await Workspace.make(suite.server)
    const { client, id } = space
    await uploadFile(client, id, '/plan.md', '# Plan')
    await uploadFile(client, id, '/old.txt', 'old')
    await client.post('/api/v2.1/starred-items/', { form: { repo_id: id, path: '/plan.md' } })
    await client.delete(`/api2/repos/${id}/file/`, { query: { p: '/old.txt' } })
    return space
  }

  it('lead to recent, opened and starred files, and restore deleted ones', async (t) => {
    const space = await withFiles()
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go(`/view/${space.id}?p=/plan.md`)
    await page.getByRole('heading', { name: 'Plan', exact: true }).waitFor()
    await tab.go('/home')
    for (const title of ['Continue where you left off', 'Recent files', 'Starred']) {
      await page.getByRole('heading', { name: title }).waitFor()
    }
    await page.getByRole('link', { name: 'plan.md' }).nth(2).waitFor()
    assert.equal(await page.getByRole('link', { name: 'old.txt' }).count(), 0)
    await tab.picture('home')

    await page.getByRole('link', { name: 'Trash', exact: true }).click()
    await page.getByRole('button', { name: 'Restore old.txt' }).waitFor()
    await tab.picture('trash-all')
    await page.getByRole('button', { name: 'Restore old.txt' }).click()
    await page.getByText('1 item restored.').waitFor()
    await page.getByText('The trash is empty').waitFor()
    assert.deepEqual(tab.complaints, [])
  })

  it('list what the user opened or changed lately, and nothing that is gone or no longer shared', async (t) => {
    const space = await withFiles()
    const friend = await suite.server.signUp()
    const shares = `/api2/repos/${space.id}/dir/shared_items/`
    const to = { share_type: 'user', username: friend.email }
    await space.client.put(shares, { query: { p: '/' }, form: { ...to, permission: 'r' } })
    const own = await friend.createLibrary('Mine')
    await uploadFile(friend, own, '/draft.txt', 'a draft')
    await uploadFile(friend, own, '/seen.txt', 'what was seen')
    const tab = await suite.openTab(t, friend)
    if (tab === undefined) return
    const { page } = tab
    const list = page.getByRole('list', { name: 'Recent' })
    const names = async () => list.locator('.home-name').allInnerTexts()
    await tab.go(`/view/${own}?p=/seen.txt`)
    await page.getByText('what was seen').first().waitFor()
    await tab.go(`/view/${space.id}?p=/plan.md`)
    await page.getByRole('heading', { name: 'Plan', exact: true }).waitFor()
    await tab.go('/recent')
    await list.waitFor()
    assert.deepEqual(await names(), ['plan.md', 'seen.txt', 'draft.txt'])
    const about = await list.getByRole('listitem').allInnerTexts()
    assert.match(about[0] ?? '', /opened/)
    assert.match(about[2] ?? '', /Mine[^]*changed/)
    await tab.picture('recent')
    await tab.checkAccess()
    await tab.go('/home')
    await page.getByRole('heading', { name: 'Continue where you left off' }).waitFor()
    const opened = page
      .locator('.home-cards')
      .first()
      .getByRole('link', { name: /plan\.md/ })
    await opened.waitFor()

    await space.client.delete(shares, { query: { p: '/', ...to } })
    await friend.delete(`/api2/repos/${own}/file/`, { query: { p: '/draft.txt' } })
    await tab.go('/recent')
    await list.waitFor()
    assert.deepEqual(await names(), ['seen.txt'])
    await tab.go('/home')
    await page.getByRole('heading', { name: 'Continue where you left off' }).waitFor()
    assert.equal(await page.getByText('plan.md').count(), 0)
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').getByText('seen.txt').first().waitFor()
    assert.equal(await page.getByText('plan.md').count(), 0)
    assert.deepEqual(tab.complaints, [])
  })

  it('lead to a single file that was shared, until the share ends', async (t) => {
    const space = await withFiles()
    const friend = await suite.server.signUp()
    const items = `/api/v2.1/repos/${space.id}/file/shared-items/`
    const to = { share_type: 'user', username: friend.email }
    await space.client.put(items, { query: { p: '/plan.md' }, form: { ...to, permission: 'r' } })
    await eventually(async () => {
      assert.equal((await friend.get('/api2/search/', { q: 'plan' })).body.total, 1)
    })
    const tab = await suite.openTab(t, friend, { colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/search?q=plan')
    await page
      .getByRole('link', { name: /plan\.md/ })
      .first()
      .waitFor()
    await tab.picture('search-shared-file')
    await tab.go('/home')
    await page.getByRole('heading', { name: 'Recently shared with me' }).waitFor()
    await tab.picture('home-shared-file')
    await page
      .getByRole('link', { name: /plan\.md/ })
      .first()
      .click()
    await page.getByRole('heading', { name: 'Plan', exact: true }).waitFor()
    await space.client.delete(items, { query: { p: '/plan.md', ...to } })
    const listed = page.waitForResponse(/shared-files/)
    await tab.go('/home')
    await listed
    await page.getByRole('heading', { name: 'Recently shared with me' }).waitFor({ state: 'detached' })
    await tab.go('/search?q=plan')
    await page.getByText('No results').first().waitFor()
  })

  it('lead a new administrator through the setup, until it is hidden on all devices', async (t) => {
    const admin = await suite.server.signUp({ role: 'admin' })
    const tab = await suite.openTab(t, admin)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    const setup = page.getByRole('region', { name: 'Set up your server' })
    // The tests reach the server at an address that works only on this machine.
    await setup.getByText('CARREL_PUBLIC_URL=https://files.example.org').waitFor()
    await setup.getByText('Not scheduled').waitFor()
    await setup.getByText('2 of 5 done').first().waitFor()
    await tab.checkAccess()
    await tab.picture('setup')
    await setup.getByRole('button', { name: 'Skip' }).click()
    await setup.getByText('3 of 5 done').first().waitFor()
    await setup.getByText('CARREL_BACKUP_TARGET=/mnt/backup').waitFor()
    await setup.getByRole('button', { name: 'Hide the setup list' }).click()
    await page.getByRole('region', { name: 'Welcome to Carrel' }).waitFor()

    const elsewhere = await suite.openTab(t, admin, { ...PHONE, colorScheme: 'dark' })
    if (elsewhere === undefined) return
    await elsewhere.go('/home')
    await elsewhere.page.getByRole('region', { name: 'Welcome to Carrel' }).waitFor()
    assert.equal(await elsewhere.page.getByRole('region', { name: 'Set up your server' }).count(), 0)
    await elsewhere.go('/admin')
    await elsewhere.page.getByRole('link', { name: 'Open the setup list' }).click()
    await elsewhere.page.getByRole('region', { name: 'Set up your server' }).waitFor()
    await elsewhere.page.getByText('3 of 5 done').first().waitFor()
    await fitsWidth(elsewhere.page)
    await elsewhere.checkAccess()
    await elsewhere.picture('setup-phone-dark')
    assert.deepEqual([...tab.complaints, ...elsewhere.complaints], [])
  })

  it('introduce a new user to files and clients, once', async (t) => {
    const user = await suite.server.signUp()
    const tab = await suite.openTab(t, user)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/home')
    const welcome = page.getByRole('region', { name: 'Welcome to Carrel' })
    await welcome.getByRole('button', { name: 'Choose files' }).waitFor()
    await welcome.getByText('Sync with your computer').click()
    await welcome.getByText(suite.server.url, { exact: true }).waitFor()
    await welcome.getByText('Use it on your phone').click()
    await welcome.getByRole('img', { name: 'QR code of this server' }).waitFor()
    await welcome.getByText('Connect rclone').click()
    await welcome.getByText(`url=${suite.server.url} user=${user.email}`).waitFor()
    await tab.checkAccess()
    await tab.picture('welcome')
    const empty = page.getByRole('heading', { name: 'Welcome', exact: true })
    assert.equal(await empty.count(), 0, 'the card says it')
    await welcome.getByRole('button', { name: 'Hide the welcome card' }).click()
    await welcome.waitFor({ state: 'detached' })
    await page.reload()
    await empty.waitFor()
    assert.equal(await welcome.count(), 0)
    const { body } = await user.get('/api/v2.1/onboarding/')
    assert.deepEqual(body.dismissed, ['welcome'])
    assert.deepEqual(tab.complaints, [])
  })

  it('fit on a phone in dark colors', async (t) => {
    const space = await withFiles()
    const tab = await suite.openTab(t, space.client, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    await tab.go('/home')
    await tab.page.getByRole('link', { name: 'plan.md' }).first().waitFor()
    await fitsWidth(tab.page)
    await tab.go('/trash')
    await tab.page.getByRole('button', { name: 'Restore old.txt' }).waitFor()
    await fitsWidth(tab.page)
  })
})
