import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import sharp from 'sharp'
import { Client } from '../support/client.ts'
import { eventually, uploadFile } from '../support/transfer.ts'
import { fitsWidth, PHONE, webSuite } from './support.ts'

const PASSWORD = 'a long password'
describe('the account page', () => {
  const suite = webSuite()

  it('shows the address for WebDAV and sets a separate password', async (t) => {
    const ann = await suite.server.signUp()
    const { accounts, webdavSecrets } = suite.server.running.services
    const account = await accounts.get(ann.email)
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/account/webdav')
    await page.getByText('No WebDAV password is set.').waitFor()
    assert.equal(await page.getByLabel('Address').inputValue(), `${suite.server.url}/dav/`)
    await page.getByLabel('New WebDAV password').fill('short')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('Password is too short.').waitFor()
    await tab.checkAccess()
    await page.getByLabel('New WebDAV password').fill('Usable-Secret1')
    await page.getByRole('button', { name: 'Set password' }).click()
    await page.getByText('A WebDAV password is set.').waitFor()
    assert.ok(await webdavSecrets.isSet(account))
    await page.getByRole('button', { name: 'Remove password' }).click()
    await page.getByText('No WebDAV password is set.').waitFor()
    assert.ok(!(await webdavSecrets.isSet(account)))
  })

  it('edits the profile and the picture', async (t) => {
    const ann = await suite.server.signUp()
    const id = await ann.createLibrary('Plans')
    await uploadFile(ann, id, '/big.bin', Buffer.alloc(1_200_000, 'x'))
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/')
    await page.getByRole('button', { name: 'Account' }).click()
    await page.getByRole('menuitem', { name: 'Account' }).click()
    await page.getByLabel('Name').fill('a/b')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText("Name should not include '/'.").waitFor()
    await page.getByLabel('Name').fill('Ann <b>Archer<b> 🏹')
    await page.getByLabel('Contact email').fill('ann.archer@example.net')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Profile saved').waitFor()
    await page.getByText('once an administrator has confirmed it').waitFor()
    const { body } = await ann.get('/api/v2.1/user/')
    assert.deepEqual([body.name, body.contact_email], ['Ann <b>Archer<b> 🏹', 'ann.archer@example.net'])
    await page.getByText('1.2 MB used').first().waitFor()

    const picture = sharp({ create: { width: 900, height: 600, channels: 3, background: '#b5523b' } })
    const buffer = await picture.jpeg().toBuffer()
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose picture' }).click()
    await (await chooser).setFiles({ name: 'me.txt', mimeType: 'text/plain', buffer: Buffer.from('no') })
    await page.getByText('Your browser cannot read this file as a picture.').waitFor()
    const again = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose picture' }).click()
    await (await again).setFiles({ name: 'me.jpg', mimeType: 'image/jpeg', buffer })
    const dialog = page.getByRole('dialog', { name: 'New picture' })
    await dialog.getByRole('img', { name: 'The new picture' }).waitFor()
    await dialog.getByRole('button', { name: 'Use this picture' }).click()
    await page.getByText('Picture changed').waitFor()
    const url = (await ann.get('/api2/account/info/')).body.avatar_url
    assert.ok(!url.endsWith('default.png'))
    await page.getByRole('button', { name: 'Remove picture' }).waitFor()
    await tab.checkAccess()
    await tab.picture('account')
    await page.getByRole('button', { name: 'Remove picture' }).click()
    await page.getByText('Picture removed').waitFor()
    assert.ok((await ann.get('/api2/account/info/')).body.avatar_url.endsWith('default.png'))
  })

  it('says while a new password is typed whether the server would accept it', async (t) => {
    const ann = await suite.server.signUp({ email: 'hedwig.holunder@example.org' })
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/account/security')
    const field = page.getByLabel('New password', { exact: true })
    const RULE = 'Minimum length: 8. Common passwords are not accepted.'
    const COMMON = 'This password is common: others would guess it.'
    await page.getByText(RULE).waitFor()
    for (const [typed, said] of [
      ['tulip', '3 more characters'],
      ['tulip m', '1 more character'],
      ['tulip mast', 'Long enough, and not common.'],
      ['Password123!', COMMON],
      ['Holunder2026', COMMON],
      ['', RULE],
    ] as const) {
      await field.fill(typed)
      await page.getByText(said, { exact: true }).waitFor()
      if (said === COMMON) await tab.picture('account-password-common')
    }
    await tab.checkAccess()
    assert.deepEqual(tab.complaints, [])
  })

  it('changes the password, which ends all other sessions and keeps this one', async (t) => {
    const ann = await suite.server.signUp()
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/account/security')
    const fill = async (older: string, newer: string, again = newer) => {
      await page.getByLabel('Current password').fill(older)
      await page.getByLabel('New password', { exact: true }).fill(newer)
      await page.getByLabel('Repeat new password').fill(again)
    }
    const change = page.getByRole('button', { name: 'Change password' })
    await fill(PASSWORD, 'a better one', 'a better on')
    await page.getByText('The passwords do not match.').waitFor()
    assert.ok(await change.isDisabled())
    await tab.checkAccess()
    await tab.picture('account-password')
    await fill('not it', 'a better one')
    await change.click()
    await page.getByText('The current password is wrong.').waitFor()
    await fill(PASSWORD, 'a better one')
    await change.click()
    await page.getByText('Password changed.').waitFor()
    assert.equal((await ann.get('/api2/account/info/')).status, 401)
    const again = await Client.signIn(suite.server.url, ann.email, 'a better one')
    assert.equal((await again.get('/api2/account/info/')).status, 200)
    // Still signed in, in this tab and after a reload.
    await page.getByRole('link', { name: 'Devices' }).click()
    await page.getByText('This browser').waitFor()
    await page.reload()
    await page.getByText('This browser').waitFor()
  })

  it('lists devices, unlinks and wipes others, and signs out here', async (t) => {
    const ann = await suite.server.signUp()
    const device = (platform: string, id: string, name: string) =>
      suite.server.anonymous.post('/api2/auth-token/', {
        form: {
          username: ann.email,
          password: PASSWORD,
          platform,
          device_id: id,
          device_name: name,
          client_version: '9.0.8',
        },
      })
    const laptop = (await device('linux', 'l'.repeat(40), 'Laptop')).body.token
    const phone = (await device('ios', 'p'.repeat(36), 'Phone <i>')).body.token
    const tab = await suite.openTab(t)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/account/devices')
    await page.getByLabel('Email').fill(ann.email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    const items = page.getByRole('list', { name: 'Devices' }).getByRole('listitem')
    await items.nth(2).waitFor()
    await items.first().getByText('This browser').waitFor()
    await tab.checkAccess()
    await tab.picture('account-devices')

    await page.getByRole('button', { name: 'Unlink Laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
    await page.getByText('Laptop unlinked').waitFor()
    assert.equal((await new Client(suite.server.url, laptop).get('/api2/auth/ping/')).status, 401)
    await page.getByRole('button', { name: 'Unlink Phone' }).click()
    await page.getByLabel('Also delete its synced files').check()
    await tab.checkAccess()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
    await items.filter({ hasText: 'Phone' }).getByText('Wipe pending').waitFor()
    const refused = await new Client(suite.server.url, phone).get('/api2/auth/ping/')
    assert.deepEqual([refused.status, refused.headers.get('x-seafile-wiped')], [401, 'true'])
    await items.first().getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })

  it('lists sessions without a device, ends one, and signs out everywhere', async (t) => {
    const ann = await suite.server.signUp()
    const laptop = await suite.server.anonymous.post('/api2/auth-token/', {
      form: {
        username: ann.email,
        password: PASSWORD,
        platform: 'linux',
        device_id: 'm'.repeat(40),
        device_name: 'Laptop',
      },
    })
    const script = { username: ann.email, password: PASSWORD }
    const headers = { 'User-Agent': 'backup-script/1.0 <b>' }
    const signedIn = await suite.server.anonymous.post('/api2/auth-token/', { form: script, headers })
    const tab = await suite.openTab(t, new Client(suite.server.url, laptop.body.token, ann.email))
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/account/devices')
    const items = page.getByRole('list', { name: 'Other sessions' }).getByRole('listitem')
    await items.first().getByText('backup-script/1.0 <b>').waitFor()
    await tab.checkAccess()
    await tab.picture('account-sessions')
    await page.getByRole('button', { name: 'Sign out backup-script' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('backup-script/1.0 <b> signed out').waitFor()
    const ended = new Client(suite.server.url, signedIn.body.token)
    assert.equal((await ended.get('/api2/auth/ping/')).status, 401)

    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await tab.checkAccess()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    const gone = new Client(suite.server.url, laptop.body.token)
    assert.equal((await gone.get('/api2/auth/ping/')).status, 401)
  })

  it('asks for the password before it makes a token, if the sign-in was long ago', async (t) => {
    const ann = await suite.server.signUp()
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    const { db } = suite.server.running.services
    await db.write((tx) => tx.run('update api_token set signed_in_at = 1'))
    await tab.go('/account/tokens')
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog', { name: 'New token' })
    await dialog.getByLabel('Purpose').fill('Backup')
    await page.keyboard.press('Enter')
    const password = dialog.getByLabel('Current password')
    await password.waitFor()
    await dialog.getByText('Confirm this with your password.').waitFor()
    await tab.checkAccess()
    await tab.picture('account-token-password')
    await password.fill('a wrong password')
    await page.keyboard.press('Enter')
    await dialog.getByText('The password is wrong.').waitFor()
    await password.fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Your new token' }).getByLabel('Token').waitFor()
    const { personal_tokens: tokens } = (await ann.get('/api/v2.1/personal-tokens/')).body
    assert.equal(tokens.length, 1)
  })

  it('lists programs that use WebDAV, and ends them with their password', async (t) => {
    const ann = await suite.server.signUp()
    const form = { secret: 'Usable-Secret1' }
    assert.equal((await ann.put('/api/v2.1/webdav-secret/', { form })).status, 200)
    const authorization = `Basic ${Buffer.from(`${ann.email}:${form.secret}`).toString('base64')}`
    const headers = { Authorization: authorization, 'User-Agent': 'rclone/v1.70', Depth: '0' }
    const status = async () => (await fetch(`${ann.url}/dav/`, { method: 'PROPFIND', headers })).status
    assert.equal(await status(), 207)
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/account/devices')
    const item = page.getByRole('list', { name: 'WebDAV' }).getByRole('listitem')
    await item.getByText('rclone/v1.70').waitFor()
    await item.getByText('WebDAV password', { exact: true }).waitFor()
    await tab.checkAccess()
    await tab.picture('account-webdav-programs')
    await item.getByRole('button', { name: 'Remove password' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove the WebDAV password?' })
    await dialog.getByRole('button', { name: 'Remove password' }).click()
    await page.getByText('WebDAV password removed').waitFor()
    assert.equal(await status(), 401)
    await item.waitFor({ state: 'detached' })
  })

  it('creates tokens that are shown once, and revokes them', async (t) => {
    const ann = await suite.server.signUp()
    const id = await ann.createLibrary('Plans')
    const tab = await suite.openTab(t, ann)
    if (tab === undefined) return
    const { page } = tab
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await tab.go('/account/tokens')
    await page.getByText('No personal tokens').waitFor()
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog', { name: 'New token' })
    await dialog.getByLabel('Purpose').fill('Backup <script>')
    await dialog.getByLabel('Library').selectOption({ label: 'Plans' })
    await dialog.getByLabel('Expires').selectOption({ label: 'In 30 days' })
    await tab.checkAccess()
    await dialog.getByRole('button', { name: 'Create token' }).click()
    const made = page.getByRole('dialog', { name: 'Your new token' })
    const token = await made.getByLabel('Token').inputValue()
    await tab.picture('account-token')
    await made.getByRole('button', { name: 'Copy' }).click()
    await made.getByText('Copied').waitFor()
    assert.equal(
      await page.evaluate(() =>
        (
          globalThis as unknown as { navigator: { clipboard: { readText(): Promise<string> } } }
        ).navigator.clipboard.readText(),
      ),
      token,
    )
    const script = new Client(suite.server.url, token)
    assert.equal((await script.get(`/api2/repos/${id}/dir/`)).status, 200)
    assert.equal(
      (await script.post(`/api2/repos/${id}/dir/`, { query: { p: '/no' }, form: { operation: 'mkdir' } }))
        .status,
      403,
    )
    await made.getByRole('button', { name: 'Done' }).click()
    const item = page.getByRole('listitem').filter({ hasText: 'Backup <script>' })
    await item.getByText('Read-only', { exact: true }).waitFor()
    assert.ok(!(await page.content()).includes(token))
    await tab.checkAccess()
    await tab.picture('account-tokens')
    await item.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No personal tokens').waitFor()
    assert.equal((await script.get(`/api2/repos/${id}/dir/`)).status, 401)
    assert.deepEqual(tab.complaints, [])
  })

  it('changes the theme and the language, on a phone too', async (t) => {
    const ann = await suite.server.signUp()
    await ann.post('/api/v2.1/personal-tokens/', { form: { name: 'x'.repeat(64), permission: 'rw' } })
    const tab = await suite.openTab(t, ann, { ...PHONE, colorScheme: 'dark' })
    if (tab === undefined) return
    const { page } = tab
    await tab.go('/account/appearance')
    await page.getByLabel('Theme').selectOption('light')
    await eventually(async () => assert.equal(await page.locator('html').getAttribute('data-theme'), 'light'))
    await page.getByLabel('Theme').selectOption('dark')
    await page.getByLabel('Language').selectOption('zh')
    await page.getByRole('heading', { name: '账户' }).waitFor()
    await tab.checkAccess()
    await tab.picture('account-appearance-phone-dark')
    for (const section of ['', '/security', '/tokens', '/webdav']) {
      await tab.go(`/account${section}`)
      await page.locator('.account-card, .account-list').first().waitFor()
      await fitsWidth(page)
      await tab.picture(`account${section.replace('/', '-')}-phone-dark`)
    }
    assert.deepEqual(tab.complaints, [])
  })
})
