import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedSpace, shareLink, uploadLinkTo } from '../api/links-support.ts'
import { eventually, namesIn } from '../support/transfer.ts'
import { PHONE, type Tab, webSuite } from './support.ts'

describe('links', () => {
  const suite = webSuite()

  /** Opens the dialog for the target of the first link on the page. */
  async function openDialog({ page }: Tab, name: string) {
    await page.getByRole('button', { name: 'More', exact: true }).first().click()
    await page.getByRole('menuitem', { name: 'Share settings' }).click()
    return page.getByRole('dialog', { name: `Share “${name}”` })
  }

  it('are created with a password and an expiry, copied, shown as a QR code and opened without an account', async (t) => {
    const space = await sharedSpace(suite.server)
    await shareLink(space, '/docs')
    const tab = await suite.openTab(t, space.client, { permissions: ['clipboard-read', 'clipboard-write'] })
    const stranger = await suite.openTab(t)
    if (tab === undefined || stranger === undefined) return
    const { page } = tab
    await tab.go('/links')
    const dialog = await openDialog(tab, 'docs')
    await dialog.getByRole('tab', { name: 'Share link', exact: true }).click()
    await dialog.getByRole('button', { name: 'New link' }).click()
    await dialog.getByLabel('Permission', { exact: true }).selectOption('upload')
    await dialog.getByLabel('Expires').selectOption('7')
    await dialog.getByLabel('Require a password').check()
    const password = await dialog.getByLabel('Password', { exact: true }).inputValue()
    assert.match(password, /^[a-z2-9]{14}$/)
    await dialog.getByLabel('Note').fill('for the caterer <b>now</b>')
    await tab.picture('share-dialog-new-link')
    await dialog.getByRole('button', { name: 'Create share link' }).click()
    const card = dialog.getByRole('listitem').filter({ hasText: 'for the caterer <b>now</b>' })
    await card.getByText(/^expires /).waitFor()
    await card.getByRole('button', { name: 'Copy', exact: true }).click()
    await card.getByRole('button', { name: 'Copied' }).waitFor()
    const address = await page.evaluate<string>('navigator.clipboard.readText()')
    await card.getByRole('button', { name: 'Show QR code' }).click()
    await card.getByRole('img', { name: `QR code for ${address}` }).waitFor()
    await tab.checkAccess()
    await tab.picture('share-dialog-link')

    const { body: links } = await space.client.get('/api/v2.1/share-links/')
    const made = links.find(({ link }: { link: string }) => link === address)
    assert.deepEqual(
      [made.password, made.permissions.can_upload, made.description],
      [password, true, 'for the caterer <b>now</b>'],
    )
    const days = (Date.parse(made.expire_date) - Date.now()) / 86_400_000
    assert.ok(days > 6.9 && days < 7.1, made.expire_date)

    await stranger.page.goto(address)
    await stranger.checkAccess()
    await stranger.picture('link-password')
    await stranger.page.getByLabel('Password').fill('not this one')
    await stranger.page.keyboard.press('Enter')
    await stranger.page.getByRole('alert').waitFor()
    await stranger.page.getByLabel('Password').fill(password)
    await stranger.page.keyboard.press('Enter')
    await stranger.page.getByRole('link', { name: 'a.txt' }).first().waitFor()
    await stranger.checkAccess()
    await stranger.picture('link-folder')
    assert.deepEqual(tab.complaints, [])
  })

  it('are disabled, enabled, changed and deleted', async (t) => {
    const space = await sharedSpace(suite.server)
    const { link, token } = await shareLink(space, '/docs/a.txt')
    const tab = await suite.openTab(t, space.client, { colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    const more = (name: string) =>
      page
        .getByRole('button', { name: 'More', exact: true })
        .click()
        .then(() => page.getByRole('menuitem', { name }).click())
    const status = async () => (await fetch(link)).status
    await tab.go('/links')
    await page.getByText('0 views').waitFor()
    assert.equal(await status(), 200)
    await more('Disable')
    await page.getByText('disabled', { exact: true }).waitFor()
    assert.equal(await status(), 404)
    await tab.checkAccess()
    await tab.picture('links-dark')
    await more('Enable')
    await page.getByText('Link enabled.').waitFor()
    assert.equal(await status(), 200)

    await more('Edit link')
    const editing = page.getByRole('dialog', { name: 'Edit link' })
    await editing.getByLabel('Permission', { exact: true }).selectOption('view')
    await editing.getByLabel('Expires').selectOption('date')
    // Typed as the language writes it, then moved by a day in the calendar by keyboard.
    const day = editing.getByLabel('Last day')
    await day.fill('30/12/2099')
    await editing.getByRole('button', { name: 'Choose a date' }).click()
    const calendar = tab.page.getByRole('dialog', { name: 'Choose a date' })
    await calendar.getByRole('grid', { name: 'December 2099' }).waitFor()
    await calendar.locator('[data-date="2099-12-30"]:focus').waitFor()
    await tab.checkAccess()
    await tab.picture('calendar')
    await tab.page.keyboard.press('ArrowRight')
    await calendar.locator('[data-date="2099-12-31"]:focus').waitFor()
    await tab.page.keyboard.press('Enter')
    await calendar.waitFor({ state: 'hidden' })
    await eventually(async () => assert.equal(await day.inputValue(), '31/12/2099'))
    await tab.checkAccess()
    await editing.getByLabel('Require a password').check()
    await editing.getByLabel('Password', { exact: true }).fill('walnut and elder')
    await editing.getByRole('button', { name: 'Save' }).click()
    await page.getByText('expires 31 Dec 2099').waitFor()
    const { body } = await space.client.get(`/api/v2.1/share-links/${token}/`)
    assert.deepEqual(
      [body.permissions.can_download, body.expire_date.slice(0, 4), body.password],
      [false, '2099', 'walnut and elder'],
    )

    // The focus returns to where it was.
    await more('Delete')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.locator('button[aria-label="More"]:focus').waitFor()

    await more('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No share links yet').waitFor()
    assert.equal(await status(), 404)
    assert.deepEqual(tab.complaints, [])
  })

  it('for uploads accept files without an account, on a phone', async (t) => {
    const space = await sharedSpace(suite.server)
    await uploadLinkTo(space, '/docs/sub')
    const tab = await suite.openTab(t, space.client, PHONE)
    const stranger = await suite.openTab(t, undefined, { ...PHONE, colorScheme: 'dark', locale: 'de-DE' })
    if (tab === undefined || stranger === undefined) return
    await tab.go('/links?tab=upload')
    const address = await tab.page.getByLabel('Link URL').inputValue()
    await tab.checkAccess()
    await tab.picture('upload-links-phone')
    const dialog = await openDialog(tab, 'sub')
    await dialog.getByRole('tab', { name: 'Upload link' }).click()
    await dialog.getByLabel('Link URL').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'New link' }).count(), 0)
    await tab.picture('share-dialog-upload-phone')
    await tab.checkAccess()

    await stranger.page.goto(address)
    await stranger.checkAccess()
    await stranger.page
      .locator('input[type=file]')
      .first()
      .setInputFiles({
        name: 'from afar.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('hello'),
      })
    await stranger.page
      .getByRole('listitem')
      .filter({ hasText: 'from afar.txt' })
      .getByText('Hochgeladen')
      .waitFor()
    await stranger.picture('link-upload-phone-dark')
    assert.ok((await namesIn(space.client, space.id, '/docs/sub')).includes('from afar.txt'))
    assert.deepEqual(tab.complaints, [])
  })

  it('are found by search, and those without a target are cleaned up', async (t) => {
    const space = await sharedSpace(suite.server)
    await shareLink(space, '/docs/a.txt')
    await shareLink(space, '/secret.txt', { description: 'quarterly' })
    const gone = await space.client.delete(space.v2('file/'), { query: { p: '/secret.txt' } })
    assert.equal(gone.status, 200, gone.text)
    const tab = await suite.openTab(t, space.client)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/links')
    await page.getByText('broken', { exact: true }).waitFor()
    await page.getByLabel('Filter links').fill('QUARTERLY')
    await page.getByText('a.txt', { exact: true }).waitFor({ state: 'detached' })
    await tab.picture('links-found')
    await page.getByLabel('Filter links').fill('')
    await page.getByRole('button', { name: 'Delete 1 broken link' }).click()
    await page.getByText('broken', { exact: true }).waitFor({ state: 'detached' })
    await page.getByText('a.txt', { exact: true }).waitFor()
    const { body } = await space.client.get('/api/v2.1/share-links/')
    assert.deepEqual(
      body.map(({ path }: { path: string }) => path),
      ['/docs/a.txt'],
    )
    assert.deepEqual(tab.complaints, [])
  })
})
